// The session description in a message: RFC 3261 §13.2.1, RFC 3264.
import { isBrokenMultipart, isOptionalBody, mediaTypeOf, sdpOf } from '../message/body.ts'
import { headerOf } from '../message/message.ts'
import type { SipMessage } from '../message/message.ts'

// RFC 7866 §9.1: what a recording client says of the talk that it sends, also without an offer. Older clients leave out the +xml.
const recordingMetadata: ReadonlySet<string> = new Set([
  'application/rs-metadata+xml',
  'application/rs-metadata',
])

/** The SDP of a message, `absent` where it carries none that it must, `unsupported` when the body is something else. */
export function readDescription(
  message: SipMessage,
): { readonly kind: 'absent' | 'unsupported' } | { readonly kind: 'sdp'; readonly sdp: string } {
  if (message.body.byteLength === 0) return { kind: 'absent' }
  const sdp = sdpOf(message)
  if (sdp !== undefined) return { kind: 'sdp', sdp }
  if (isOptionalBody(message)) return { kind: 'absent' }
  const type = mediaTypeOf(headerOf(message, 'content-type') ?? '')
  const isKnown = type.startsWith('multipart/') ? !isBrokenMultipart(message) : recordingMetadata.has(type)
  return { kind: isKnown ? 'absent' : 'unsupported' }
}
