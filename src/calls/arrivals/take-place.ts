// An INVITE with Replaces (RFC 3891): a phone replaces another one in a call, or answers a call that rings there.
import { AppError } from '../../lib/errors.ts'
import { refusal } from '../../sip/refusal.ts'
import type { Replaced } from '../../sip/sip.ts'
import { runScript } from '../script/run-script.ts'
import { noVerbLeft } from '../script/verb-loop.ts'
import { toDecision } from '../journal/decision.ts'
import { toCallHookPayload } from '../journal/hook-payloads.ts'
import type { Leg } from '../leg/leg.ts'
import { toStackRefusal, type Refusal } from '../journal/refusals.ts'
import type { CallScript } from '../ports.ts'
import type { CallRegistry } from '../registry.ts'
import { isOfOneTenant } from '../leg/teams-trunk.ts'
import { join } from '../bridge/join.ts'
import { partyOf } from '../leg/leg-story.ts'
import { pickUpOf } from '../bridge/pick-up.ts'
import { talkOf } from '../bridge/talk.ts'
import { demandUserCalling } from '../bridge/user-calling.ts'
import type { ArrivalNeeds } from './needs.ts'

/** Serves the INVITE of the unanswered `leg`. Resolves when the call is over. Throws AppError when it is refused. */
export async function takePlace(leg: Leg, replaced: Replaced, needs: ArrivalNeeds): Promise<void> {
  const former = formerLeg(leg, replaced, needs.registry)
  if (leg.user === undefined && !isOfOneTenant(leg, former))
    throw new AppError('not_permitted', 'only a user may take the place of another phone')
  if (replaced.kind === 'confirmed' && replaced.isEarlyOnly === true) return leg.refuseWith(answeredAlready())
  await demandUserCalling(leg, needs)
  if (leg.hasEnded) return
  if (former.hasEnded) throw notHere()
  const { application_sid } = former.journal.facts
  if (application_sid !== undefined) leg.journal.add({ type: 'application', application_sid })
  leg.moveTo(former.session)
  leg.status.followParent()
  const outcome = `${leg.call_sid} in place of ${former.call_sid}`
  for (const { journal } of [leg, former]) journal.note(toDecision({ rule: 'replaces', outcome }))
  if (replaced.kind === 'ringing') await answerInstead(leg, former)
  else await talkInstead(leg, former, needs)
  await leg.closed
}

/** Returns the leg to replace. Throws the same error if it is another account's, has ended, or never existed. */
function formerLeg(leg: Leg, replaced: Replaced, registry: CallRegistry): Leg {
  const { account_sid } = leg.journal.facts.started
  const found =
    replaced.kind === 'ringing'
      ? registry.legThatSent(account_sid, replaced.invite)
      : registry.legWith(account_sid, replaced.dialog)
  const isOurs = found !== undefined && found.journal.facts.started.account_sid === account_sid
  const former = isOurs ? registry.liveLeg(account_sid, found.call_sid) : undefined
  if (former === undefined || former.hasEnded) throw notHere()
  return former
}

function notHere(): AppError {
  return new AppError('call_not_here', 'Replaces names a call that is not here')
}

/** Returns the refusal of an early-only Replaces for an answered call: RFC 3891 §3. */
function answeredAlready(): Refusal {
  const code = 'call_not_here'
  const sentence = 'Replaces names a call that has been answered'
  return toStackRefusal(code, refusal(code, sentence, { status: 486 }))
}

function transferredNow(): Refusal {
  const code = 'transfer_refused'
  const sentence = 'the call that is to be taken over is being transferred'
  return toStackRefusal(code, refusal(code, sentence, { status: 491 }))
}

async function answerInstead(leg: Leg, former: Leg): Promise<void> {
  const pickUp = pickUpOf(former)
  if (pickUp === undefined)
    throw new AppError('transfer_refused', 'the call that rings is not for another phone to answer')
  await pickUp.answer(leg)
}

async function talkInstead(leg: Leg, former: Leg, needs: ArrivalNeeds): Promise<void> {
  if (talkOf(former)?.isBeingTransferred === true) return leg.refuseWith(transferredNow())
  if (talkOf(former) === undefined && former.script?.source === undefined)
    throw new AppError('transfer_refused', 'the call that is to be taken over has no other side')
  await leg.answer()
  if (leg.hasEnded) return
  // The state may have changed while the leg was answered.
  const talk = talkOf(former)
  const source = former.script?.source
  const isAlone = talk === undefined && source === undefined
  if (former.hasEnded || isAlone || talk?.isBeingTransferred === true)
    return leg.hangUp({ because: 'the call that it was to take the place of is not there any more' })
  const because = `${partyOf(leg)} took the place of ${partyOf(former)}`
  if (talk !== undefined) {
    join(talk.otherOf(former), leg, because)
    return void former.hangUp({ because })
  }
  void former.hangUp({ because })
  if (source !== undefined) await runAgain(leg, source, needs)
}

/** Runs the application again on the new leg, since an application runs on one leg. */
async function runAgain(leg: Leg, script: CallScript, needs: ArrivalNeeds): Promise<void> {
  leg.moveTo(leg.session.release())
  const node = needs.node()
  const question = (): object => toCallHookPayload({ facts: leg.journal.facts, script, node })
  await runScript({ leg, script, question }, needs)
  await leg.hangUp({ because: noVerbLeft })
}
