// Transfers by REFER (RFC 3515). If the application has a referHook, the hook decides. Without one a user may transfer
// the other side of its call to users of the same realm, or connect it with another call of its own.
import { AppError } from '../../lib/errors.ts'
import type { Reply } from '../../sip/sip.ts'
import type { HookForm } from '../verb/hook-form.ts'
import type { NestedVerbs } from '../application/nested-verbs.ts'
import { toDecision } from '../journal/decision.ts'
import { toAppError, toProblem, toRefusal } from '../journal/refusals.ts'
import type { RunnableVerb } from '../verb/verb.ts'
import { attend, type Transfer } from './attended-transfer.ts'
import { sendToUser } from './blind-transfer.ts'
import { notified } from './join.ts'
import { referDetails } from './refer-details.ts'
import { partyOf } from '../leg/leg-story.ts'
import {
  goneMeanwhile,
  noteTransferAsked,
  noteTransferRefused,
  turnDown,
  underWay,
} from './transfer-story.ts'
import { talkOf, type TalkServices } from './talk.ts'
import type { BridgeNeeds } from './needs.ts'

export interface TransferServices {
  /** Returns the hook that decides where a REFER may lead. */
  readonly hook: () => HookForm | undefined
  readonly needs: BridgeNeeds
  readonly nested: NestedVerbs
}

/** Returns the handler for the REFERs of the legs of a call. */
export function referralsOf(services: TransferServices): TalkServices['refer'] {
  return (referral, by) => void judge({ referral, by, talk: talkOf(by) }, services)
}

/** Accepts or refuses a REFER. Never rejects. */
async function judge(asked: Transfer, services: TransferServices): Promise<void> {
  const { referral, by, talk } = asked
  // Transfers run one at a time. If two phones transfer each other, the first one wins.
  if (talk?.isBeingTransferred === true) return turnDown(asked, { status: 491, sentence: underWay })
  noteTransferAsked(asked)
  const release = talk?.keep(talk.otherOf(by))
  // The verbs of the referHook may replace those that run out meanwhile.
  const settled = by.script?.awaitMore()
  try {
    await carryOut(asked, services)
  } catch (error) {
    const failure = toAppError(error, by.log)
    const reply = replyTo(failure)
    const problem = toProblem(failure)
    noteTransferRefused(asked, { ...problem, sip_status: reply.status })
    if (!by.hasEnded) by.journal.note(problem)
    referral.reject(reply)
  } finally {
    release?.()
    settled?.()
  }
}

async function carryOut(asked: Transfer, services: TransferServices): Promise<void> {
  const { referral, by, talk } = asked
  const { nested, needs } = services
  const hook = services.hook()
  const other = talk?.otherOf(by)
  const isAttended = referral.replaces !== undefined
  if (hook !== undefined) {
    const details = { refer_details: referDetails(referral, by, other) }
    const verbs = await nested.ask(by, hook, 'refer', details)
    if (by.hasEnded || other?.hasEnded === true || talk?.signal.aborted === true)
      return turnDown(asked, { status: 481, sentence: goneMeanwhile })
    if (verbs.length > 0) return follow(asked, verbs, needs)
    // A phone that is notified of success shows its user a transfer that never took place.
    if (!isAttended)
      throw new AppError(
        'transfer_refused',
        'the referHook answered without verbs, so the call stays as it is',
        {
          cure: 'Answer with the verbs for the side that is transferred, or with a status of 400 to 699.',
        },
      )
  }
  if (isAttended) return attend(asked, needs.registry, needs)
  if (talk === undefined)
    throw new AppError('transfer_refused', 'there is no other side that could be sent elsewhere', {
      cure: 'Give the call a referHook: then the application decides what a REFER does.',
    })
  return sendToUser({ ...asked, talk }, needs)
}

/**
 * Runs the verbs that the hook answered in place of the talk, or of the running verbs. The far end that sent the REFER
 * is notified when they run, and hung up after that: many phones take a BYE before the last NOTIFY as a failure.
 */
function follow(
  { referral, by, talk }: Transfer,
  verbs: readonly RunnableVerb[],
  { clock }: Pick<BridgeNeeds, 'clock'>,
): void {
  const subscription = referral.accept()
  const decision = toDecision({ rule: 'transfer', outcome: referral.referTo })
  by.journal.note(decision)
  if (talk === undefined) {
    subscription.notify(200)
    by.script?.interrupt(verbs, 'the far end asked for another call')
    return
  }
  const other = talk.otherOf(by)
  const because = `${partyOf(by)} sent ${partyOf(other)} elsewhere`
  other.journal.note(decision)
  const after = notified(subscription, clock)
  // The verbs of a far end that has some continue, but do not end its call before that.
  const settled = by.script?.awaitMore()
  if (settled !== undefined) void after.then(settled)
  talk.send(other, verbs, because)
  if (by.script === undefined) void by.hangUp({ because, after })
  void talk.over.then(() => subscription.notify(other.hasEnded ? 487 : 200))
}

/** Returns the refusal. A hook that answers with an error chooses its status. */
function replyTo(error: AppError): Reply {
  const { reply } = toRefusal(error)
  const { detail } = error
  const status = detail !== undefined && 'status' in detail ? detail.status : undefined
  return typeof status === 'number' && status >= 400 && status <= 699 ? { ...reply, status } : reply
}
