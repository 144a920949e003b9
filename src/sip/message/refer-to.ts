// Refer-To: whom a REFER wants called, and what the URI wants in that INVITE (RFC 3515 §2.1, RFC 3261 §19.1.5).
import { canonicalName } from './header-names.ts'
import { malformed } from './malformed.ts'
import type { HeaderField } from './message.ts'
import { parseNameAddr, serializeNameAddr } from './name-addr.ts'
import { noParams } from './params.ts'
import { parseReplaces, serializeReplaces } from './replaces.ts'
import type { ReplacesId } from './replaces.ts'
import { reservedHeaders } from './reserved-headers.ts'
import { isHeaderSafe } from './serialize-message.ts'
import { parseUri, schemeOf } from './uri.ts'

export interface ReferTo {
  /** What is to be called, without the header fields that it embeds. */
  readonly uri: string
  readonly displayName?: string
  /** The dialog that the new call takes the place of. */
  readonly replaces?: ReplacesId
  /** The other header fields that it embeds; none that the stack writes alone. */
  readonly headers: readonly HeaderField[]
}

// A URI with a Replaces in it has some hundred; the rest is room for what an application puts beside it.
const maxChars = 4_096
const maxHeaders = 16
const maxValueChars = 512

/** Undefined for a scheme that cannot be called: RFC 3515 §2.4.2 answers it 416. Throws where it is no address. */
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
  if (replaces.length > 1) throw malformed('Replaces stands there twice')
  return {
    uri,
    ...(displayName === undefined ? {} : { displayName }),
    ...(replaces[0] === undefined ? {} : { replaces: parseReplaces(replaces[0].value) }),
    headers: embedded.filter(({ name }) => name !== 'replaces' && isOpenToAll(name)),
  }
}

/** A value for Refer-To; the URI may have no header fields of its own where `replaces` is given. */
export function serializeReferTo({ uri, displayName, replaces }: Omit<ReferTo, 'headers'>): string {
  const query = replaces === undefined ? '' : `?Replaces=${encodeURIComponent(serializeReplaces(replaces))}`
  const name = displayName === undefined ? {} : { displayName }
  return serializeNameAddr({ ...name, uri: `${uri}${query}`, params: noParams })
}

/**
 * Phones write `;` and `=` in there as they are, which RFC 3261 §25.1 wants escaped. A field that makes no safe line, or
 * is too long, is left out.
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

/** Undefined for what is no UTF-8. */
function unescape(text: string): string | undefined {
  try {
    return decodeURIComponent(text)
  } catch {
    return undefined
  }
}

// RFC 3261 §19.1.5: what would change who calls, by which way, or what the body is. `body` stands for a body.
const closed = new Set(['body', 'refer-to', 'refer-sub', 'p-asserted-identity', 'p-preferred-identity'])

function isOpenToAll(name: string): boolean {
  return !reservedHeaders.has(name) && !closed.has(name)
}
