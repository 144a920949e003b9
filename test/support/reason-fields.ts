// For tests: what a refusal or a BYE of the platform says of its reason.
import type { HeaderField } from '../../src/sip/message/message.ts'

export function reasonFields(code: string, sentence: unknown): HeaderField[] {
  return [
    { name: 'x-reason', value: sentence as string },
    { name: 'x-reason-code', value: code },
  ]
}
