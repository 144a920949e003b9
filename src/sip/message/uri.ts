// SIP, SIPS and tel URIs (RFC 3261 §19.1, RFC 3966): parsing, writing and comparing.
import { isIPv6 } from 'node:net'
import { malformed } from './malformed.ts'
import { noParams, serializeParams, type Params } from './params.ts'

export interface SipUri {
  readonly scheme: 'sip' | 'sips'
  /** The user as written, with its escapes; see `unescapeUri`. */
  readonly user?: string
  readonly password?: string
  /** In lower case; an IPv6 address without its brackets. */
  readonly host: string
  readonly port?: number
  readonly params: Params
  readonly headers: ReadonlyMap<string, string>
}

export interface TelUri {
  readonly scheme: 'tel'
  /** The number as written, with its visual separators. */
  readonly number: string
  readonly params: Params
}

export type Uri = SipUri | TelUri

const noHeaders: ReadonlyMap<string, string> = new Map()
const schemePattern = /^([A-Za-z][A-Za-z0-9+.-]*):/
const badEscape = /%(?![0-9A-Fa-f]{2})/
// user-unreserved and unreserved of RFC 3261 §25.1, and `#` and `[]`, which telephone dial strings contain unescaped.
const userPattern = /^[A-Za-z0-9\-_.!~*'()&=+$,;?/%#[\]]+$/
const passwordPattern = /^[A-Za-z0-9\-_.!~*'()&=+$,%]*$/
const hostName = /^[A-Za-z0-9_.-]+$/
const badLabel = /^\.|\.\.|(?:^|\.)-|-(?:\.|$)/
const paramPattern = /^[A-Za-z0-9\-_.!~*'()[\]/:&+$%]+$/
const headerPattern = /^[A-Za-z0-9\-_.!~*'()[\]/?:+$%;@,&]*$/

/** Returns the scheme in lower case, or undefined if the text has none. */
export function schemeOf(text: string): string | undefined {
  return schemePattern.exec(text)?.[1]?.toLowerCase()
}

/** Parses a URI; refuses schemes other than sip, sips and tel. Check `schemeOf` first where those must get a 416. */
export function parseUri(text: string): Uri {
  const scheme = schemeOf(text)
  if (scheme === 'sip' || scheme === 'sips') return parseSipUri(scheme, text.slice(scheme.length + 1))
  if (scheme === 'tel') return parseTelUri(text.slice(4))
  throw malformed('URI scheme is not sip, sips or tel')
}

/** Parses a URI like `parseUri`, but returns undefined if that refuses it. */
export function tryParseUri(text: string): Uri | undefined {
  try {
    return parseUri(text)
  } catch {
    return undefined
  }
}

function parseSipUri(scheme: 'sip' | 'sips', rest: string): SipUri {
  const at = indexOfUserEnd(rest)
  const afterUser = at === -1 ? rest : rest.slice(at + 1)
  const question = afterUser.indexOf('?')
  const beforeHeaders = question === -1 ? afterUser : afterUser.slice(0, question)
  const semicolon = beforeHeaders.indexOf(';')
  const hostPort = semicolon === -1 ? beforeHeaders : beforeHeaders.slice(0, semicolon)
  return {
    scheme,
    ...(at === -1 ? undefined : parseUserInfo(rest.slice(0, at))),
    ...parseHostPort(hostPort),
    params: semicolon === -1 ? noParams : parseUriParams(beforeHeaders.slice(semicolon + 1)),
    headers: question === -1 ? noHeaders : parseUriHeaders(afterUser.slice(question + 1)),
  }
}

/**
 * Returns the position of the `@` before the host. A user name that is an e-mail address should have its own escaped,
 * and often has not: the last one before the port, the parameters and the headers counts.
 */
function indexOfUserEnd(rest: string): number {
  const first = rest.indexOf('@')
  if (first === -1) return -1
  const end = rest.slice(first + 1).search(/[;?]/)
  return end === -1 ? rest.lastIndexOf('@') : rest.slice(0, first + 1 + end).lastIndexOf('@')
}

function parseUserInfo(text: string): { user: string; password?: string } {
  const colon = text.indexOf(':')
  const user = (colon === -1 ? text : text.slice(0, colon)).replaceAll('@', '%40')
  if (!userPattern.test(user) || badEscape.test(user)) throw malformed('Bad user part in a URI')
  if (colon === -1) return { user }
  const password = text.slice(colon + 1)
  if (!passwordPattern.test(password) || badEscape.test(password)) throw malformed('Bad password in a URI')
  return { user, password }
}

/** Parses `host`, `host:port`, `[v6]` or `[v6]:port`; also the sent-by of a Via. */
export function parseHostPort(text: string): { host: string; port?: number } {
  const bracketEnd = text.startsWith('[') ? text.indexOf(']') : -1
  const colon = text.indexOf(':', bracketEnd + 1)
  const hostText = (colon === -1 ? text : text.slice(0, colon)).trim()
  const isV6 = bracketEnd !== -1
  // Three colons come from an error in the grammar of RFC 3261 §25.1; RFC 5118 §4.10 asks to be lenient.
  const host = (isV6 ? hostText.slice(1, -1).replace(':::', '::') : hostText).toLowerCase()
  const isGood = isV6
    ? hostText.endsWith(']') && isIPv6(host) && !host.includes('%')
    : hostName.test(host) && !badLabel.test(host)
  if (!isGood || host.length > 255) throw malformed('Bad host')
  if (colon === -1) return { host }
  const port = text.slice(colon + 1).trim()
  if (!/^\d{1,5}$/.test(port) || Number(port) > 65_535) throw malformed('Bad port')
  return { host, port: Number(port) }
}

function parseUriParams(text: string): Params {
  const params = new Map<string, string | undefined>()
  for (const part of text.split(';')) {
    if (part === '') continue
    const equals = part.indexOf('=')
    const name = (equals === -1 ? part : part.slice(0, equals)).toLowerCase()
    const value = equals === -1 ? undefined : part.slice(equals + 1)
    if (!paramPattern.test(name) || (value !== undefined && value !== '' && !paramPattern.test(value))) {
      throw malformed('Bad parameter in a URI')
    }
    if (badEscape.test(part)) throw malformed('Bad escape in a URI')
    // RFC 3261 §19.1.1: a parameter name must not appear more than once.
    if (params.has(name)) throw malformed('Repeated parameter in a URI')
    params.set(name, value)
  }
  return params
}

function parseUriHeaders(text: string): ReadonlyMap<string, string> {
  const headers = new Map<string, string>()
  for (const part of text.split('&')) {
    const equals = part.indexOf('=')
    if (equals < 1 || !headerPattern.test(part.replace('=', '')) || badEscape.test(part)) {
      throw malformed('Bad header in a URI')
    }
    headers.set(part.slice(0, equals).toLowerCase(), part.slice(equals + 1))
  }
  return headers
}

function parseTelUri(rest: string): TelUri {
  const semicolon = rest.indexOf(';')
  const number = semicolon === -1 ? rest : rest.slice(0, semicolon)
  // RFC 3966 §3: a global number has digits after its +, a local one may have *, # and hex digits. The part before the
  // first digit takes no digits, as the time would be quadratic.
  if (!/^(?:\+[-.()]*\d[\d\-.()]*|[-.()]*[\dA-Fa-f*#][\dA-Fa-f*#\-.()]*)$/.test(number)) {
    throw malformed('Bad number in a tel URI')
  }
  return {
    scheme: 'tel',
    number,
    params: semicolon === -1 ? noParams : parseUriParams(rest.slice(semicolon + 1)),
  }
}

// ITU-T E.164 §6.2.1: a country code has up to three digits, a whole number fifteen.
const countryCode = /^\+\d{1,3}$/
const nationalNumber = /^\d{4,14}$/

/**
 * Returns the number of a tel URI, or of the user part of a SIP URI (RFC 3261 §19.1.6), without visual separators. A
 * local number within a country (`;phone-context=+44`) becomes the global number. Any other context does not show
 * which digits are missing, and is left out (RFC 3966 §5.1.5).
 */
export function telephoneNumber(number: string, phoneContext: string | undefined): string {
  const digits = number.replace(/[-.()]/g, '')
  const context = phoneContext?.replace(/[-.()]/g, '') ?? ''
  return countryCode.test(context) && nationalNumber.test(digits) ? context + digits : digits
}

// The part before the first digit takes no digits, as the time would be quadratic. A `-` may also be part of a name.
const telephone = /^\+?[-.()]*\d[\d\-.()]*$/

/**
 * Returns the telephone number that the user part of a SIP URI is, without its parameters (RFC 3966 §3), such as the
 * verstat, cpc and npdi of carriers; undefined for any other user.
 */
export function telephoneUser(user: string): string | undefined {
  const [number = '', ...params] = user.split(';')
  if (!telephone.test(number)) return undefined
  const context = params.find((param) => /^phone-context=/i.test(param))?.slice('phone-context='.length)
  return telephoneNumber(number, context)
}

export function serializeUri(uri: Uri): string {
  if (uri.scheme === 'tel') return `tel:${uri.number}${serializeParams(uri.params)}`
  const password = uri.password === undefined ? '' : `:${uri.password}`
  const userInfo = uri.user === undefined ? '' : `${uri.user}${password}@`
  const headers = [...uri.headers].map(([name, value]) => `${name}=${value}`).join('&')
  const query = headers === '' ? '' : `?${headers}`
  return `${uri.scheme}:${userInfo}${serializeHostPort(uri)}${serializeParams(uri.params)}${query}`
}

export function serializeHostPort(place: {
  readonly host: string
  readonly port?: number | undefined
}): string {
  const host = place.host.includes(':') ? `[${place.host}]` : place.host
  return place.port === undefined ? host : `${host}:${place.port}`
}

/** Turns `%41` into `A`; sequences that are not UTF-8 stay as they are. */
export function unescapeUri(text: string): string {
  if (!text.includes('%')) return text
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}

/** Turns text into the user part of a SIP URI: characters that RFC 3261 §25.1 does not allow there are escaped. */
export function escapeUser(text: string): string {
  return encodeURIComponent(text.toWellFormed()).replace(/%(?:26|3D|2B|24|2C|3B|3F|2F)/gi, decodeURIComponent)
}

// RFC 3261 §19.1.2 table 1: these make two URIs differ even when only one of them has the parameter.
const comparedWhenAlone = ['user', 'ttl', 'method', 'maddr', 'transport']

/** Compares URIs by RFC 3261 §19.1.4. As the RFC says, neither default ports nor default transports are assumed. */
export function areUrisEqual(a: Uri, b: Uri): boolean {
  if (a.scheme === 'tel' || b.scheme === 'tel') {
    return a.scheme === 'tel' && b.scheme === 'tel' && areTelUrisEqual(a, b)
  }
  return (
    a.scheme === b.scheme &&
    comparable(a.user) === comparable(b.user) &&
    comparable(a.password) === comparable(b.password) &&
    a.host === b.host &&
    a.port === b.port &&
    areParamsEqual(a.params, b.params) &&
    areHeadersEqual(a.headers, b.headers)
  )
}

/** Compares tel URIs by RFC 3966 §4: visual separators do not count. */
function areTelUrisEqual(a: TelUri, b: TelUri): boolean {
  const plain = (uri: TelUri): string => uri.number.replace(/[-.()]/g, '').toLowerCase()
  if (plain(a) !== plain(b) || a.params.size !== b.params.size) return false
  return [...a.params].every(
    ([name, value]) => comparableParam(b.params.get(name)) === comparableParam(value),
  )
}

/** Decodes escapes of characters that need none, and keeps those of reserved ones (RFC 3261 §19.1.4). */
function comparable(text: string | undefined): string | undefined {
  return text?.replace(/%[0-9A-Fa-f]{2}/g, (escape) => {
    const character = String.fromCharCode(Number.parseInt(escape.slice(1), 16))
    return /[A-Za-z0-9\-_.!~*'()]/.test(character) ? character : escape.toUpperCase()
  })
}

function comparableParam(text: string | undefined): string | undefined {
  return comparable(text)?.toLowerCase()
}

function areParamsEqual(a: Params, b: Params): boolean {
  const names = new Set([...a.keys(), ...b.keys()])
  for (const name of names) {
    const areBoth = a.has(name) && b.has(name)
    if (!areBoth && comparedWhenAlone.includes(name)) return false
    if (areBoth && comparableParam(a.get(name)) !== comparableParam(b.get(name))) return false
  }
  return true
}

function areHeadersEqual(a: ReadonlyMap<string, string>, b: ReadonlyMap<string, string>): boolean {
  if (a.size !== b.size) return false
  for (const [name, value] of a) if (comparable(b.get(name)) !== comparable(value)) return false
  return true
}
