// The entries about each other's end in the journals of a call and of the legs that it dials.
import type { DialEndedFact } from '../journal/talk-facts.ts'
import type { HeaderField } from '../../sip/message/message.ts'
import type { Leg } from './leg.ts'
import { failureReason } from '../journal/refusals.ts'
import type { Stop } from '../session/stop.ts'
import type { RefusalFact } from '../journal/journal.ts'

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

/** Returns the failure for the record of a leg that ends because the answered leg `other` was ended for a failure. */
export function failureThrough({ journal }: Leg): RefusalFact | undefined {
  const { refusal, answered_at } = journal.facts
  if (refusal === undefined || answered_at === undefined) return undefined
  const { code, cure, sip_status } = refusal
  const sentence = `the other side was hung up: ${refusal.sentence}`
  return { type: 'refusal', code, sentence, cure, sip_status }
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
