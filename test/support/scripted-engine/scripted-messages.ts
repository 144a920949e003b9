// Requests and responses in the form in which a parser returns them, and an SDP.
import type { HeaderField, SipRequest, SipResponse } from '../../../src/sip/message/message.ts'
import { reasonPhraseOf } from '../../../src/sip/message/reason-phrases.ts'

export const offer =
  'v=0\r\no=- 1 1 IN IP4 127.0.0.1\r\ns=-\r\nc=IN IP4 127.0.0.1\r\nt=0 0\r\nm=audio 26000 RTP/AVP 0\r\n'

export function sipRequest(
  method: string,
  options: { uri?: string; headers?: readonly HeaderField[]; type?: string; body?: string } = {},
): SipRequest {
  const type = options.type === undefined ? [] : [{ name: 'content-type', value: options.type }]
  return {
    kind: 'request',
    method,
    uri: options.uri ?? 'sip:switchhook@127.0.0.1',
    headers: [...(options.headers ?? []), ...type],
    body: Buffer.from(options.body ?? ''),
  }
}

export function sipResponse(
  status: number,
  options: { headers?: readonly HeaderField[]; body?: string | undefined } = {},
): SipResponse {
  const type = options.body === undefined ? [] : [{ name: 'content-type', value: 'application/sdp' }]
  return {
    kind: 'response',
    status,
    reason: reasonPhraseOf(status),
    headers: [...(options.headers ?? []), ...type],
    body: Buffer.from(options.body ?? ''),
  }
}
