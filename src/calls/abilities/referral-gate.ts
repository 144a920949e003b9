// The check of the target of a REFER to the far end. A carrier calls the number at the cost of the account, as if it
// were called from here. No later check applies to that call, so the guard checks it before the REFER is sent.
import { parseNameAddr } from '../../sip/message/name-addr.ts'
import { tryParseUri } from '../../sip/message/uri.ts'
import type { CallContext } from '../call-context.ts'
import { dialledIn } from '../defence/phone-context.ts'
import { farEndKindOf } from '../leg/far-end-kind.ts'
import type { Leg } from '../leg/leg.ts'
import { carriersAt } from '../outbound/carriers-at.ts'
import type { AccountFacts } from '../ports.ts'

export interface Referred {
  /** The target as the application wrote it. */
  readonly asked: string
  /** The Refer-To that the far end is sent. */
  readonly referTo: string
}

/** Throws AppError if the far end may not be sent this REFER now. The decision is journalled. */
export async function demandReferrable(
  leg: Leg,
  { asked, referTo }: Referred,
  account: AccountFacts,
  { guard, services }: Pick<CallContext, 'guard' | 'services'>,
): Promise<void> {
  const farEnd = farEndKindOf(leg)
  // The phone of a user calls through the platform, and that call passes the guard.
  if (farEnd === 'user') return
  const sent = dialledOf(referTo)
  if (farEnd === 'carrier') {
    // Checked without the plus that the carrier wants: with it, an emergency number is not recognised.
    const number = /^\+?\d+$/.test(asked) ? asked : sent
    await guard.admitReferred(leg, account, number)
    if (sent !== undefined) await guard.demandOpen(sent, account, { leg, by: '' })
    return
  }
  await guard.admitReferred(leg, account, undefined)
  if (farEnd === 'teams') return
  // The user of a SIP URI is a telephone number only at a carrier's address; at any other host it may be anything.
  const { attempt, started } = leg.journal.facts
  if (sent === undefined || !(await guard.isClosed(sent, account))) return
  const [at] = await carriersAt(new Set([attempt?.remote_host ?? started.remote_host]), services)
  if (at !== undefined) await guard.demandOpen(sent, account, { leg, by: ` at ${at.address}` })
}

/** Returns the part of Refer-To that a carrier may read as the number. */
function dialledOf(referTo: string): string | undefined {
  const uri = tryParseUri(referTo.includes('<') ? parseNameAddr(referTo).uri : referTo)
  return uri === undefined ? undefined : dialledIn(uri)
}
