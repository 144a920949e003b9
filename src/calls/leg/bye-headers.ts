// The headers of the far end's BYE that the `completed` status hook carries (calls.md §1.3).
import type { SipRequest } from '../../sip/message/message.ts'

/** Headers that concern the stack, not the application. */
const structural: ReadonlySet<string> = new Set([
  'via',
  'from',
  'to',
  'call-id',
  'cseq',
  'max-forwards',
  'content-length',
  'contact',
  'route',
  'record-route',
  'content-type',
  'authorization',
  'proxy-authorization',
  'www-authenticate',
  'proxy-authenticate',
])

export function byeHeaders(bye: SipRequest): Record<string, string> {
  const headers: Record<string, string> = {}
  for (const { name, value } of bye.headers) {
    if (structural.has(name)) continue
    const key = name.replaceAll('-', '_')
    headers[key] = headers[key] === undefined ? value : `${headers[key]}, ${value}`
  }
  return headers
}
