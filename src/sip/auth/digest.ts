// Digest authentication, both sides: RFC 3261 §22 with the hashes of RFC 8760 and the rules of RFC 7616.
import { hash, randomBytes, timingSafeEqual } from 'node:crypto'
import { parseAuthHeader, serializeAuthHeader, type AuthHeader } from '../message/auth-header.ts'
import { headersOf, type HeaderField, type SipRequest, type SipResponse } from '../message/message.ts'

export type DigestAlgorithm = 'MD5' | 'SHA-256'

const hashOf: Readonly<Record<DigestAlgorithm, string>> = { MD5: 'md5', 'SHA-256': 'sha256' }

export interface DigestInput {
  readonly algorithm: DigestAlgorithm
  readonly username: string
  readonly realm: string
  readonly password: string
  readonly method: string
  readonly uri: string
  readonly nonce: string
  /** Absent for an RFC 2069 user agent, which hashes only the nonce. */
  readonly qop?: { readonly cnonce: string; readonly nc: string } | undefined
  /** The body of the request, with qop=auth-int. */
  readonly body?: Uint8Array | undefined
}

/** Returns the `response` of RFC 7616 §3.4.1 with qop=auth or auth-int (§3.4.3), or the older form without qop. */
export function digestResponse(input: DigestInput): string {
  const digest = (text: string): string => hash(hashOf[input.algorithm], text)
  const secret = digest(`${input.username}:${input.realm}:${input.password}`)
  const { body, qop } = input
  const ofBody = body === undefined ? '' : `:${hash(hashOf[input.algorithm], body)}`
  const target = digest(`${input.method}:${input.uri}${ofBody}`)
  const quality = body === undefined ? 'auth' : 'auth-int'
  const middle = qop === undefined ? input.nonce : `${input.nonce}:${qop.nc}:${qop.cnonce}:${quality}`
  return digest(`${secret}:${middle}:${target}`)
}

/** The content of an Authorization header whose form is valid. */
export interface DigestCredentials {
  readonly algorithm: DigestAlgorithm
  readonly username: string
  readonly realm: string
  readonly uri: string
  readonly nonce: string
  readonly response: string
  readonly qop: { readonly cnonce: string; readonly nc: string } | undefined
}

/** Returns the Digest credentials for `realm` among the Authorization headers. Those for other realms are skipped. */
export function credentialsFor(
  request: SipRequest,
  realm: string,
): DigestCredentials | 'absent' | 'malformed' {
  for (const value of headersOf(request, 'authorization')) {
    const header = tryParse(value)
    if (header === undefined) return 'malformed'
    if (header.scheme !== 'digest') continue
    const found = header.params.get('realm')
    if (found?.toLowerCase() === realm) return toCredentials(header.params) ?? 'malformed'
  }
  return 'absent'
}

function tryParse(value: string): AuthHeader | undefined {
  try {
    return parseAuthHeader(value)
  } catch {
    return undefined
  }
}

function toCredentials(params: ReadonlyMap<string, string>): DigestCredentials | undefined {
  const username = params.get('username')
  const realm = params.get('realm')
  const uri = params.get('uri')
  const nonce = params.get('nonce')
  const response = params.get('response')?.toLowerCase()
  const algorithm = toAlgorithm(params.get('algorithm'))
  if (username === undefined || realm === undefined || uri === undefined) return undefined
  if (nonce === undefined || response === undefined || algorithm === undefined) return undefined
  const isLegacy = params.get('qop') === undefined
  const qop = isLegacy ? undefined : toQop(params)
  if (!isLegacy && qop === undefined) return undefined
  return { algorithm, username, realm, uri, nonce, response, qop }
}

function toQop(params: ReadonlyMap<string, string>): DigestCredentials['qop'] {
  const cnonce = params.get('cnonce')
  const nc = params.get('nc')
  if (params.get('qop')?.toLowerCase() !== 'auth' || cnonce === undefined) return undefined
  return nc !== undefined && /^[0-9a-f]{8}$/i.test(nc) ? { cnonce, nc } : undefined
}

