// name-addr and addr-spec with parameters: From, To, Contact, Route, Record-Route, Path, Refer-To, P-Asserted-Identity.
import { indexOutside, quoted, splitList, unquote } from './list.ts'
import { malformed } from './malformed.ts'
import { headersOf, type SipMessage } from './message.ts'
import { noParams, parseParams, serializeParams, type Params } from './params.ts'

export interface NameAddr {
  /** The display name without quotes and escapes; undefined if there is none. */
  readonly displayName?: string | undefined
  /** The URI as written; parse it with `parseUri`. */
  readonly uri: string
  /** The header field's parameters (tag, expires, q ...), not the URI's. */
  readonly params: Params
}

// Deviation from RFC 3261 §25.1, where an unquoted display name is tokens: phones that people configure by hand send
// names as they were typed, `Sales (2nd floor): A & B`. A name with characters that separate values or parameters is
// none.
const plainName = /^[^"<>,;\\\p{Cc}]*$/u
const control = /(?!\t)\p{Cc}/u
const quotedString = /^"(?:[^"\\]|\\.)*"$/s

/** Parses one value; split lists with `splitAddresses` first. */
export function parseNameAddr(text: string): NameAddr {
  const open = indexOfBracket(text)
  if (open === -1) return parseAddrSpec(text)
  const close = text.indexOf('>', open)
  if (close === -1) throw malformed('Missing > in an address')
  const name = text.slice(0, open).trim()
  const rest = text.slice(close + 1).trim()
  if (rest !== '' && !rest.startsWith(';')) throw malformed('Unexpected text after an address')
  const params = rest === '' ? noParams : parseParams(rest.slice(1))
  const uri = checkUri(text.slice(open + 1, close))
  const displayName = readName(name)
  return displayName === undefined ? { uri, params } : { displayName, uri, params }
}

/** Returns the name; undefined if there is none, or if it cannot be read: nothing depends on it. */
function readName(name: string): string | undefined {
  if (control.test(name)) throw malformed('Control character in a display name')
  const isGood = quotedString.test(name) || plainName.test(name.replaceAll('\t', ' '))
  return name === '' || !isGood ? undefined : unquote(name)
}

/**
 * Parses an address without <>: every parameter belongs to the header field, and the URI has no comma, ? or ; (RFC
 * 3261 §20).
 */
function parseAddrSpec(text: string): NameAddr {
  const semicolon = text.indexOf(';')
  const uri = checkUri((semicolon === -1 ? text : text.slice(0, semicolon)).trim())
  if (/[?,]/.test(uri)) throw malformed('URI with ? or , outside <>')
  return { uri, params: semicolon === -1 ? noParams : parseParams(text.slice(semicolon + 1)) }
}

function indexOfBracket(text: string): number {
  if (!text.includes('"')) return text.indexOf('<')
  const open = indexOutsideQuotes(text)
  if (open === -2) throw malformed('Unbalanced quotes in a display name')
  return open
}

function indexOutsideQuotes(text: string): number {
  let isQuoted = false
  for (let at = 0; at < text.length; at += 1) {
    const character = text[at]
    if (isQuoted && character === '\\') at += 1
    else if (character === '"') isQuoted = !isQuoted
    else if (character === '<' && !isQuoted) return at
  }
  return isQuoted ? -2 : -1
}

function checkUri(uri: string): string {
  if (!/^[A-Za-z][A-Za-z0-9+.-]*:\S+$/.test(uri) || /[<>"]/.test(uri))
    throw malformed('Bad URI in an address')
  return uri
}

export function serializeNameAddr(address: NameAddr): string {
  const name = address.displayName === undefined ? '' : `${quoted(address.displayName)} `
  return `${name}<${address.uri}>${serializeParams(address.params)}`
}

/** Splits a list of addresses. A part without a URI is the beginning of a name with a comma that is not quoted. */
export function splitAddresses(value: string): string[] {
  const addresses: string[] = []
  let begun = ''
  for (const part of splitList(value)) {
    const text = `${begun}${part}`
    const isWhole = part === '*' || part.includes('<') || /^[A-Za-z][A-Za-z0-9+.-]*:/.test(part)
    if (isWhole) addresses.push(text)
    begun = isWhole ? '' : `${text}, `
  }
  return begun === '' ? addresses : [...addresses, begun]
}

/** Returns all values of a field that may be repeated and listed, in order. */
export function nameAddrsOf(message: SipMessage, name: string): NameAddr[] {
  return headersOf(message, name).flatMap((value) => splitAddresses(value).map(parseNameAddr))
}

/** Returns the tag of a From or To value, cheaper than parsing all of it; undefined if it has none. */
export function tagOf(value: string | undefined): string | undefined {
  if (value === undefined) return undefined
  let semicolon = indexOutside(value, ';')
  while (semicolon !== -1) {
    const next = indexOutside(value, ';', semicolon + 1)
    const param = value.slice(semicolon + 1, next === -1 ? value.length : next)
    const tag = /^\s*tag\s*=\s*([^\s=]+)\s*$/i.exec(param)?.[1]
    if (tag !== undefined) return tag
    semicolon = next
  }
  return undefined
}
