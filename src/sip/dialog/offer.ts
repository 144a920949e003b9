// The session description in a message: RFC 3261 §13.2.1, RFC 3264.
import { isOptionalBody, mediaTypeOf, sdpOf } from '../message/body.ts'
import { headerOf } from '../message/message.ts'
import type { SipMessage } from '../message/message.ts'

/** The SDP of a message, `absent` where it carries none that it must, `unsupported` when the body is something else. */
export function readDescription(
  message: SipMessage,
): { readonly kind: 'absent' | 'unsupported' } | { readonly kind: 'sdp'; readonly sdp: string } {
  if (message.body.byteLength === 0) return { kind: 'absent' }
  const sdp = sdpOf(message)
  if (sdp !== undefined) return { kind: 'sdp', sdp }
  const isMultipart = mediaTypeOf(headerOf(message, 'content-type') ?? '').startsWith('multipart/')
  return { kind: isMultipart || isOptionalBody(message) ? 'absent' : 'unsupported' }
}
