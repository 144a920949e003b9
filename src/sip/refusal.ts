// How the stack itself says no: a status, a sentence in X-Reason, never a line break from a field of the request.
import { entryOf } from '../lib/errors.ts'
import type { ErrorCode } from '../lib/errors.ts'
import type { HeaderField } from './message/message.ts'
import type { Reply } from './sip.ts'

// Longer text belongs in the journal, not in a header that must fit a datagram with all the others.
const maxValueChars = 256

const controls = /\p{Cc}/gu

/** Text made safe as a header value: on one line, without control characters, bounded. */
export function cleanHeaderValue(text: string): string {
  return text.slice(0, maxValueChars).replaceAll(controls, ' ').trim()
}

export interface RefusalOptions {
  /** Where the status differs from the one the catalogue gives the code. */
  readonly status?: number
  readonly headers?: readonly HeaderField[]
}

export function refusal(code: ErrorCode, sentence: string, options: RefusalOptions = {}): Reply {
  return {
    status: options.status ?? entryOf(code).sip ?? 500,
    headers: [{ name: 'x-reason', value: cleanHeaderValue(sentence) }, ...(options.headers ?? [])],
  }
}
