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
  const passed = request.headers
    .filter(({ name, value }) => {
      if (set.has(name) || !isHeaderSafe(value)) return false
      return name === 'privacy' || (isCarrier && vouchedFor.has(name))
    })
    .map(({ name, value }) => ({ name, value: value.replaceAll(verification, '') }))
  const fitting = fittingOf(passed)
  // An identity without the Privacy that came with it would be shown.
  const isWhole = passed.every((field) => field.name !== 'privacy' || fitting.includes(field))
  return isWhole ? fitting : []
}

/** The fields of a called side that its caller gets: where the call has been (RFC 7044), and data for its application (RFC 7433). */
const returnable: ReadonlySet<string> = new Set(['history-info', 'user-to-user'])

// A message that exceeds a datagram does not arrive; all of these fields take some hundred bytes.
const maxBytes = 4096
// The order in which the fields get that room: those on which others depend, and then the shorter ones.
const ranks = ['privacy', 'p-asserted-identity', 'diversion', 'user-to-user', 'history-info']

/** Returns the fields that have room, in the order in which they came. */
function fittingOf(fields: readonly HeaderField[]): readonly HeaderField[] {
  let left = maxBytes
  const fitting = fields
    .toSorted((one, other) => ranks.indexOf(one.name) - ranks.indexOf(other.name))
    .filter(({ name, value }) => {
      const bytes = name.length + Buffer.byteLength(value)
      if (bytes > left) return false
      left -= bytes
      return true
    })
  return fields.filter((field) => fitting.includes(field))
}

/** Returns the fields of the last response of a called side that go on to the caller: of a carrier alone, as above. */
export function returnedHeaders({ journal, responded }: Leg): readonly HeaderField[] {
  if (journal.facts.attempt?.sip_gateway_sid === undefined) return []
  const fields = responded?.headers ?? []
  return fittingOf(fields.filter(({ name, value }) => returnable.has(name) && isHeaderSafe(value)))
}

const maxHops = 70

/** Returns the Max-Forwards for a leg that this one dials (RFC 7332), so that a call that loops ends. */
export function hopsLeft({ received }: Leg): number {
  const hops = received === undefined ? undefined : headerOf(received, 'max-forwards')
  return Math.max(0, Math.min(maxHops, Number(hops ?? maxHops)) - 1)
}
