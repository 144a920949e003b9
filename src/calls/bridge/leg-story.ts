// What the journals of a call and of the legs that it dials say of each other's end.
import type { DialEndedFact } from '../journal/talk-facts.ts'
import type { HeaderField } from '../../sip/message/message.ts'
import type { Leg } from '../leg/leg.ts'
import type { Stop } from '../session/stop.ts'

/** Who is at the far end of a leg, as its call names that one. */
export function partyOf({ journal }: Pick<Leg, 'journal'>): string {
  const { direction, from, to } = journal.facts.started
  return direction === 'inbound' ? from : to
}

/** A leg and its far end, as facts in the journals of two that talk. */
export function oneOfTwo(leg: Leg): { readonly call_sid: string; readonly party: string } {
  return { call_sid: leg.call_sid, party: partyOf(leg) }
}

/** Why a leg is no longer there. `party`: who was at its far end. */
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

/** The Reason that the far end of a leg gave for its end is given to the other side too. */
export function reasonOf({ journal }: Leg): readonly HeaderField[] {
  const value = journal.facts.change?.sip_reason_header
  return value === undefined ? [] : [{ name: 'reason', value }]
}

/** What the far end gave that a leg talked with last, or called in vain. */
const left = new WeakMap<Leg, readonly HeaderField[]>()

/** `gone` has ended, and the leg stays: the Reason that it ended for goes with the end of the leg, if that is next. */
export function leaveReason(leg: Leg, gone: Leg): void {
  left.set(leg, reasonOf(gone))
}

/** The call goes on: what ended before is no reason for its end. */
export function forgetReason(leg: Leg): void {
  left.delete(leg)
}

export function reasonLeft(leg: Leg): readonly HeaderField[] {
  return left.get(leg) ?? []
}

/** Why the verbs of a call are stopped, if they are. */
export function whyStopped(parent: Leg, signal: AbortSignal): string | undefined {
  if (parent.hasEnded) return whyGone(parent, 'the caller')
  return signal.aborted ? `other verbs took over: ${(signal.reason as Stop).message}` : undefined
}

/** Lets the journal of a call say of a leg that it has dialled what becomes of it. Returns the function that stops it. */
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
