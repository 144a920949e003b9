// Blind transfer without an application (RFC 5589 §6). A user transfers the other side to a user of its realm, and
// Microsoft Teams to one of its own. The two sides stay connected until the target answers, and also if it does not.
import { AppError } from '../../lib/errors.ts'
import { createSid, randomHex } from '../../lib/ids.ts'
import { isHeaderSafe } from '../../sip/message/serialize-message.ts'
import { tryParseUri, unescapeUri } from '../../sip/message/uri.ts'
import type { IncomingReferral, ReferSubscription } from '../../sip/sip.ts'
import { toDecision } from '../journal/decision.ts'
import { farEndKindOf } from '../leg/far-end-kind.ts'
import type { Leg } from '../leg/leg.ts'
import { noteProblem } from '../leg/note-problem.ts'
import type { CallOrder } from '../outbound/call-order.ts'
import type { Target } from '../verb/target.ts'
import type { AccountFacts } from '../ports.ts'
import { teamsTenantOf } from '../leg/teams-trunk.ts'
import { dismissTransferor, join } from './join.ts'
import { partyOf, whyGone } from '../leg/leg-story.ts'
import { hopsLeft } from './passed-on-headers.ts'
import { userOf } from './refer-details.ts'
import { ringingSlot, ringingTone } from './ringing.ts'
import { openSecondLeg } from './second-leg.ts'
import type { Talk } from './talk.ts'
import { demandUserCalling } from './user-calling.ts'
import { goneMeanwhile, noteTransferRefused, turnDown, type WhyRefused } from './transfer-story.ts'
import type { BridgeNeeds } from './needs.ts'

export interface BlindTransfer {
  readonly referral: IncomingReferral
  readonly by: Leg
  readonly talk: Talk
}

const ringMs = 60_000

/** Carries out a blind transfer. Throws AppError when the REFER must be refused. */
export async function sendToUser({ referral, by, talk }: BlindTransfer, needs: BridgeNeeds): Promise<void> {
  const called = teamsTenantOf(by) === undefined ? await userAt(referral.referTo, by, needs) : undefined
  const { account, to } = called ?? (await backToTeams(referral.referTo, by, needs))
  const other = talk.otherOf(by)
  if (by.hasEnded || talk.signal.aborted)
    return turnDown({ referral, by, talk }, { status: 481, sentence: goneMeanwhile })
  const subscription = referral.accept()
  const decision = toDecision({ rule: 'transfer', outcome: referral.referTo })
  for (const leg of [by, other]) leg.journal.note(decision)
  const order = orderFor(referral, other, { account, to })
  const { leg, dial } = openSecondLeg(order, needs, other)
  // The other side may also go on alone, sent elsewhere by a client or a time limit.
  const giveUp = (): void => void leg.hangUp({ because: 'the side that was to be transferred has gone' })
  talk.signal.addEventListener('abort', giveUp, { once: true })
  const stop = report(leg, { by, other, subscription })
  await dial()
  stop()
  talk.signal.removeEventListener('abort', giveUp)
  if (!leg.isAnswered) {
    const { line, ...why } = whyFailed(leg)
    noteTransferRefused({ referral, by, talk }, { sip_status: line.status, ...why })
    return other.hasEnded ? subscription.notify(487) : subscription.notify(line.status, line.reason)
  }
  join(other, leg, `${partyOf(by)} transferred ${partyOf(other)} to ${partyOf(leg)}`, talk.services)
  dismissTransferor(by, subscription, needs.clock)
}

/** Returns why the transfer failed. A target that answered and then ended has a 200, which is also a failure. */
function whyFailed(leg: Leg): Omit<WhyRefused, 'sip_status'> & {
  readonly line: { readonly status: number; readonly reason?: string }
} {
  const { sip_status, sip_reason, refusal } = leg.journal.facts
  const line =
    sip_status < 300 ? { status: refusal?.sip_status ?? 487 } : { status: sip_status, reason: sip_reason }
  const sentence = whyGone(leg, partyOf(leg))
  return { line, sentence, ...(refusal && { code: refusal.code, cure: refusal.cure }) }
}

interface Called {
  readonly account: AccountFacts
  readonly to: Target
}

