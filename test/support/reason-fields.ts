// The header fields that give the reason of a refusal or a BYE of the platform, for tests.
import type { HeaderField } from '../../src/sip/message/message.ts'

export function reasonFields(code: string, sentence: unknown): HeaderField[] {
  return [
    { name: 'x-reason', value: sentence as string },
    { name: 'x-reason-code', value: code },
  ]
}
