// The headers of the far end's BYE that the `completed` status hook carries.
import type { SipRequest } from '../../sip/message/message.ts'
import { plumbingHeaders } from '../../sip/message/reserved-headers.ts'

export function byeHeaders(bye: SipRequest): Record<string, string> {
  const headers: Record<string, string> = {}
  for (const { name, value } of bye.headers) {
    if (plumbingHeaders.has(name)) continue
    const key = name.replaceAll('-', '_')
    headers[key] = Object.hasOwn(headers, key) ? `${headers[key]}, ${value}` : value
  }
  return headers
}
