// The header fields of a call that the legs it dials carry too: who the caller is, and which way the call has come.
import { headerOf } from '../../sip/message/message.ts'
import type { HeaderField } from '../../sip/message/message.ts'
import { isHeaderSafe } from '../../sip/message/serialize-message.ts'
import type { Leg } from '../leg/leg.ts'

export interface PassedOnOptions {
  /** Whether P-Asserted-Identity and Privacy (RFC 3325), and Diversion, are passed on. */
  readonly forwardsIdentity: boolean
  /** What the application sets itself. */
  readonly given: readonly HeaderField[]
}

/** Who calls (RFC 3325), and by whom the call was diverted (RFC 5806): a carrier vouches for both, a user for neither. */
const vouchedFor: ReadonlySet<string> = new Set(['p-asserted-identity', 'diversion'])

/** Nothing of a leg that the platform has made, and no identity that its far end may not assert. */
export function passedOnHeaders(
  leg: Leg,
  { forwardsIdentity, given }: PassedOnOptions,
): readonly HeaderField[] {
  const request = leg.received
  if (request === undefined || !forwardsIdentity) return []
  const isCarrier = leg.journal.facts.started.originating_sip_trunk_name !== undefined
  const set = new Set(given.map(({ name }) => name))
  return request.headers.filter(({ name, value }) => {
    if (set.has(name) || !isHeaderSafe(value)) return false
    return name === 'privacy' || (isCarrier && vouchedFor.has(name))
  })
}

const maxHops = 70

/** What is left for a leg that this one dials (RFC 7332), so that a call that comes back again and again ends. */
export function hopsLeft({ received }: Leg): number {
  const hops = received === undefined ? undefined : headerOf(received, 'max-forwards')
  return Math.max(0, Math.min(maxHops, Number(hops ?? maxHops)) - 1)
}
