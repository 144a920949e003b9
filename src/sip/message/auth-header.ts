// Credentials and challenges: Authorization, Proxy-Authorization, WWW-Authenticate, Proxy-Authenticate: RFC 3261 §20.7.
import { isToken } from './header-names.ts'
import { quoted, splitOutside, unquote } from './list.ts'
import { malformed } from './malformed.ts'

export interface AuthHeader {
  /** Lower case: `digest`. */
  readonly scheme: string
  /** By lower-case name, quotes and escapes removed. */
  readonly params: ReadonlyMap<string, string>
}

/** Parses one header field; RFC 3261 §7.3.1 forbids joining several with commas. */
export function parseAuthHeader(text: string): AuthHeader {
  const space = text.search(/\s/)
  const scheme = (space === -1 ? text : text.slice(0, space)).toLowerCase()
  if (!isToken(scheme)) throw malformed('Bad authentication scheme')
  const params = new Map<string, string>()
  // Credentials of another scheme, such as a bearer token, have no fixed form: only the scheme is returned.
  if (scheme !== 'digest') return { scheme, params }
  for (const part of space === -1 ? [] : splitOutside(text.slice(space + 1), ',')) {
    if (part === '') continue
    const equals = part.indexOf('=')
    const name = part.slice(0, Math.max(0, equals)).trim().toLowerCase()
    if (!isToken(name)) throw malformed('Bad authentication parameter')
    // A repeated parameter would let two readers of the header see two different credentials.
    if (params.has(name)) throw malformed('Repeated authentication parameter')
    params.set(name, unquote(part.slice(equals + 1).trim()))
  }
  return { scheme, params }
}

// RFC 7616 §3.4 and §3.3: these are sent without quotes, all others with quotes.
const bareParams = new Set(['algorithm', 'stale', 'nc', 'qop'])

/** Writes the header. `qop` is bare in credentials and quoted in a challenge, as RFC 7616 requires. */
export function serializeAuthHeader(header: AuthHeader, kind: 'challenge' | 'credentials'): string {
  const scheme = header.scheme === 'digest' ? 'Digest' : header.scheme
  const parts = [...header.params].map(([name, value]) => {
    const isBare = bareParams.has(name) && !(name === 'qop' && kind === 'challenge')
    return `${name}=${isBare ? value : quoted(value)}`
  })
  return `${scheme} ${parts.join(', ')}`
}
