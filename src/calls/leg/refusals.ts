// How a call is refused: one AppError becomes the SIP response, the journal entry and, for bugs of the platform, the log line.
import { AppError, entryOf } from '../../lib/errors.ts'
import type { ErrorCode } from '../../lib/errors.ts'
import type { Logger } from '../../lib/log.ts'
import { cleanHeaderValue, codeHeader, refusal } from '../../sip/refusal.ts'
import type { Reply } from '../../sip/sip.ts'
import type { ProblemFact, RefusalFact } from '../journal/journal.ts'

/** Long enough for a dispatcher to try another node, short enough for a phone to come back to this one. */
const retryAfterSeconds = '5'
const busyCodes: ReadonlySet<ErrorCode> = new Set<ErrorCode>([
  'overloaded',
  'stopping',
  'no_media_port',
  'account_share',
])
const maxSentenceLength = 500

export interface Refusal {
  readonly reply: Reply
  readonly fact: RefusalFact
}

/** The error to show. Anything that is not an AppError is a bug of the platform, whose text stays in the log. */
export function toAppError(error: unknown, log: Pick<Logger, 'error'>): AppError {
  if (error instanceof AppError) return error
  log.error({ err: error }, 'unexpected exception in a call')
  return new AppError('internal', 'internal error', { cause: error })
}

export function toRefusal(error: AppError): Refusal {
  const busy = busyCodes.has(error.code) ? [{ name: 'retry-after', value: retryAfterSeconds }] : []
  const reply = refusal(error.code, error.message, { headers: busy })
  const { code, sentence, cure } = toProblem(error)
  return { reply, fact: { type: 'refusal', code, sentence, cure, sip_status: reply.status } }
}

/** A refusal whose SIP response the stack has made already. */
export function toStackRefusal(code: ErrorCode, reply: Reply): Refusal {
  const sentence = reply.headers?.find(({ name }) => name === 'x-reason')?.value ?? code
  const { cure } = entryOf(code)
  return { reply, fact: { type: 'refusal', code, sentence, cure, sip_status: reply.status } }
}

/** The journal entry of a failure the call survives. */
export function toProblem(error: AppError): ProblemFact {
  const sentence = error.message.slice(0, maxSentenceLength)
  return { type: 'problem', code: error.code, sentence, cure: error.cure }
}

export { codeHeader }

/** The X-Reason of a BYE or a refusal. */
export function reasonHeader(text: string): { name: string; value: string } {
  return { name: 'x-reason', value: cleanHeaderValue(text) }
}
