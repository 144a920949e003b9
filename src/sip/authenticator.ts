// Who sent this request: the server side of digest authentication, with every refusal it can give.
import { randomBytes } from 'node:crypto'
import {
  challengeHeaders,
  credentialsFor,
  digestResponse,
  isSameResponse,
  type DigestAlgorithm,
  type DigestCredentials,
} from './digest.ts'
import type { GuessLimit } from './guess-limit.ts'
import type { SipRequest } from './message/message.ts'
import { areUrisEqual, tryParseUri } from './message/uri.ts'
import type { Uri } from './message/uri.ts'
import type { Nonces, NonceScope } from './nonces.ts'
import { realmOf } from './realm.ts'
import { refusal, unknownRealm } from './refusal.ts'
import type { Authentication, Judgement, Remote, Reply, SipDirectory, SipUser } from './sip.ts'

// How much of a digest-uri the journal shows.
const maxUriChars = 256

/** Within a dialog `userRealm` is that of the user it belongs to: the request is for our Contact, and no carrier's. */
export type Authenticate = (
  request: SipRequest,
  remote: Remote,
  userRealm?: string,
) => Promise<Authentication>

export interface AuthenticatorOptions {
  readonly directory: SipDirectory
  readonly nonces: Nonces
  readonly guesses: GuessLimit
  /** Challenged with, in the order of preference. */
  readonly algorithms?: readonly DigestAlgorithm[] | undefined
}

// Deviation from what RFC 8760 §2.1 would like: SHA-256 is offered on request only, since user agents in wide use give
// up at a challenge in which any algorithm is unknown to them, whatever the order. It is accepted either way.
const defaultAlgorithms: readonly DigestAlgorithm[] = ['MD5']

export function createAuthenticator(options: AuthenticatorOptions): Authenticate {
  const { directory, nonces, guesses, algorithms = defaultAlgorithms } = options
  // An unknown user costs the same work as a wrong password: names cannot be learned by the clock.
  const decoyPassword = randomBytes(16).toString('hex')

  const challenge = (scope: NonceScope, isStale: boolean): Authentication => {
    const { realm } = scope
    const headers = challengeHeaders({ realm, algorithms, isStale, nonce: () => nonces.issue(scope) })
    return { verdict: 'challenge', reply: { status: 401, headers, isUnproven: true } }
  }

  /**
   * The user, when the credentials are the user's and made for a request of this method. The digest-uri may be another than
   * the Request-URI (RFC 3261 §22.4): proxies rewrite the one, user agents configured with an address compute with that.
   * What keeps a response from being used twice is the nonce and its count.
   */
  const proves = (
    user: SipUser | undefined,
    credentials: DigestCredentials,
    request: SipRequest,
  ): SipUser | undefined => {
    const password = user?.password ?? decoyPassword
    const expected = digestResponse({ ...credentials, method: request.method, password })
    return isSameResponse(expected, credentials.response) ? user : undefined
  }

  return async (request, remote, userRealm) => {
    const realm = userRealm ?? realmOf(request)
    const state = realm === undefined ? 'unknown' : await directory.realmState(realm)
    if (realm === undefined || state === 'unknown') return refuseRealm(request.method)
    if (state === 'inactive') return refuseAccount(request.method, guesses.isWorthRecord(realm))

    const scope = { realm, address: remote.address }
    const credentials = credentialsFor(request, realm)
    // What cannot be read proves nothing of its sender, not even where it is.
    if (credentials === 'absent' || credentials === 'malformed') return challenge(scope, false)

    const { username } = credentials
    const isCall = request.method === 'INVITE' && userRealm === undefined
    const peer = isCall ? await directory.findPeer?.(realm, username) : undefined
    const judge = await directory.judgeOf?.(realm)
    const user = judge === undefined ? await directory.findUser(realm, username) : undefined
    // Without a judge, nothing is waited for from here to the verdict: guesses that come all at once are still counted one by
    // one. A judge bounds itself how many it looks at together.
    // Who answers a nonce that was sent to this address can receive there, where the guess is counted. Any other sender does
    // not learn whether the password was right: neither a forged address nor a phone that has just got another one.
    const nonce = nonces.fresh(credentials.nonce, scope)
    if (nonce === undefined) return challenge(scope, true)
    const guess = { ...scope, username }
    if (!guesses.mayTry(guess)) return refuseGuesses()
    const judgement = judge === undefined ? undefined : await judge({ request, remote, credentials })
    // Both are tried in any case: the clock must not tell which of them there is.
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
    // The password is right, so another round with a new nonce is all that is missing: RFC 7616 §3.3, stale.
    if (nonce.use(count) !== 'good') return challenge(scope, true)
    guesses.succeeded(guess)
    const note = digestUriNote(credentials, request)
    return { verdict: 'accepted', user: sender, ...(note === undefined ? {} : { note }) }
  }
}

function judgedUser(
  { username, realm }: DigestCredentials,
  judgement: Judgement | undefined,
): SipUser | undefined {
  if (judgement?.verdict !== 'accepted') return undefined
  const { verdict: _verdict, ...judged } = judgement
  return { username, realm: realm.toLowerCase(), password: undefined, judged }
}

/** What a reader of the call should know of its digest-uri; ports and parameters are changed by proxies on the way. */
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
  const sentence = 'Too many failed attempts; wait a minute and try again'
  return unproven('locked_out', refusal('locked_out', sentence, { status: 403 }), false)
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
