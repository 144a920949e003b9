// The header fields that give the reason of a refusal or a BYE of the platform, for tests.
import { entryOf, type ErrorCode } from '../../src/lib/errors.ts'
import { reasonPhraseOf } from '../../src/sip/message/reason-phrases.ts'
import type { HeaderField } from '../../src/sip/message/message.ts'

export function reasonFields(code: string, sentence: unknown): HeaderField[] {
  return [
    { name: 'x-reason', value: sentence as string },
    { name: 'x-reason-code', value: code },
  ]
}

/** Returns the fields of a BYE that a time limit sends, with a Reason of RFC 3326. */
export function timerFields(
  code: string,
  sentence: string,
  text = sentence,
): ReturnType<typeof reasonFields> {
  const reason = { name: 'reason', value: `Q.850;cause=102;text="${text}"` }
  return [...reasonFields(code, sentence), reason]
}

/** The headers of a BYE or a CANCEL for a failure that no timer has caused. */
export function failureFields(code: ErrorCode, sentence: unknown): HeaderField[] {
  const { sip = 500 } = entryOf(code)
  const reason = { name: 'reason', value: `SIP;cause=${sip};text="${reasonPhraseOf(sip)}"` }
  return [...reasonFields(code, sentence), reason]
}
