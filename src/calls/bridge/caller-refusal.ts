// The final response for a caller whose dial has failed and for whom no verb is left: that of the called side, where it
// tells the caller the truth (RFC 3261 §16.7), and a Reason (RFC 3326) that always has it.
import type { HeaderField } from '../../sip/message/message.ts'
import { reasonPhraseOf } from '../../sip/message/reason-phrases.ts'
import { cleanHeaderValue, statusReason } from '../../sip/refusal.ts'
import type { Leg } from '../leg/leg.ts'
import { busyHeaders, codeHeader, reasonHeader } from '../journal/refusals.ts'
import type { DialFailure, DialOutcome } from '../verb/dial-request.ts'
import { reasonOf } from '../leg/leg-story.ts'

/** The statuses about the called party, which are true of the call of the caller too. */
const passedOn: ReadonlySet<number> = new Set([
  403, 404, 410, 433, 480, 482, 483, 484, 485, 486, 488, 500, 502, 504, 600, 603, 604, 606, 607, 608,
])

/** Returns the failure of the last leg that a dial called. */
export function toDialFailure(failed: Leg, outcome: DialOutcome): DialFailure {
  const { sip_status, sip_reason, refusal } = outcome
  const reasons = [...reasonOf(failed), ...ownReason(failed, outcome)]
  const isOurs = refusal !== undefined && refusal.code !== 'sip_unreachable'
  const status = isOurs ? sip_status : statusFor(failed, outcome)
  return { status, reasons, refusal, ...(status === sip_status ? { reason: sip_reason } : {}) }
}

/** Refuses an unanswered caller for whom no verb is left. `sentence` is its X-Reason. */
export function refuseCaller(leg: Leg, failure: DialFailure, sentence: string): void {
  const { status, reason, reasons, refusal } = failure
  const headers = [...reasons, reasonHeader(sentence)]
  const reply = { status, ...(reason === undefined ? {} : { reason }), headers }
  if (refusal === undefined) return leg.decline(reply)
  const { code, cure } = refusal
  leg.refuseWith({
    reply: { ...reply, headers: [...headers, codeHeader(code), ...busyHeaders(code)] },
    fact: { type: 'refusal', code, sentence: refusal.sentence, cure, sip_status: status },
  })
}

function statusFor({ journal }: Leg, { sip_status: status, refusal }: DialOutcome): number {
  // RFC 3261 §21.5.5: a server did not respond in time. A phone that does not is unavailable for the moment.
  if (status === 408 || refusal?.code === 'sip_unreachable')
    return journal.facts.attempt?.is_phone === true ? 480 : 504
  // RFC 3261 §16.7: a 503 would say that no call can be made here.
  if (status === 503) return 500
  if (passedOn.has(status)) return status
  // The challenge was for the platform, which has no other credentials.
  if (status === 401 || status === 407) return 502
  // The others are about the INVITE of the platform, or send the platform elsewhere.
  return status < 500 ? 480 : status < 600 ? 500 : 603
}

/** Returns no field if the far end has given its SIP status itself: RFC 3326 §2 has one value for each protocol. */
function ownReason(failed: Leg, { sip_status, sip_reason }: DialOutcome): readonly HeaderField[] {
  if (reasonOf(failed).some(({ value }) => /(?:^|,)\s*sip\b/i.test(value))) return []
  const text = cleanHeaderValue(sip_reason) || reasonPhraseOf(sip_status)
  return [statusReason(sip_status, text)]
}
