// The session description in a message: RFC 3261 §13.2.1, RFC 3264.
import { isBrokenMultipart, isOptionalBody, mediaTypeOf, recordingMetadata, sdpOf } from '../message/body.ts'
import { headerOf, type SipMessage } from '../message/message.ts'

/**
 * Returns the SDP of a message; `absent` if it has none and its body may be ignored; `unsupported` for any other body.
 */
export function readDescription(
  message: SipMessage,
): { readonly kind: 'absent' | 'unsupported' } | { readonly kind: 'sdp'; readonly sdp: string } {
  if (message.body.byteLength === 0) return { kind: 'absent' }
  const sdp = sdpOf(message)
  if (sdp !== undefined) return { kind: 'sdp', sdp }
  if (isOptionalBody(message)) return { kind: 'absent' }
  const type = mediaTypeOf(headerOf(message, 'content-type') ?? '')
  const isKnown = type.startsWith('multipart/')
    ? !isBrokenMultipart(message)
    : recordingMetadata.includes(type)
  return { kind: isKnown ? 'absent' : 'unsupported' }
}