/** Returns MD5 when the header names no algorithm: RFC 7616 §3.3. */
function toAlgorithm(name: string | undefined): DigestAlgorithm | undefined {
  const upper = name?.toUpperCase() ?? 'MD5'
  return upper === 'MD5' || upper === 'SHA-256' ? upper : undefined
}

/** Compares two texts in a time that does not reveal where they differ. */
export function isSameResponse(expected: string, received: string): boolean {
  return timingSafeEqual(hash('sha256', expected, 'buffer'), hash('sha256', received, 'buffer'))
}

export interface ChallengeOptions {
  readonly realm: string
  readonly nonce: () => string
  readonly algorithms: readonly DigestAlgorithm[]
  readonly isStale: boolean
}

/** Returns one WWW-Authenticate per algorithm, in the order of preference: RFC 8760 §2.4. */
export function challengeHeaders(options: ChallengeOptions): HeaderField[] {
  return options.algorithms.map((algorithm) => {
    const params = new Map([
      ['realm', options.realm],
      ['nonce', options.nonce()],
      ['algorithm', algorithm],
      ['qop', 'auth'],
    ])
    if (options.isStale) params.set('stale', 'true')
    return { name: 'www-authenticate', value: serializeAuthHeader({ scheme: 'digest', params }, 'challenge') }
  })
}

export interface ChallengedRequest {
  readonly method: string
  readonly uri: string
  /** Hashed for a challenge that accepts auth-int alone. */
  readonly body?: Uint8Array
  readonly credentials: { readonly username: string; readonly password: string }
}

/** Returns the header that answers a 401 or 407, or undefined if no challenge in it can be met. */
export function answerChallenge(response: SipResponse, request: ChallengedRequest): HeaderField | undefined {
  const isProxy = response.status === 407
  const challenges = headersOf(response, isProxy ? 'proxy-authenticate' : 'www-authenticate')
  // The topmost challenge that we support: RFC 8760 §2.4.
  for (const value of challenges) {
    const header = tryParse(value)
    if (header?.scheme !== 'digest') continue
    const answer = answerTo(header.params, request)
    if (answer !== undefined)
      return { name: isProxy ? 'proxy-authorization' : 'authorization', value: answer }
  }
  return undefined
}

function answerTo(params: ReadonlyMap<string, string>, request: ChallengedRequest): string | undefined {
  const algorithm = toAlgorithm(params.get('algorithm'))
  const realm = params.get('realm')
  const nonce = params.get('nonce')
  const qops = params
    .get('qop')
    ?.split(',')
    .map((option) => option.trim().toLowerCase())
  if (algorithm === undefined || realm === undefined || nonce === undefined) return undefined
  const quality = ['auth', 'auth-int'].find((option) => qops?.includes(option) === true)
  if (qops !== undefined && quality === undefined) return undefined
  // Each nonce is used once, so its count is always 1.
  const qop = qops === undefined ? undefined : { cnonce: randomBytes(12).toString('hex'), nc: '00000001' }
  const { method, uri } = request
  const { username } = request.credentials
  const body = quality === 'auth-int' ? (request.body ?? new Uint8Array()) : undefined
  const response = digestResponse({ algorithm, ...request.credentials, realm, method, uri, nonce, qop, body })
  const answer = new Map([
    ['username', username],
    ['realm', realm],
    ['nonce', nonce],
    ['uri', uri],
    ['response', response],
    ['algorithm', algorithm],
  ])
  if (qop !== undefined && quality !== undefined)
    answer.set('qop', quality).set('nc', qop.nc).set('cnonce', qop.cnonce)
  const opaque = params.get('opaque')
  if (opaque !== undefined) answer.set('opaque', opaque)
  return serializeAuthHeader({ scheme: 'digest', params: answer }, 'credentials')
}
