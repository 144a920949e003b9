// The ability to transfer the far end: REFER within the dialog (RFC 3515), and the NOTIFYs that report its outcome.
import { isIP } from 'node:net'
import type { Timer } from '../../lib/clock.ts'
import { AppError } from '../../lib/errors.ts'
import { serializeNameAddr } from '../../sip/message/name-addr.ts'
import { noParams } from '../../sip/message/params.ts'
import { escapeUser, serializeHostPort } from '../../sip/message/uri.ts'
import type { ReferReport } from '../../sip/sip.ts'
import { toHeaderFields } from '../application/app-headers.ts'
import { farEndKindOf } from '../leg/far-end-kind.ts'
import type { Leg } from '../leg/leg.ts'
import { toDialled } from '../outbound/phone-attempt.ts'
import type { AccountFacts } from '../ports.ts'
import type { Notes, Referring, ReferRequest, ReferResult } from '../verb/abilities.ts'
import { referToFor } from './referral-gate.ts'
import { whileWanted } from '../session/while-wanted.ts'
import type { AbilityNeeds } from './needs.ts'

/** The longest wait for the first NOTIFY. A far end that has sent none by then will send none. */
const maxSilenceMs = 15_000

export interface ReferringOptions {
  readonly leg: Leg
  readonly needs: AbilityNeeds
  readonly notes: Notes
}

export function createReferring(options: ReferringOptions): Referring {
  return { refer: (request) => refer(request, options) }
}

async function refer(request: ReferRequest, options: ReferringOptions): Promise<ReferResult> {
  const { leg, needs, notes } = options
  const { signal, reported } = request
  const account = await accountOf(leg, needs)
  const place = await peerOf(leg, account, needs)
  const asked = { asked: request.to, referTo: toUri(request.to, place) }
  const wish = {
    referTo: await referToFor(leg, asked, account, needs),
    referredBy: referredBy(request, leg, place),
  }
  const { fields, refused } = toHeaderFields(request.headers)
  const own = fields.filter(({ name }) => name !== 'refer-to' && name !== 'referred-by')
  const left = [...refused, ...fields.filter((field) => !own.includes(field)).map(({ name }) => name)]
  if (left.length > 0) notes.note(`these headers may not be set and were left out: ${left.join(', ')}`)
  const { promise: ended, resolve: end } = Promise.withResolvers<void>()
  let silence: Timer | undefined
  let hasNews = false
  let final: number | undefined
  const notified = ({ status, isLast }: ReferReport): void => {
    silence?.cancel()
    hasNews = true
    if (status !== undefined) reported(status)
    if (status !== undefined && status >= 200) final = status
    if (isLast) end()
  }
  try {
    const { status } = await whileWanted(leg.requests.refer({ ...wish, headers: own, notified }), signal)
    if (status >= 300) return { status }
    if (!hasNews) silence = needs.clock.after(maxSilenceMs, end)
    await whileWanted(ended, signal)
    return final === undefined ? { status } : { status, final }
  } finally {
    silence?.cancel()
  }
}

/** The host and the number format of a target for this far end. */
interface Place {
  readonly host: string
  readonly dialled: (number: string) => string
}

async function accountOf(
  { journal }: Leg,
  { directory }: Pick<AbilityNeeds, 'directory'>,
): Promise<AccountFacts> {
  const account = await directory.account(journal.facts.started.account_sid)
  if (account === undefined) throw new AppError('account_inactive', 'Account exists but is inactive')
  return account
}

async function peerOf(
  leg: Leg,
  account: AccountFacts,
  { directory }: Pick<AbilityNeeds, 'directory'>,
): Promise<Place> {
  const { started, attempt } = leg.journal.facts
  const trunk = attempt?.trunk ?? started.trunk
  const host = attempt?.remote_host ?? started.remote_host
  const asItIs = (number: string): string => number
  const farEnd = farEndKindOf(leg)
  if (farEnd === 'user') return { host: account.sip_realm ?? host, dialled: asItIs }
  if (farEnd !== 'carrier') return { host, dialled: asItIs }
  const carriers = await directory.outboundCarriers(account)
  const carrier = carriers.find(({ name }) => name === trunk)
  if (carrier === undefined) return { host, dialled: asItIs }
  // A gateway that is configured by name accepts that name, from whichever address a call came.
  const named = carrier.gateways.find((gateway) => isIP(gateway.host) === 0)
  const { e164_leading_plus } = carrier
  const dialled = (number: string): string => toDialled(number, { tech_prefix: null, e164_leading_plus })
  return { host: named?.host ?? host, dialled }
}

/** Returns the text as a URI. A URI or a name-addr stays as it is. */
function toUri(text: string, { host, dialled }: Place): string {
  if (/^(?:<|"|sips?:|tel:)/i.test(text)) return text
  if (text.includes('@')) return `sip:${text}`
  const user = /^\+?\d+$/.test(text) ? dialled(text) : text
  return `sip:${escapeUser(user)}@${serializeHostPort({ host })}`
}

function referredBy({ by, byName }: ReferRequest, { journal }: Leg, { host }: Place): string {
  const text = by ?? journal.facts.started.from
  if (/^[<"]/.test(text)) return text
  const uri = toUri(text, { host, dialled: (number) => number })
  return serializeNameAddr({ displayName: byName, uri, params: noParams })
}
