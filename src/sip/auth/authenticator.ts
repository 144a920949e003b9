// The server side of digest authentication: the sender of a request, or one of the refusals it can get.
import { randomBytes } from 'node:crypto'
import {
  challengeHeaders,
  credentialsFor,
  digestResponse,
  isSameResponse,
  type DigestAlgorithm,
  type DigestCredentials,
} from './digest.ts'
import { forwardedSource } from '../transport/forwarded-source.ts'
import type { GuessLimit } from './guess-limit.ts'
import type { SipRequest } from '../message/message.ts'
import { areUrisEqual, tryParseUri, type Uri } from '../message/uri.ts'
import type { Nonces, NonceScope } from './nonces.ts'
import { realmOf } from '../message/realm.ts'
import { refusal, tooManyGuesses, unknownRealm } from '../refusal.ts'
import type { Authentication, Judgement, SipDirectory, SipUser } from './directory.ts'
import type { Remote } from '../transport/transports.ts'
import type { Reply } from '../message/reply.ts'

// The most characters of a digest-uri that the journal shows.
const maxUriChars = 256

/**
 * Within a dialog `userRealm` is the realm of the dialog's user: the Request-URI is our Contact, and carriers are not
 * considered.
 */
export type Authenticate = (
  request: SipRequest,
  remote: Remote,
  userRealm?: string,
) => Promise<Authentication>

export interface AuthenticatorOptions {
  readonly directory: SipDirectory
  readonly nonces: Nonces
  readonly guesses: GuessLimit
  /** Reports an address whose X-Forwarded-For is believed. Wrong passwords count at the address that it names. */
  readonly isProxy?: ((address: string) => boolean) | undefined
  /** The algorithms of a challenge, in the order of preference. */
  readonly algorithms?: readonly DigestAlgorithm[] | undefined
}

// Deviation from what RFC 8760 §2.1 would like: SHA-256 is offered on request only, since user agents in wide use give
// up on a challenge that contains an algorithm unknown to them, whatever the order. It is accepted either way.
const defaultAlgorithms: readonly DigestAlgorithm[] = ['MD5']

export function createAuthenticator(options: AuthenticatorOptions): Authenticate {
  const { directory, nonces, guesses, algorithms = defaultAlgorithms, isProxy = () => false } = options
  // An unknown user costs the same work as a wrong password, so that response times do not reveal which names exist.
  const decoyPassword = randomBytes(16).toString('hex')

  const challenge = (scope: NonceScope, isStale: boolean): Authentication => {
    const { realm } = scope
    const headers = challengeHeaders({ realm, algorithms, isStale, nonce: () => nonces.issue(scope) })
    return { verdict: 'challenge', reply: { status: 401, headers, isUnproven: true } }
  }

  /**
   * Returns the user if the credentials match the user's password and the method of this request. The digest-uri may
   * differ from the Request-URI (RFC 3261 §22.4): proxies rewrite the Request-URI, and user agents configured with an
   * address compute with that. The nonce and its count prevent a response from being used twice.
   */
  const proves = (
    user: SipUser | undefined,
    credentials: DigestCredentials,
    request: SipRequest,
  ): SipUser | undefined => {
    const password = user?.password ?? decoyPassword
    // Some user agents hash the name that they send, others the user alone. Both are always computed.
    const matches = [credentials.username, nameIn(credentials)].map((username) =>
      isSameResponse(
        digestResponse({ ...credentials, username, method: request.method, password }),
        credentials.response,
      ),
    )
    return matches.includes(true) ? user : undefined
  }

  return async (request, remote, userRealm) => {
    const realm = userRealm ?? realmOf(request)
    const state = realm === undefined ? 'unknown' : await directory.realmState(realm)
    if (realm === undefined || state === 'unknown') return refuseRealm(request.method)
    if (state === 'inactive') return refuseAccount(request.method, guesses.isWorthRecord(realm))

    const scope = { realm, address: forwardedSource(request, remote.address, isProxy) }
    const credentials = credentialsFor(request, realm)
    // Credentials that cannot be parsed prove nothing about the sender, not even its address.
    if (credentials === 'absent' || credentials === 'malformed') return challenge(scope, false)

    const username = nameIn(credentials)
    const isCall = request.method === 'INVITE' && userRealm === undefined
    const peer = isCall ? await directory.findPeer?.(realm, username) : undefined
    const judge = await directory.judgeOf?.(realm)
    const user = judge === undefined ? await directory.findUser(realm, username) : undefined
    // Without a judge, nothing is awaited from here to the verdict, so guesses that arrive together are still counted
    // one by one. A judge limits by itself how many it checks at the same time. A sender with a nonce of this address
    // can receive there, so the guess is counted there. Others, a forged address or a phone with a new one, get a
    // challenge that does not reveal whether the password was right.
    const nonce = nonces.fresh(credentials.nonce, scope)
    if (nonce === undefined) return challenge(scope, true)
    // The port of a proxy belongs to many phones.
    const guess = { ...scope, port: scope.address === remote.address ? remote.port : 0, username }
    if (!guesses.mayTry(guess)) return refuseGuesses()
    const judgement = judge === undefined ? undefined : await judge({ request, remote, credentials })
    // Both are always checked, so that the response time does not reveal which of them exists.
    const tried = (isCall ? [peer, user] : [user]).map((candidate) => proves(candidate, credentials, request))
    const sender = tried.find((candidate) => candidate !== undefined) ?? judgedUser(credentials, judgement)
    if (sender === undefined) {
      if (judgement?.verdict !== 'refused') {
        guesses.failed(guess)
        return {
          verdict: 'refused',
          code: 'wrong_credentials',
          reply: credentialsRefusal(),
          isWorthRecord: true,
        }
      }
      if (judgement.isGuess) guesses.failed(guess)
      const { code, reply } = judgement
      return {
        verdict: 'refused',
        code,
        reply,
        isWorthRecord: judgement.isGuess || guesses.isWorthRecord(realm),
      }
    }

    const count = credentials.qop === undefined ? undefined : Number.parseInt(credentials.qop.nc, 16)
    // The password is right and only the nonce is too old, so a challenge with a new one suffices: RFC 7616 §3.3,
    // stale.
    if (nonce.use(count) !== 'good') return challenge(scope, true)
    guesses.succeeded(guess)
    const note = digestUriNote(credentials, request)
    return { verdict: 'accepted', user: sender, ...(note === undefined ? {} : { note }) }
  }
}

