// The session description in a message: RFC 3261 §13.2.1, RFC 3264.
import { headerOf } from '../message/message.ts'
import type { SipMessage } from '../message/message.ts'

/** The SDP of a message, `absent` without a body, `unsupported` when the body is something else. */
export function readDescription(
  message: SipMessage,
): { readonly kind: 'absent' | 'unsupported' } | { readonly kind: 'sdp'; readonly sdp: string } {
  if (message.body.byteLength === 0) return { kind: 'absent' }
  if (mediaTypeOf(message) !== 'application/sdp') return { kind: 'unsupported' }
  return { kind: 'sdp', sdp: Buffer.from(message.body).toString('utf8') }
}

/** The Content-Type without its parameters, lower case. */
export function mediaTypeOf(message: SipMessage): string {
  const value = headerOf(message, 'content-type') ?? ''
  return (value.split(';', 1)[0] ?? '').trim().toLowerCase()
}