/**
 * Returns the target of a REFER from Microsoft Teams, which names a proxy of its own for every destination. The
 * Refer-To URI is sent back to it unchanged, and leads to the user or number. Throws not_permitted or
 * unknown_teams_tenant.
 */
async function backToTeams(referTo: string, by: Leg, needs: BridgeNeeds): Promise<Called> {
  const { started } = by.journal.facts
  const account = await needs.directory.account(started.account_sid)
  const tenant = teamsTenantOf(by)
  const uri = tryParseUri(referTo)
  const { proxies } = needs.teams
  const isProxy = uri?.scheme === 'sip' && proxies.some(({ host }) => host === uri.host)
  if (uri?.scheme !== 'sip' || !isProxy || account?.is_active !== true || tenant === undefined)
    throw new AppError('not_permitted', 'Microsoft Teams may send the other side to Microsoft Teams only', {
      cure: 'Give the dial a referHook: then the application decides where a call may be sent.',
    })
  return { account, to: { type: 'teams', number: uri.user ?? uri.host, tenant, uri: referTo } }
}

/** Returns the user that Refer-To names. Throws not_permitted, no_application or user_not_registered. */
async function userAt(referTo: string, by: Leg, needs: BridgeNeeds): Promise<Called> {
  const { started, attempt } = by.journal.facts
  const account = await needs.directory.account(started.account_sid)
  const uri = tryParseUri(referTo)
  const name = uri?.scheme === 'sip' && uri.user !== undefined ? unescapeUri(uri.user) : undefined
  const host = uri?.scheme === 'sip' ? uri.host : ''
  const realm = account?.is_active === true ? account.sip_realm : null
  const isOurs = host === realm || host === started.host || host === attempt?.host
  if (farEndKindOf(by) !== 'user' || !isOurs || name === undefined || account === undefined || realm === null)
    throw new AppError('not_permitted', 'a user may send the other side to users of its realm only', {
      cure: 'Give the dial a referHook: then the application decides where a call may be sent.',
    })
  await demandUserCalling(by, needs)
  const aor = `${name}@${realm}`
  if ((await needs.sip().bindings.find(aor)).length === 0)
    throw new AppError('user_not_registered', `${aor} is not registered`)
  return { account, to: { type: 'user', name, realm } }
}

/** Returns the order for the call to the target. Its caller is the party that the target will talk with. */
function orderFor(referral: IncomingReferral, other: Leg, { account, to }: Called): CallOrder {
  const { started, application_sid } = other.journal.facts
  const { referredBy } = referral
  const isCaller = started.direction === 'inbound'
  return {
    call_sid: createSid(),
    call_id: randomHex(16),
    account,
    application_sid,
    parent: started,
    to,
    from: isCaller ? started.from : shortNameOf(started.to),
    ...(isCaller ? { callerName: started.caller_name } : {}),
    headers:
      referredBy !== undefined && isHeaderSafe(referredBy)
        ? [{ name: 'referred-by', value: referredBy }]
        : [],
    maxForwards: hopsLeft(other),
    passages: other.passages + 1,
    ringMs,
    notes: [],
  }
}

/** Returns the name in `name@realm`, or a number unchanged. */
function shortNameOf(to: string): string {
  return userOf(to).split('@', 1)[0] ?? to
}

interface Reported {
  readonly by: Leg
  readonly other: Leg
  readonly subscription: ReferSubscription
}

/** Reports progress by NOTIFY to the far end that sent the REFER or, once it has gone, as ringing to the other side. */
function report(leg: Leg, { by, other, subscription }: Reported): () => void {
  const { sound } = other.media
  let heard: 'ringing' | 'early-media' | undefined
  const hear = (): void => {
    if (heard === undefined || !by.hasEnded || other.hasEnded) return
    if (heard === 'ringing') return void sound.lay(ringingSlot, ringingTone)
    sound.remove(ringingSlot)
    sound.hear(leg.media).catch((error: unknown) => noteProblem(other, error))
  }
  const stop = leg.events.watch((event) => {
    if ((event !== 'ringing' && event !== 'early-media') || heard === event) return
    heard = event
    subscription.notify(event === 'ringing' ? 180 : 183)
    hear()
  })
  by.signal.addEventListener('abort', hear, { once: true })
  return () => {
    stop()
    by.signal.removeEventListener('abort', hear)
    sound.remove(ringingSlot)
  }
}
