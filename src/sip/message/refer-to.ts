// Refer-To: the target of a REFER, and the header fields it embeds for the new INVITE (RFC 3515 §2.1, RFC 3261
// §19.1.5).
import { canonicalName } from './header-names.ts'
import { malformed } from './malformed.ts'
import type { HeaderField } from './message.ts'
import { parseNameAddr, serializeNameAddr } from './name-addr.ts'
import { noParams } from './params.ts'
import { parseReplaces, serializeReplaces, type ReplacesId } from './replaces.ts'
import { reservedHeaders } from './reserved-headers.ts'
import { isHeaderSafe } from './serialize-message.ts'
import { parseUri, schemeOf } from './uri.ts'

export interface ReferTo {
  /** The URI to call, without the header fields embedded in it. */
  readonly uri: string
  readonly displayName?: string | undefined
  /** The dialog that the new call replaces. */
  readonly replaces?: ReplacesId | undefined
  /** The other embedded header fields, without those that only the stack may write. */
  readonly headers: readonly HeaderField[]
}

// A URI with a Replaces has a few hundred characters; the rest is room for an application's own fields.
const maxChars = 4_096
const maxHeaders = 16
const maxValueChars = 512

/**
 * Parses Refer-To. Undefined for a scheme that cannot be called, which gets 416: RFC 3515 §2.4.2. Throws if it is not
 * an address.
 */
export function parseReferTo(text: string): ReferTo | undefined {
  if (text.length > maxChars) throw malformed('Refer-To is too long')
  const { displayName, uri: whole } = parseNameAddr(text)
  const scheme = schemeOf(whole)
  if (scheme !== 'sip' && scheme !== 'sips' && scheme !== 'tel') return undefined
  const question = whole.indexOf('?')
  const uri = question === -1 ? whole : whole.slice(0, question)
  const method = parseUri(uri).params.get('method')
  if (method !== undefined && method.toUpperCase() !== 'INVITE')
    throw malformed('Refer-To asks for another method')
  const embedded = question === -1 ? [] : embeddedFields(whole.slice(question + 1))
  const replaces = embedded.filter(({ name }) => name === 'replaces')
  if (replaces.length > 1) throw malformed('Replaces appears twice')
  return {
    uri,
    ...(displayName === undefined ? {} : { displayName }),
    ...(replaces[0] === undefined ? {} : { replaces: parseReplaces(replaces[0].value) }),
    headers: embedded.filter(({ name }) => name !== 'replaces' && isOpenToAll(name)),
  }
}

/** Writes a value for Refer-To; with `replaces`, the URI may have no header fields of its own. */
export function serializeReferTo({ uri, displayName, replaces }: Omit<ReferTo, 'headers'>): string {
  const query = replaces === undefined ? '' : `?Replaces=${encodeURIComponent(serializeReplaces(replaces))}`
  return serializeNameAddr({ displayName, uri: `${uri}${query}`, params: noParams })
}

/**
 * Parses the embedded fields. Phones leave `;` and `=` unescaped, against RFC 3261 §25.1. A field that is too long, or
 * not one safe line, is left out.
 */
function embeddedFields(query: string): readonly HeaderField[] {
  const fields: HeaderField[] = []
  for (const part of query.split('&', maxHeaders + 1)) {
    const equals = part.indexOf('=')
    const name = canonicalName(unescape(equals === -1 ? part : part.slice(0, equals)) ?? '')
    const value = equals === -1 ? '' : unescape(part.slice(equals + 1))?.trim()
    if (fields.length === maxHeaders) break
    if (name !== undefined && value !== undefined && value.length <= maxValueChars && isHeaderSafe(value))
      fields.push({ name, value })
  }
  return fields
}

/** Returns undefined for text that is not UTF-8. */
function unescape(text: string): string | undefined {
  try {
    return decodeURIComponent(text)
  } catch {
    return undefined
  }
}

// RFC 3261 §19.1.5: fields that would change the caller, the route or the body. `body` stands for a body.
const closed = new Set(['body', 'refer-to', 'refer-sub', 'p-asserted-identity', 'p-preferred-identity'])

function isOpenToAll(name: string): boolean {
  return !reservedHeaders.has(name) && !closed.has(name)
}
