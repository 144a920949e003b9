// Attended transfer (RFC 5589 §7). A phone that has two calls here connects their other sides by a REFER in one of them
// whose Replaces names the other.
import { AppError } from '../../lib/errors.ts'
import type { IncomingReferral } from '../../sip/sip.ts'
import { readAppJson } from '../application/app-json.ts'
import { toDecision } from '../journal/decision.ts'
import { farEndKindOf } from '../leg/far-end-kind.ts'
import type { Leg } from '../leg/leg.ts'
import type { CallScript } from '../ports.ts'
import type { CallRegistry } from '../registry.ts'
import { dismissTransferor, join } from './join.ts'
import { Stop } from '../session/stop.ts'
import { partyOf } from '../leg/leg-story.ts'
import { isOfOneTenant } from '../leg/teams-trunk.ts'
import { talkOf, type Talk } from './talk.ts'
import { goneMeanwhile, noteTransferRefused, turnDown, underWay } from './transfer-story.ts'
import type { BridgeNeeds } from './needs.ts'

const notTaken = 'the application of the second call has not taken the other side'

export interface Transfer {
  readonly referral: IncomingReferral
  /** The leg whose far end sent the REFER. */
  readonly by: Leg
  /** The talk that this leg is in. Undefined where only verbs run it. */
  readonly talk: Talk | undefined
}

/** Carries out an attended transfer. Throws AppError when the REFER must be refused. */
export async function attend(asked: Transfer, registry: CallRegistry, needs: BridgeNeeds): Promise<void> {
  const { referral, by, talk } = asked
  const second = secondCall(asked, registry)
  const theirs = talkOf(second)
  if (theirs?.isBeingTransferred === true) return turnDown(asked, { status: 491, sentence: underWay })
  if (talk !== undefined && theirs !== undefined) {
    const [one, other] = [talk.otherOf(by), theirs.otherOf(second)]
    tell([by, second, one, other], `${one.call_sid} and ${other.call_sid}`)
    const subscription = referral.accept()
    join(one, other, `${partyOf(by)} joined ${partyOf(one)} with ${partyOf(other)}`)
    void second.hangUp({ because: 'its far end has transferred the call' })
    return dismissTransferor(by, subscription, needs.clock)
  }
  // One of the calls is with an application. An application runs on one leg, so it begins again on the new one.
  const [left, lone, of] = talk === undefined ? [theirs, by, second] : [talk, second, by]
  const source = lone.script?.source
  if (left === undefined || source === undefined)
    throw new AppError('transfer_refused', 'neither of the two calls has another side')
  const one = left.otherOf(of)
  const isReady = source.app_json !== null || source.call_hook !== null
  if (!isReady) throw new AppError('transfer_refused', 'the second call is still being made')
  const subscription = referral.accept()
  tell([by, second, one], `${one.call_sid} and the application of ${lone.call_sid}`)
  const because = `${partyOf(by)} joined ${partyOf(one)} with an application`
  const hasTaken = await handOn(one, left, { source, because }, needs).catch((error: unknown) => {
    // The hook request was withdrawn: the other side has hung up, or a client has set another application.
    if (!(error instanceof Stop)) throw error
    return false
  })
  if (!hasTaken || one.hasEnded) {
    const status = one.hasEnded ? 487 : 503
    noteTransferRefused(asked, { sip_status: status, sentence: one.hasEnded ? goneMeanwhile : notTaken })
    return subscription.notify(status)
  }
  void second.hangUp({ because: 'its far end has transferred the call' })
  dismissTransferor(by, subscription, needs.clock)
}

/** Returns the leg of the dialog that Replaces names. It must belong to this account and to a user. Throws AppError. */
function secondCall({ referral, by, talk }: Transfer, registry: CallRegistry): Leg {
  const { account_sid } = by.journal.facts.started
  const { replaced, replaces } = referral
  const leg = replaced === undefined ? undefined : registry.legWith(account_sid, replaced)
  // A call of another account is reported as not here, so that nothing about it is revealed.
  if (leg === undefined || leg.journal.facts.started.account_sid !== account_sid || leg.hasEnded)
    throw new AppError('call_not_here', 'Replaces names a call that is not here')
  if (replaces?.isEarlyOnly === true)
    throw new AppError('call_not_here', 'Replaces names a call that has been answered', {
      detail: { status: 486 },
    })
  if (leg === by || talk?.otherOf(by) === leg)
    throw new AppError('bad_request', 'Replaces names the call that is transferred')
  const areUsers = [by, leg].every((one) => farEndKindOf(one) === 'user')
  if (!areUsers && !isOfOneTenant(by, leg))
    throw new AppError('not_permitted', 'only a user may join its two calls with each other', {
      cure: 'Give the dial a referHook: then the application decides where a call may be sent.',
    })
  return leg
}

function tell(legs: readonly Leg[], outcome: string): void {
  for (const leg of legs) leg.journal.note(toDecision({ rule: 'transfer-attended', outcome }))
}

/** Resolves with whether the application has accepted the leg. If not, the leg continues as it was. */
async function handOn(
  leg: Leg,
  talk: Talk,
  { source, because }: { readonly source: CallScript; readonly because: string },
  { verbs }: BridgeNeeds,
): Promise<boolean> {
  const { app_json, call_hook } = source
  if (app_json !== null) talk.send(leg, verbs(readAppJson(app_json)), because)
  else if (call_hook !== null && leg.script === undefined) talk.send(leg, call_hook, because)
  else if (call_hook !== null && (await leg.script?.takeOver(call_hook, because)) !== true) return false
  return talkOf(leg) === undefined
}