/**
 * Returns the user of the credentials. User agents with a separate name for authentication send user@realm, which
 * counts as the user if that is the realm of the request.
 */
function nameIn({ username, realm }: DigestCredentials): string {
  const at = username.lastIndexOf('@')
  const isOfRealm = at > 0 && username.slice(at + 1).toLowerCase() === realm.toLowerCase()
  return isOfRealm ? username.slice(0, at) : username
}

function judgedUser(credentials: DigestCredentials, judgement: Judgement | undefined): SipUser | undefined {
  if (judgement?.verdict !== 'accepted') return undefined
  const { verdict: _verdict, ...judged } = judgement
  const { realm } = credentials
  return { username: nameIn(credentials), realm: realm.toLowerCase(), password: undefined, judged }
}

/**
 * Returns a note for the call's journal if the digest-uri differs. Ports and parameters are ignored: proxies change
 * them.
 */
function digestUriNote(credentials: DigestCredentials, request: SipRequest): string | undefined {
  const named = tryParseUri(credentials.uri)
  const actual = tryParseUri(request.uri)
  if (named !== undefined && actual !== undefined && areAlike(named, actual)) return undefined
  return `the digest was computed for ${credentials.uri.slice(0, maxUriChars)}, not for the Request-URI`
}

function areAlike(a: Uri, b: Uri): boolean {
  if (a.scheme === 'tel' || b.scheme === 'tel') return areUrisEqual(a, b)
  return a.user === b.user && a.host === b.host
}

function refuseRealm(method: string): Authentication {
  const status = method === 'REGISTER' ? 403 : 404
  const reply = refusal('unknown_realm', unknownRealm, { status })
  return unproven('unknown_realm', reply, false)
}

function refuseAccount(method: string, isWorthRecord: boolean): Authentication {
  return unproven('account_inactive', accountRefusal(method), isWorthRecord)
}

function refuseGuesses(): Authentication {
  return unproven('locked_out', refusal('locked_out', tooManyGuesses, { status: 403 }), false)
}

function unproven(
  code: 'unknown_realm' | 'account_inactive' | 'locked_out',
  reply: Reply,
  isWorthRecord: boolean,
): Authentication {
  return { verdict: 'refused', code, reply: { ...reply, isUnproven: true }, isWorthRecord }
}

export function accountRefusal(method: string): Reply {
  const status = method === 'REGISTER' ? 403 : 503
  return refusal('account_inactive', 'Account exists but is inactive', { status })
}

export function credentialsRefusal(): Reply {
  return refusal('wrong_credentials', 'Invalid credentials')
}
