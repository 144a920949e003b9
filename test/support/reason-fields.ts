// The header fields that give the reason of a refusal or a BYE of the platform, for tests.
import type { HeaderField } from '../../src/sip/message/message.ts'

export function reasonFields(code: string, sentence: unknown): HeaderField[] {
  return [
    { name: 'x-reason', value: sentence as string },
    { name: 'x-reason-code', value: code },
  ]
}

/** Returns the fields of a BYE that a time limit sends, with a Reason of RFC 3326. */
export function timerFields(code: string, sentence: string): ReturnType<typeof reasonFields> {
  const reason = { name: 'reason', value: `Q.850;cause=102;text="${sentence}"` }
  return [...reasonFields(code, sentence), reason]
}
