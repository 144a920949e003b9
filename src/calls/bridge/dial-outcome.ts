// The outcome of a dial, from the leg that answered or the last one that failed.
import { reasonPhraseOf } from '../../sip/message/reason-phrases.ts'
import type { Leg } from '../leg/leg.ts'
import type { DialOutcome } from '../verb/dial-request.ts'

export function toSuccess({ journal }: Leg): DialOutcome {
  const { call_sid, sip_call_id } = journal.facts.started
  return { call_sid, sip_call_id, call_status: 'completed', sip_status: 200, sip_reason: 'OK' }
}

/** Returns the outcome of a failed leg. One that answered is `no-answer`, or `failed` if media could not serve it. */
export function toFailure(leg: Leg): DialOutcome {
  const { call_status, sip_status, sip_reason, started, answered_at, refusal } = leg.journal.facts
  const { call_sid, sip_call_id } = started
  if (answered_at === undefined)
    return { call_sid, sip_call_id, call_status, sip_status, sip_reason, refusal }
  if (refusal?.code === 'media_not_acceptable') {
    const { sip_status: status } = refusal
    const sip = { sip_status: status, sip_reason: reasonPhraseOf(status) }
    return { call_sid, sip_call_id, call_status: 'failed', ...sip, refusal }
  }
  const sip = { sip_status: 480, sip_reason: reasonPhraseOf(480) }
  return { call_sid, sip_call_id, call_status: 'no-answer', ...sip }
}
