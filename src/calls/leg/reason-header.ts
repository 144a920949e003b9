// The Reason header of RFC 3326 as hooks carry it: all values in one string, whitespace around ";" normalised.
import { isToken } from '../../sip/message/header-names.ts'
import { headersOf, type SipMessage } from '../../sip/message/message.ts'
import { splitList, splitOutside } from '../../sip/message/list.ts'

/**
 * The limit of all values together: a few with the texts that carriers write, and no more than fits into a datagram
 * beside an SDP. The other side of a call gets them.
 */
const maxChars = 512

/**
 * Returns the values, joined with commas (RFC 3261 §7.3.1), as far as they fit. A value that does not fit is left
 * without its text. Undefined when the message has no such header.
 */
export function reasonHeaderOf(message: SipMessage): string | undefined {
  const values = headersOf(message, 'reason')
    .flatMap(splitList)
    .map((value) => value.trim())
    .filter((value) => value !== '')
  let joined: string | undefined
  for (const value of values.map(normalize)) {
    const before = joined === undefined ? '' : `${joined},`
    const kept = [value, withoutText(value)].find((form) => before.length + form.length <= maxChars)
    if (kept !== undefined && kept !== '') joined = before + kept
  }
  return joined
}

/** Returns protocol and cause alone, which are what programs read: RFC 3326 §2. */
function withoutText(value: string): string {
  const [protocol = '', ...params] = splitOutside(value, ';')
  const cause = params.find((param) => /^cause *= *\d{1,10}$/i.test(param))
  return isToken(protocol) && cause !== undefined ? `${protocol};${cause}` : ''
}

function normalize(value: string): string {
  return splitOutside(value, ';')
    .map((part) => part.trim())
    .join(';')
}
