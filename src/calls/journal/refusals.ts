// Refusals of a call: an AppError becomes a SIP response, a journal entry and, for bugs of the platform, a log line.
import { AppError, entryOf, type ErrorCode } from '../../lib/errors.ts'
import type { Logger } from '../../lib/log.ts'
import type { HeaderField } from '../../sip/message/message.ts'
import { reasonPhraseOf } from '../../sip/message/reason-phrases.ts'
import { cleanHeaderValue, codeHeader, refusal, statusReason, timerExpired } from '../../sip/refusal.ts'
import type { Reply } from '../../sip/sip.ts'
import type { ProblemFact, RefusalFact } from './journal.ts'

/** Long enough that a dispatcher tries another node, short enough that a phone tries this one again. */
const retryAfterSeconds = '5'
const busyCodes: ReadonlySet<string> = new Set<ErrorCode>([
  'overloaded',
  'stopping',
  'no_media_port',
  'account_share',
  'database_unavailable',
  'disk_full',
])
const maxSentenceLength = 500

export interface Refusal {
  readonly reply: Reply
  readonly fact: RefusalFact
}

/** Returns the error to show. An error that is not an AppError is a bug, and its text stays in the log. */
export function toAppError(error: unknown, log: Pick<Logger, 'error'>): AppError {
  if (error instanceof AppError) return error
  log.error({ err: error }, 'unexpected exception in a call')
  return new AppError('internal', 'internal error', { cause: error })
}

/** Returns Retry-After for a code that says that there is no room now. */
export function busyHeaders(code: string): readonly HeaderField[] {
  return busyCodes.has(code) ? [{ name: 'retry-after', value: retryAfterSeconds }] : []
}

export function toRefusal(error: AppError): Refusal {
  const headers = busyHeaders(error.code)
  const reply = refusal(error.code, error.message, { headers, warning: error.warning })
  const { code, sentence, cure } = toProblem(error)
  return { reply, fact: { type: 'refusal', code, sentence, cure, sip_status: reply.status } }
}

/** Returns a refusal whose SIP response the stack has already made. */
export function toStackRefusal(code: ErrorCode, reply: Reply): Refusal {
  const sentence = reply.headers?.find(({ name }) => name === 'x-reason')?.value ?? code
  const { cure } = entryOf(code)
  return { reply, fact: { type: 'refusal', code, sentence, cure, sip_status: reply.status } }
}

/** Returns the journal entry of a failure that the call survives. */
export function toProblem(error: AppError): ProblemFact {
  const sentence = error.message.slice(0, maxSentenceLength)
  return { type: 'problem', code: error.code, sentence, cure: error.cure }
}

/** The failures that a timer of the platform ends a call for, and the text of their Reason. */
const timers: ReadonlyMap<string, string> = new Map<ErrorCode, string>([
  ['call_duration_limit', 'Max Call Duration'],
  ['hold_timeout', 'Hold Timeout'],
  ['media_timeout', 'Media Timeout'],
  ['hook_timeout', 'Hook Timeout'],
  ['sip_dialog_lost', 'Session Timeout'],
  ['sip_not_acknowledged', 'ACK Timeout'],
])

/** Returns the fields of a BYE for a failure by which programs tell it: X-Reason-Code and Reason. */
export function failureHeaders(fact: Pick<RefusalFact, 'code' | 'sip_status'>): readonly HeaderField[] {
  return [codeHeader(fact.code), failureReason(fact)]
}

/**
 * Returns the Reason (RFC 3326) of a BYE or a CANCEL for a failure: that of a timer, or the SIP status that an
 * unanswered call gets for it. It is passed on to the other side of a bridge, so its text names no address.
 */
export function failureReason({ code, sip_status }: Pick<RefusalFact, 'code' | 'sip_status'>): HeaderField {
  const timer = timers.get(code)
  if (timer !== undefined) return timerExpired(timer)
  return statusReason(sip_status, reasonPhraseOf(sip_status))
}

export { codeHeader, timerExpired }

/** Returns the X-Reason header of a BYE or a refusal. */
export function reasonHeader(text: string): { name: string; value: string } {
  return { name: 'x-reason', value: cleanHeaderValue(text) }
}
