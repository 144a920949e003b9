// The entries about each other's end in the journals of a call and of the legs that it dials.
import type { DialFailure } from '../verb/dial-request.ts'
import type { RefusalFact } from '../journal/journal.ts'
import type { DialEndedFact } from '../journal/talk-facts.ts'
import type { HeaderField } from '../../sip/message/message.ts'
import type { Leg } from './leg.ts'
import type { HangUpOptions } from './leg-options.ts'
import { failureReason } from '../journal/refusals.ts'
import type { Stop } from '../session/stop.ts'

/** Returns the party at the far end of a leg, as the call names it. */
export function partyOf({ journal }: Pick<Leg, 'journal'>): string {
  const { direction, from, to } = journal.facts.started
  return direction === 'inbound' ? from : to
}

/** Returns a leg and its far end as fields of facts in the journals of two legs that talk. */
export function oneOfTwo(leg: Leg): { readonly call_sid: string; readonly party: string } {
  return { call_sid: leg.call_sid, party: partyOf(leg) }
}

/** Returns why a leg has ended. `party` names its far end. */
export function whyGone({ journal }: Leg, party: string): string {
  const { change, refusal, ended_because, answered_at } = journal.facts
  if (change === undefined || change.call_termination_by === 'jambonz') {
    const because = refusal?.sentence ?? ended_because
    return `the platform hung up on ${party}${because === undefined ? '' : `: ${because}`}`
  }
  if (answered_at !== undefined) return `${party} hung up`
  return change.sip_status === 487
    ? `${party} gave up`
    : `${party} refused with ${change.sip_status} ${change.sip_reason}`
}

/**
 * Returns the Reason for the end of the leg, to be passed on to the other side: the one that the far end gave, or that
 * of the failure for which the platform ended the answered leg.
 */
export function reasonOf({ journal }: Leg): readonly HeaderField[] {
  const { change, refusal, answered_at } = journal.facts
  const value = change?.sip_reason_header
  if (value !== undefined) return [{ name: 'reason', value }]
  return refusal === undefined || answered_at === undefined ? [] : [failureReason(refusal)]
}

interface Left {
  /** The Reason fields. */
  readonly reasons: readonly HeaderField[]
  /** The failure that ended the other side. */
  readonly broken?: RefusalFact | undefined
  /** Set if the leg has called others, and none of them was connected. */
  readonly failure?: DialFailure
}

/** The end of the far end that a leg talked with last, or that it called without an answer. */
const left = new WeakMap<Leg, Left>()

/** Keeps the Reason of the end of a talk. It is sent with the end of `leg` if that comes next. */
export function leaveReasons(leg: Leg, reasons: readonly HeaderField[]): void {
  left.set(leg, { reasons })
}

/** Keeps the end of the leg `gone` that `leg` talked with, for the case that the end of `leg` comes next. */
export function leaveEnd(leg: Leg, gone: Leg): void {
  left.set(leg, { reasons: reasonOf(gone), broken: failureThrough(gone) })
}

/** Returns the failure for the record of a leg that ends because the answered leg `other` was ended for a failure. */
export function failureThrough({ journal }: Leg): RefusalFact | undefined {
  const { refusal, answered_at } = journal.facts
  if (refusal === undefined || answered_at === undefined) return undefined
  const { code, cure, sip_status } = refusal
  const sentence = `the other side was hung up: ${refusal.sentence}`
  return { type: 'refusal', code, sentence, cure, sip_status }
}

/** Returns what the hang-up of a leg for which no verb is left says and records. */
export function wordsLeft(leg: Leg): Pick<HangUpOptions, 'headers' | 'failure'> {
  return { headers: reasonLeft(leg), failure: left.get(leg)?.broken }
}

/** Keeps the failure of a dial. The caller gets it if its call ends next. */
export function leaveFailure(leg: Leg, failure: DialFailure): void {
  left.set(leg, { reasons: failure.reasons, failure })
}

/** Drops the kept Reason because the call continues. */
export function forgetReason(leg: Leg): void {
  left.delete(leg)
}

export function reasonLeft(leg: Leg): readonly HeaderField[] {
  return left.get(leg)?.reasons ?? []
}

export function failureLeft(leg: Leg): DialFailure | undefined {
  return left.get(leg)?.failure
}

/** Returns why the verbs of a call are stopped, or undefined if they are not. */
export function whyStopped(parent: Leg, signal: AbortSignal): string | undefined {
  if (parent.hasEnded) return whyGone(parent, 'the caller')
  return signal.aborted ? `other verbs took over: ${(signal.reason as Stop).message}` : undefined
}

/** Journals the beginning and the end of a dialled leg in the dialling call. Returns the function that stops this. */
export function followDialled(leg: Leg, parent: Leg, to: string): () => void {
  const { call_sid } = leg
  parent.journal.note({ type: 'dialled', call_sid, to })
  const note = (): void => parent.journal.note(toDialEnded(leg, to))
  leg.signal.addEventListener('abort', note, { once: true })
  return () => leg.signal.removeEventListener('abort', note)
}

function toDialEnded(leg: Leg, to: string): DialEndedFact {
  const { call_status, sip_status, sip_reason, refusal } = leg.journal.facts
  return {
    type: 'dial-ended',
    call_sid: leg.call_sid,
    to,
    call_status,
    sip_status,
    sip_reason,
    ...(refusal === undefined
      ? { sentence: whyGone(leg, 'the called party') }
      : { code: refusal.code, sentence: refusal.sentence, cure: refusal.cure }),
  }
}
