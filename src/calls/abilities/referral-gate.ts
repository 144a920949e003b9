// The target of a REFER to the far end, as it may be sent. A carrier calls the number at the cost of the account, as if it
// were called from here. No later check applies to that call, so the guard checks it before the REFER is sent.
import { parseNameAddr } from '../../sip/message/name-addr.ts'
import { serializeUri, tryParseUri, type Uri } from '../../sip/message/uri.ts'
import { demandDialled, unreadableNumber } from '../defence/dialled-number.ts'
import { dialledIn, toCarrierUri } from '../defence/dialled-uri.ts'
import { farEndKindOf } from '../leg/far-end-kind.ts'
import type { Leg } from '../leg/leg.ts'
import { carriersAt } from '../outbound/carriers-at.ts'
import type { AccountFacts } from '../ports.ts'
import type { AbilityNeeds } from './needs.ts'

export interface Referred {
  /** The target as the application wrote it. */
  readonly asked: string
  /** The Refer-To that the far end is sent. */
  readonly referTo: string
}

/**
 * Returns the Refer-To as it may be sent now. A carrier gets a number in the form of `readDialled` or a name, and no
 * headers or parameters that it could dial by. Throws AppError if the far end may not be sent it. The decision is
 * journalled.
 */
export async function referToFor(
  leg: Leg,
  { asked, referTo }: Referred,
  account: AccountFacts,
  needs: Pick<AbilityNeeds, 'guard' | 'directory' | 'sip'>,
): Promise<string> {
  const farEnd = farEndKindOf(leg)
  // The phone of a user calls through the platform, and that call passes the guard.
  if (farEnd === 'user') return referTo
  const uri = tryParseUri(referTo.includes('<') ? parseNameAddr(referTo).uri : referTo)
  const sent = uri && dialledIn(uri)
  if (farEnd === 'carrier') {
    // Checked without the plus that the carrier wants: with it, an emergency number is not recognised.
    const number = /^\+?\d+$/.test(asked) ? asked : sent
    await needs.guard.admitReferred(leg, account, number)
    if (sent !== undefined) await needs.guard.demandOpen(sent, account, { leg, by: '' })
    return toCarrier(uri)
  }
  await needs.guard.admitReferred(leg, account, undefined)
  if (farEnd === 'teams') return referTo
  // The user of a SIP URI is a telephone number only at a carrier's address; at any other host it may be anything.
  const { attempt, started } = leg.journal.facts
  const hasHeaders = uri !== undefined && uri.scheme !== 'tel' && uri.headers.size > 0
  const isClosed = sent !== undefined && (await needs.guard.isClosed(sent, account))
  if (!hasHeaders && !isClosed) return referTo
  const [at] = await carriersAt(new Set([attempt?.remote_host ?? started.remote_host]), needs)
  if (at === undefined) return referTo
  if (sent !== undefined) await needs.guard.demandOpen(sent, account, { leg, by: ` at ${at.address}` })
  return toCarrier(uri)
}

function toCarrier(uri: Uri | undefined): string {
  if (uri === undefined) throw unreadableNumber()
  return uri.scheme === 'tel' ? `tel:${demandDialled(uri.number).number}` : serializeUri(toCarrierUri(uri))
}
