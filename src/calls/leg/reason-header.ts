// The Reason header of RFC 3326 as hooks carry it: all values in one string, whitespace around ";" normalised.
import { headersOf, type SipMessage } from '../../sip/message/message.ts'
import { splitList, splitOutside } from '../../sip/message/list.ts'

/** Returns all values, joined with commas (RFC 3261 §7.3.1). Undefined when the message has no such header. */
export function reasonHeaderOf(message: SipMessage): string | undefined {
  const values = headersOf(message, 'reason')
    .flatMap(splitList)
    .map((value) => value.trim())
    .filter((value) => value !== '')
  if (values.length === 0) return undefined
  return values.map(normalize).join(',')
}

function normalize(value: string): string {
  return splitOutside(value, ';')
    .map((part) => part.trim())
    .join(';')
}
