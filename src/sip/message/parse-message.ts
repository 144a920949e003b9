// Parsing of bytes into a SipMessage (RFC 3261 §7). Rejects only messages that cannot be responded to. validate.ts
// decides later whether a request is served, also one with lines that could not be parsed: a proxy treats a silent
// server as dead.
import { canonicalName, isToken } from './header-names.ts'
import { malformed } from './malformed.ts'
import { headerOf, type HeaderField, type SipMessage } from './message.ts'
import { isHeaderSafe } from './serialize-message.ts'

export const messageLimits = {
  /** The size of the largest UDP datagram, and enough for any INVITE seen in the field. */
  messageBytes: 65_535,
  /** The limit of one header field with its continuation lines. Identity and Geolocation bodies stay under 4 kB. */
  headerChars: 8_192,
  headerCount: 128,
  /** The limit of a reason phrase, which is passed on to the other side of a call and to hooks; the rest is cut. */
  reasonChars: 128,
} as const

const lineFeed = 0x0a
const carriageReturn = 0x0d
const space = 0x20
const tab = 0x09
const noBytes = new Uint8Array(0)

/** The start line and headers of a message, and their position in the bytes. */
export interface MessageHead {
  readonly message: SipMessage
  /** Offset of the first byte of the body. */
  readonly bodyStart: number
  /** Undefined when absent; NaN if it is not a valid length. */
  readonly contentLength: number | undefined
}

/**
 * Parses one whole datagram, or one whole message cut out of a stream. Bytes beyond Content-Length are ignored; a body
 * shorter than Content-Length is left for `validate` to refuse (RFC 3261 §18.3).
 */
export function parseMessage(bytes: Uint8Array): SipMessage {
  if (bytes.byteLength > messageLimits.messageBytes) throw malformed('Message too large')
  const start = skipLeadingBlankLines(bytes)
  const bodyStart = findBodyStart(bytes, start)
  if (bodyStart === -1) return parseUnended(bytes, start)
  const { message, contentLength } = parseHead(bytes, start, bodyStart)
  return withBody(message, bytes, bodyStart, contentLength)
}

/** Keeps the complete lines, which suffice for a response: RFC 4475 §3.1.2.15. */
function parseUnended(bytes: Uint8Array, start: number): SipMessage {
  const end = bytes.lastIndexOf(lineFeed) + 1
  const reason = 'Headers do not end with an empty line'
  if (end <= start) throw malformed(reason)
  return toAnswerable(parseHead(bytes, start, end).message, reason)
}

/** Returns the message with its body, a view of `bytes`. */
export function withBody(
  message: SipMessage,
  bytes: Uint8Array,
  bodyStart: number,
  contentLength: number | undefined,
): SipMessage {
  if (bodyStart === bytes.length) return message
  const usable = contentLength !== undefined && contentLength >= 0
  const end = usable ? Math.min(bytes.length, bodyStart + contentLength) : bytes.length
  return end === bodyStart ? message : { ...message, body: bytes.subarray(bodyStart, end) }
}

/** Skips CRLFs before the start line: RFC 3261 §7.5. */
export function skipLeadingBlankLines(bytes: Uint8Array): number {
  let start = 0
  while (bytes[start] === carriageReturn || bytes[start] === lineFeed) start += 1
  return start
}

/**
 * Returns the offset of the body, or -1 while the empty line is missing. Deviation from RFC 3261 §7: a bare LF also
 * ends a line, as simple devices send it. Framing and splitting agree, so this cannot lead to two readings of one
 * message here.
 */
export function findBodyStart(bytes: Uint8Array, from: number): number {
  let lineEnd = bytes.indexOf(lineFeed, from)
  while (lineEnd !== -1) {
    const next = bytes[lineEnd + 1]
    if (next === lineFeed) return lineEnd + 2
    if (next === carriageReturn && bytes[lineEnd + 2] === lineFeed) return lineEnd + 3
    lineEnd = bytes.indexOf(lineFeed, lineEnd + 1)
  }
  return -1
}

/** Parses the start line and headers; `bodyStart` is the result of `findBodyStart`. The message has an empty body. */
export function parseHead(bytes: Uint8Array, start: number, bodyStart: number): MessageHead {
  const text = Buffer.from(bytes.buffer, bytes.byteOffset + start, bodyStart - start).toString('utf8')
  const firstEnd = text.indexOf('\n')
  const startLine = text.slice(0, text.charCodeAt(firstEnd - 1) === carriageReturn ? firstEnd - 1 : firstEnd)
  const { headers, isTooLarge, fault } = parseHeaders(text, firstEnd + 1)
  const message = toMessage(startLine, headers)
  const whole = isTooLarge ? { ...message, tooLarge: 513 as const } : message
  if (fault === undefined) return { message: whole, bodyStart, contentLength: contentLengthOf(headers) }
  // The line that could not be parsed may be the one with the length.
  return { message: toAnswerable(whole, fault), bodyStart, contentLength: Number.NaN }
}

/**
 * Marks a request for a 400 with `fault`. Throws if that cannot be sent: RFC 3261 §17 has no response to an ACK or a
 * response.
 */
function toAnswerable(message: SipMessage, fault: string): SipMessage {
  const isAnswerable = message.kind === 'request' && message.method !== 'ACK'
  if (!isAnswerable || headerOf(message, 'via') === undefined) throw malformed(fault)
  return { ...message, malformed: message.malformed ?? fault }
}

// RFC 3261 §17.1.3: the sender matches the response to its request by these, and proxies cannot forward it without
// them.
const matched: ReadonlySet<string> = new Set(['via', 'cseq'])
// RFC 3261 §8.2.6.2: the other fields that a response copies.
const repeated: ReadonlySet<string> = new Set(['from', 'to', 'call-id'])
// With the field that frames the body: these are parsed even beyond the limit.
const answerable: ReadonlySet<string> = new Set([...matched, ...repeated, 'content-length'])

