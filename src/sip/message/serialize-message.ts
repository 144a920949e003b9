// SipMessage to bytes. Every message is written here, so injected line breaks are refused here.
import { AppError } from '../../lib/errors.ts'
import { isToken, wireName } from './header-names.ts'
import type { SipMessage } from './message.ts'

/**
 * Reports whether a header field or start line may contain the text: no CR, no LF, and NUL only as a quoted-pair (RFC
 * 3261 §25.1).
 */
export function isHeaderSafe(text: string): boolean {
  if (text.includes('\r') || text.includes('\n')) return false
  return !text.includes('\0') || !/(?:^|[^\\])\0/.test(text)
}

/** Writes a message. Content-Length is always counted here, in bytes; one that the message carries is replaced. */
export function serializeMessage(message: SipMessage): Uint8Array {
  let head = `${safe(startLineOf(message), 'start line')}\r\n`
  for (const { name, value } of message.headers) {
    if (name === 'content-length') continue
    if (!isToken(name))
      throw new AppError('bad_request', 'A header field name is not a token', { detail: { name } })
    head += `${wireName(name)}: ${safe(value, name)}\r\n`
  }
  head += `Content-Length: ${message.body.byteLength}\r\n\r\n`
  const headBytes = Buffer.from(head, 'utf8')
  return message.body.byteLength === 0 ? headBytes : Buffer.concat([headBytes, message.body])
}

function startLineOf(message: SipMessage): string {
  const version = message.version ?? 'SIP/2.0'
  return message.kind === 'request'
    ? `${message.method} ${message.uri} ${version}`
    : `${version} ${message.status} ${message.reason}`
}

function safe(text: string, where: string): string {
  if (!isHeaderSafe(text)) throw new AppError('bad_request', `There is a line break in the ${where}`)
  return text
}
