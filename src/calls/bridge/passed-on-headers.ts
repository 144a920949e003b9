// The header fields of a call that are copied to the legs that it dials: the identity of the caller, and the diversion;
// and those of the called side that go back to the caller.
import { headerOf, type HeaderField } from '../../sip/message/message.ts'
import { isHeaderSafe } from '../../sip/message/serialize-message.ts'
import type { Leg } from '../leg/leg.ts'

export interface PassedOnOptions {
  /** Whether Privacy (RFC 3325) and the fields of `vouchedFor` are passed on. */
  readonly forwardsIdentity: boolean
  /** The header fields that the application sets itself. */
  readonly given: readonly HeaderField[]
}

/**
 * The caller (RFC 3325), the diverting party (RFC 5806), where the call has been (RFC 7044), and data for the application
 * of the other side (RFC 7433). A carrier is trusted for them, a user is not.
 */
const vouchedFor: ReadonlySet<string> = new Set([
  'p-asserted-identity',
  'diversion',
  'history-info',
  'user-to-user',
])

// The verification by a carrier is worth nothing beyond the platform (ATIS-1000082 §5.2): the next side
// verifies by Identity.
const verification = /;verstat=[^;>@]*/gi

/** Returns the fields to copy: none of a leg that the platform made, no identity that the far end may not assert. */
export function passedOnHeaders(
  leg: Leg,
  { forwardsIdentity, given }: PassedOnOptions,
): readonly HeaderField[] {
  const request = leg.received
  if (request === undefined || !forwardsIdentity) return []
  const isCarrier = leg.journal.facts.started.originating_sip_trunk_name !== undefined
  const set = new Set(given.map(({ name }) => name))
  return request.headers
    .filter(({ name, value }) => {
      if (set.has(name) || !isHeaderSafe(value)) return false
      return name === 'privacy' || (isCarrier && vouchedFor.has(name))
    })
    .map(({ name, value }) => ({ name, value: value.replaceAll(verification, '') }))
}

/** The fields of a called side that its caller gets: where the call has been (RFC 7044), and data for its application (RFC 7433). */
const returnable: ReadonlySet<string> = new Set(['history-info', 'user-to-user'])

// A response that exceeds a datagram does not arrive; the fields of RFC 7044 and RFC 7433 take some hundred bytes.
const maxReturnedBytes = 4096

/** Returns the fields of the last response of a called side that go on to the caller: of a carrier alone, as above. */
export function returnedHeaders({ journal, responded }: Leg): readonly HeaderField[] {
  if (journal.facts.attempt?.sip_gateway_sid === undefined) return []
  let left = maxReturnedBytes
  return (responded?.headers ?? []).filter(({ name, value }) => {
    if (!returnable.has(name) || !isHeaderSafe(value)) return false
    left -= name.length + value.length
    return left >= 0
  })
}

const maxHops = 70

/** Returns the Max-Forwards for a leg that this one dials (RFC 7332), so that a call that loops ends. */
export function hopsLeft({ received }: Leg): number {
  const hops = received === undefined ? undefined : headerOf(received, 'max-forwards')
  return Math.max(0, Math.min(maxHops, Number(hops ?? maxHops)) - 1)
}
