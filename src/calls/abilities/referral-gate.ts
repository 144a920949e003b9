// What the far end may be asked to call (REFER): a carrier calls the number at the cost of the account, as if it were called from
// here. No other check stands between: the guard judges it before the request goes out.
import { parseNameAddr } from '../../sip/message/name-addr.ts'
import { tryParseUri } from '../../sip/message/uri.ts'
import type { CallContext } from '../call-context.ts'
import { dialledIn } from '../defence/phone-context.ts'
import type { Leg } from '../leg/leg.ts'
import { carriersAt } from '../outbound/carriers-at.ts'
import type { AccountFacts } from '../ports.ts'
import { teamsTenantOf } from '../teams-trunk.ts'

export interface Referred {
  /** As the application wrote it. */
  readonly asked: string
  /** What the far end is sent. */
  readonly referTo: string
}

/** Throws AppError, and the journal has the decision, where the far end may not be asked for that call now. */
export async function demandReferrable(
  leg: Leg,
  { asked, referTo }: Referred,
  account: AccountFacts,
  { guard, services }: Pick<CallContext, 'guard' | 'services'>,
): Promise<void> {
  const farEnd = farEndOf(leg)
  // What its phone calls by way of the platform passes the guard then.
  if (farEnd === 'user') return
  const sent = dialledOf(referTo)
  if (farEnd === 'carrier') {
    // Without the plus that the carrier wants: with one, an emergency number is not known any more.
    const number = /^\+?\d+$/.test(asked) ? asked : sent
    await guard.admitReferred(leg, account, number)
    if (sent !== undefined) await guard.demandOpen(sent, account, { leg, by: '' })
    return
  }
  await guard.admitReferred(leg, account, undefined)
  if (farEnd === 'teams') return
  // A SIP URI may name any user at a host of the account's own; only a carrier makes a telephone number of it.
  const { attempt, started } = leg.journal.facts
  if (sent === undefined || !(await guard.isClosed(sent, account))) return
  const [at] = await carriersAt(new Set([attempt?.remote_host ?? started.remote_host]), services)
  if (at !== undefined) await guard.demandOpen(sent, account, { leg, by: ` at ${at.address}` })
}

/** The names of carriers are chosen by those who have them: `user` may be one, and stays where its 302 leads elsewhere. */
function farEndOf(leg: Leg): 'carrier' | 'teams' | 'user' | 'other' {
  const { attempt, started } = leg.journal.facts
  if (teamsTenantOf(leg) !== undefined) return 'teams'
  if (attempt === undefined) return started.originating_sip_trunk_name === undefined ? 'user' : 'carrier'
  if (attempt.is_phone === true) return 'user'
  return attempt.sip_gateway_sid === undefined ? 'other' : 'carrier'
}

/** What a carrier may read as the number. */
function dialledOf(referTo: string): string | undefined {
  const uri = tryParseUri(referTo.includes('<') ? parseNameAddr(referTo).uri : referTo)
  return uri === undefined ? undefined : dialledIn(uri)
}