interface Headers {
  readonly headers: readonly HeaderField[]
  readonly isTooLarge: boolean
  /** The fault of the first line that could not be parsed. */
  readonly fault: string | undefined
}

/** A line that cannot be parsed, with its name if it has one. */
interface BadLine {
  readonly name?: string
  /** The value as received, with its control characters. */
  readonly value?: string
  readonly fault: string
}

const controls = /\p{Cc}+/gu

/** Leaves out fields beyond the limits and lines that cannot be parsed. */
function parseHeaders(text: string, from: number): Headers {
  const headers: HeaderField[] = []
  let isTooLarge = false
  let fault: string | undefined
  let position = from
  while (position < text.length) {
    let lineEnd = text.indexOf('\n', position)
    if (lineEnd === -1) lineEnd = text.length
    if (lineEnd - position <= 1 && text.slice(position, lineEnd).trim() === '') break
    let isFolded = false
    // RFC 3261 §7.3.1: a line that begins with white space continues the one before.
    while (isBlank(text.charCodeAt(lineEnd + 1))) {
      const nextEnd = text.indexOf('\n', lineEnd + 1)
      lineEnd = nextEnd === -1 ? text.length : nextEnd
      isFolded = true
    }
    const isTooLong = lineEnd - position > messageLimits.headerChars
    const field = isTooLong ? undefined : parseHeaderLine(text.slice(position, lineEnd), isFolded)
    position = lineEnd + 1
    if (field !== undefined && 'fault' in field) {
      fault ??= field.fault
      const { name = '', value = '' } = field
      if (matched.has(name)) throw malformed(field.fault)
      if (!repeated.has(name) || headers.length >= 2 * messageLimits.headerCount) continue
      // Deviation from RFC 3261 §8.2.6.2: the 400 copies these fields without control characters, which no response
      // may have.
      headers.push({ name, value: value.replaceAll(controls, ' ') })
      continue
    }
    const room = messageLimits.headerCount * (field !== undefined && answerable.has(field.name) ? 2 : 1)
    if (field !== undefined && headers.length < room) headers.push(field)
    else isTooLarge = true
  }
  return { headers, isTooLarge, fault }
}

function parseHeaderLine(text: string, isFolded: boolean): HeaderField | BadLine {
  const colon = text.indexOf(':')
  if (colon === -1) return { fault: 'Header field without a colon' }
  let nameEnd = colon
  while (nameEnd > 0 && isBlank(text.charCodeAt(nameEnd - 1))) nameEnd -= 1
  const name = canonicalName(text.slice(0, nameEnd))
  if (name === undefined) return { fault: 'A header field name is not a token' }
  const line = text.slice(colon + 1)
  const value = (isFolded ? unfold(line) : line).trim()
  if (value.includes('\r')) return { name, value, fault: 'Bare CR in a header field' }
  if (value.includes('\0') && !isHeaderSafe(value)) return { name, value, fault: 'NUL in a header field' }
  return { name, value }
}

function unfold(lines: string): string {
  return lines
    .split('\n')
    .map((line) => line.trim())
    .join(' ')
}

function isBlank(code: number): boolean {
  return code === space || code === tab
}

const statusLine = /^(SIP\/\d+\.\d+) (\d+)(?: (.*))?$/i
// White space around and inside the Request-URI, line separators included, is kept in `uri` or `version`: validate.ts
// refuses it with 400.
const requestLine = /^([^ \t]+) (.*\S)[ \t]+(SIP\/\d+\.\d+[ \t]*)$/is

function toMessage(line: string, headers: readonly HeaderField[]): SipMessage {
  if (line.length > messageLimits.headerChars) return toLongRequest(line, headers)
  const response = statusLine.exec(line)
  if (response !== null) {
    const [, version = '', status = '', reason = ''] = response
    return { kind: 'response', version, status: Number(status), reason: sane(reason), headers, body: noBytes }
  }
  const request = requestLine.exec(line)
  if (request === null) throw malformed('Start line is neither a request line nor a status line')
  const [, method = '', uri = '', version = ''] = request
  if (!isToken(method)) {
    const unnamed = { kind: 'request', method: 'INVALID', uri, version, headers, body: noBytes } as const
    return toAnswerable(unnamed, 'Method is not a token')
  }
  const isCut = line[method.length + 1 + uri.length + 1] === ' '
  return { kind: 'request', version, method, uri: isCut ? `${uri} ` : uri, headers, body: noBytes }
}

/** Returns the reason phrase without control characters: RFC 3261 §25.1 has none there, and no response may have one. */
function sane(reason: string): string {
  return reason.slice(0, messageLimits.reasonChars).replaceAll(controls, ' ')
}

/** Leaves out the Request-URI: no target has a name of that length. */
function toLongRequest(line: string, headers: readonly HeaderField[]): SipMessage {
  const method = line.slice(0, line.indexOf(' '))
  if (!isToken(method) || !/ SIP\/2\.0$/i.test(line.slice(-8))) throw malformed('Start line too long')
  return { kind: 'request', method, uri: 'sip:invalid', tooLarge: 414, headers, body: noBytes }
}

/** Returns the Content-Length: RFC 3261 §20.14. Several fields give no length (RFC 4475 §3.3.9). */
function contentLengthOf(headers: readonly HeaderField[]): number | undefined {
  let length: number | undefined
  for (const { name, value } of headers) {
    if (name !== 'content-length') continue
    length = length === undefined && /^\d{1,9}$/.test(value) ? Number(value) : Number.NaN
  }
  return length
}
