// The content of a body: the parts of a multipart body (RFC 5621 §3, RFC 2046 §5.1), and the session description among
// them.
import { headerOf, type SipMessage } from './message.ts'

export interface BodyPart {
  readonly type: string
  readonly content: string
}

interface Part extends BodyPart {
  readonly disposition: string
}

// SIPREC and ISUP trunks send at most three, and one level of nesting.
const maxParts = 16
const maxDepth = 3
// MIME-Version and the Content headers of one part.
const maxHeadChars = 4_096

// RFC 7866 §9.1: the metadata of a recording client about the conversation it sends, also without an offer. Older
// clients leave out the +xml.
export const recordingMetadata: readonly string[] = ['application/rs-metadata+xml', 'application/rs-metadata']

/** Returns the body, or the parts of a multipart body, with nested parts in the place of their parent. */
export function bodyParts(message: SipMessage): readonly BodyPart[] {
  return partsOf(message).map(({ type, content }) => ({ type, content }))
}

/** Returns the SDP of a message, undefined if it has none. The last of several alternatives is the preferred one. */
export function sdpOf(message: SipMessage): string | undefined {
  const found = partsOf(message).filter(
    ({ type, disposition }) => isSdp(type) && !isEarlySession(disposition),
  )
  const isAlternative = mediaTypeOf(typeOf(message)) === 'multipart/alternative'
  return (isAlternative ? found.at(-1) : found[0])?.content
}

/**
 * Reports whether a multipart body lacks the delimiters that its Content-Type announces, so that its content is
 * unknown.
 */
export function isBrokenMultipart(message: SipMessage): boolean {
  return isMultipart(typeOf(message)) && partsOf(message).every(({ type }) => isMultipart(type))
}

/** Returns a Content-Type or an element of Accept without its parameters, in lower case. */
export function mediaTypeOf(value: string): string {
  return (value.split(';', 1)[0] ?? '').trim().toLowerCase()
}

/** Reports whether the body may be ignored if it is not understood: RFC 3204 §6. */
export function isOptionalBody(message: SipMessage): boolean {
  return hasHandling(headerOf(message, 'content-disposition') ?? '', 'optional')
}

/**
 * Reports whether a part must be understood and has none of these types. Deviation from RFC 3261 §20.11: a part that
 * does not say so may be ignored, since carriers send ISUP and locations like that.
 */
export function demandsOtherType(message: SipMessage, types: readonly string[]): boolean {
  return demandsOther(wholeOf(message), types, maxDepth)
}

/** One of several alternatives suffices. */
function demandsOther(part: Part, types: readonly string[], depth: number): boolean {
  const boundary = boundaryOf(part.type)
  const type = mediaTypeOf(part.type)
  if (boundary === undefined || depth === 0)
    return hasHandling(part.disposition, 'required') && !types.includes(type)
  if (hasHandling(part.disposition, 'optional')) return false
  const inner = split(part.content, boundary)
  const demands = (one: Part): boolean => demandsOther(one, types, depth - 1)
  return type === 'multipart/alternative' ? inner.length > 0 && inner.every(demands) : inner.some(demands)
}

function hasHandling(disposition: string, handling: 'optional' | 'required'): boolean {
  return new RegExp(`;\\s*handling\\s*=\\s*${handling}`, 'i').test(disposition)
}

function typeOf(message: SipMessage): string {
  return headerOf(message, 'content-type') ?? 'application/octet-stream'
}

function isMultipart(type: string): boolean {
  return mediaTypeOf(type).startsWith('multipart/')
}

function isSdp(type: string): boolean {
  return mediaTypeOf(type) === 'application/sdp'
}

/** Reports whether the part describes other media than those of the call: RFC 3959 §3. */
function isEarlySession(disposition: string): boolean {
  return mediaTypeOf(disposition) === 'early-session'
}

function partsOf(message: SipMessage): readonly Part[] {
  if (message.body.byteLength === 0) return []
  return flatten(wholeOf(message), maxDepth).slice(0, maxParts)
}

function wholeOf(message: SipMessage): Part {
  const content = Buffer.from(message.body).toString('utf8')
  return { type: typeOf(message), content, disposition: headerOf(message, 'content-disposition') ?? '' }
}

function flatten(part: Part, depth: number): readonly Part[] {
  const boundary = boundaryOf(part.type)
  if (boundary === undefined || depth === 0) return [part]
  return split(part.content, boundary).flatMap((inner) => flatten(inner, depth - 1))
}

function boundaryOf(type: string): string | undefined {
  if (!isMultipart(type)) return undefined
  const [, quoted, bare] =
    /;\s*boundary\s*=\s*(?:"([^"]{1,70})"|([^\s";]{1,70})(?=[\s;]|$))/i.exec(type) ?? []
  return quoted ?? bare
}

/** Returns the parts between delimiter lines; text before the first and after the closing delimiter is in no part. */
function split(text: string, boundary: string): readonly Part[] {
  const parts: Part[] = []
  const delimiter = `--${boundary}`
  let start: number | undefined
  for (let at = text.indexOf(delimiter); at !== -1; at = text.indexOf(delimiter, at + delimiter.length)) {
    const after = text.slice(at + delimiter.length, at + delimiter.length + 2)
    const isClosing = after === '--'
    const isLine = at === 0 || text[at - 1] === '\n'
    if (!isLine || (!isClosing && !/^[\r\n \t]|^$/.test(after))) continue
    if (start !== undefined) parts.push(toPart(text.slice(start, at)))
    const lineEnd = text.indexOf('\n', at)
    start = lineEnd === -1 ? text.length : lineEnd + 1
    if (isClosing || parts.length === maxParts) return parts
  }
  // The closing delimiter is missing.
  if (start !== undefined && start < text.length) parts.push(toPart(text.slice(start)))
  return parts
}

function toPart(text: string): Part {
  const withoutHead = /^\r?\n/.exec(text)
  const blank = withoutHead === null ? /\r?\n\r?\n/.exec(text.slice(0, maxHeadChars)) : null
  const head = blank === null ? '' : text.slice(0, blank.index).replace(/\r?\n[ \t]+/g, ' ')
  const bodyStart = blank === null ? (withoutHead?.[0].length ?? 0) : blank.index + blank[0].length
  // The line end before a delimiter belongs to the delimiter.
  const content = text.slice(bodyStart).replace(/\r?\n$/, '')
  const field = (name: string): string | undefined =>
    new RegExp(`^${name}[ \\t]*:[ \\t]*([^\\r\\n]+)`, 'im').exec(head)?.[1]?.trim()
  return {
    type: field('content-type') ?? 'text/plain',
    content,
    disposition: field('content-disposition') ?? '',
  }
}
