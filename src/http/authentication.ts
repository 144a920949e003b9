// Authentication: a bearer token, which is an API key or a login token, becomes a caller. Callers are cached, so that
// most requests read no database, and dropped exactly when something they depend on has changed.
import { hashApiKey } from '../lib/api-key.ts'
import type { Caller } from '../contracts/caller.ts'
import type { Clock } from '../lib/clock.ts'
import { AppError } from '../lib/errors.ts'
import { missingToken } from './error-reply.ts'
import type { Tokens, TokenSubject } from './tokens.ts'

export interface Grant {
  readonly caller: Caller
  readonly expiresAt: number | undefined
  readonly lastUsed?: number | undefined
}

/** The store of credentials. `undefined` means unknown or revoked. */
export interface CredentialSource {
  apiKey(tokenHash: string): Promise<Grant | undefined>
  session(subject: TokenSubject): Promise<Grant | undefined>
  /** Notes that a key was used. Must not throw. */
  touched(api_key_sid: string, at: number): void
}

export interface Authenticator {
  /** Throws not_authenticated, or bad_request if the header is malformed. Makes no promise if the token is cached. */
  authenticate(header: string | undefined): Caller | Promise<Caller>
}

interface Remembered extends Grant {
  readonly until: number
  touchedAt: number
}

const maxRemembered = 10_000
// The revision rises with every change made through the platform; this limit is for changes made to the tables by hand.
const rememberedMs = 10_000
const touchIntervalMs = 60_000
// No token of the platform is longer; a longer one is not hashed.
const maxTokenLength = 4096

export interface AuthenticatorOptions {
  readonly source: CredentialSource
  readonly tokens: Tokens
  readonly clock: Clock
  /** Returns a number that has risen once keys, users, sessions or accounts have changed. */
  readonly revision: () => number
}

export function createAuthenticator({
  source,
  tokens,
  clock,
  revision,
}: AuthenticatorOptions): Authenticator {
  const memory = new CallerMemory(revision)

  function touch(grant: Remembered, now: number): void {
    const { principal } = grant.caller
    if (principal.kind !== 'api_key' || now - grant.touchedAt < touchIntervalMs) return
    grant.touchedAt = now
    source.touched(principal.api_key_sid, now)
  }

  async function lookUp(token: string, hash: string): Promise<Caller> {
    const keep = memory.keeper(hash)
    const grant = (await grantOfSession(token, tokens, source)) ?? (await source.apiKey(hash))
    if (grant === undefined) throw refused('the token is unknown or revoked')
    if (isOver(grant, clock.now())) throw refused('the token has expired')
    const now = clock.now()
    const entry = { ...grant, until: now + rememberedMs, touchedAt: grant.lastUsed ?? 0 }
    touch(entry, now)
    keep(entry)
    return grant.caller
  }

  return {
    authenticate(header) {
      const token = bearerToken(header)
      const hash = hashApiKey(token)
      const now = clock.now()
      const known = memory.find(hash, now)
      if (known === undefined) return lookUp(token, hash)
      if (isOver(known, now)) throw refused('the token has expired')
      touch(known, now)
      return known.caller
    },
  }
}

/** The callers of the last seconds by the hash of their token. All are dropped when the revision has changed. */
class CallerMemory {
  readonly #revision: () => number
  #callers = new Map<string, Remembered>()
  #seen = -1

  constructor(revision: () => number) {
    this.#revision = revision
  }

  find(hash: string, now: number): Remembered | undefined {
    const revision = this.#revision()
    if (revision !== this.#seen && this.#callers.size > 0) this.#callers = new Map()
    this.#seen = revision
    const known = this.#callers.get(hash)
    if (known === undefined || known.until > now) return known
    this.#callers.delete(hash)
    return undefined
  }

  /** Returns the keeper. Called before a look-up: a caller found before a change must not be kept after it. */
  keeper(hash: string): (entry: Remembered) => void {
    const before = this.#seen
    return (entry) => {
      if (before !== this.#revision()) return
      if (this.#callers.size >= maxRemembered) {
        const [oldest] = this.#callers.keys()
        if (oldest !== undefined) this.#callers.delete(oldest)
      }
      this.#callers.set(hash, entry)
    }
  }
}

/** Returns undefined if the token is not that of a session. */
async function grantOfSession(
  token: string,
  tokens: Tokens,
  source: CredentialSource,
): Promise<Grant | undefined> {
  // Generated API keys have no two full stops; one from the settings that has them is still found by its hash.
  if (token.split('.').length !== 3) return undefined
  const verdict = await tokens.verify(token)
  switch (verdict.verdict) {
    case 'expired':
      throw refused('the token has expired')
    case 'not-ours':
      return undefined
    case 'valid': {
      const grant = await source.session(verdict.subject)
      if (grant === undefined) throw refused('the session has ended')
      const expiresAt = Math.min(verdict.expiresAt, grant.expiresAt ?? verdict.expiresAt)
      return { ...grant, expiresAt }
    }
  }
}

function isOver(grant: Grant, now: number): boolean {
  return grant.expiresAt !== undefined && grant.expiresAt <= now
}

function refused(message: string): AppError {
  return new AppError('not_authenticated', message)
}

/** RFC 6750 §2.1; the scheme word is case-insensitive (RFC 9110 §11.1). */
function bearerToken(header: string | undefined): string {
  if (header === undefined || !/^bearer(\s|$)/i.test(header)) throw refused(missingToken)
  const token = /^bearer +([\x21-\x7e]+) *$/i.exec(header)?.[1]
  if (token === undefined || token.length > maxTokenLength)
    throw new AppError('bad_request', 'the Authorization header must be "Bearer <token>"')
  return token
}
