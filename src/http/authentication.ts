// Who sends a request: the bearer token, an API key or a login token, becomes a caller. Remembers the answer, so that
// the usual request asks no database, and forgets it exactly when something it rests on has changed.
import { hashApiKey } from '../lib/api-key.ts'
import type { Caller } from '../lib/caller.ts'
import type { Clock } from '../lib/clock.ts'
import { AppError } from '../lib/errors.ts'
import { missingToken } from './error-reply.ts'
import type { Tokens, TokenSubject } from './tokens.ts'

export interface Grant {
  readonly caller: Caller
  readonly expiresAt: number | undefined
  readonly lastUsed?: number | undefined
}

/** Where credentials are kept. `undefined` = unknown or revoked. */
export interface CredentialSource {
  apiKey(tokenHash: string): Promise<Grant | undefined>
  session(subject: TokenSubject): Promise<Grant | undefined>
  /** Notes that a key was used. Must not throw. */
  touched(api_key_sid: string, at: number): void
}

export interface Authenticator {
  /** Throws not_authenticated, or bad_request when the header is malformed. At once when the token is remembered. */
  authenticate(header: string | undefined): Caller | Promise<Caller>
}

interface Remembered extends Grant {
  readonly until: number
  touchedAt: number
}

const maxRemembered = 10_000
// The revision tells of every change that goes through the platform; this bounds what somebody does to the tables by hand.
const rememberedMs = 10_000
const touchIntervalMs = 60_000
// Longer than any token we issue; what is longer is not worth hashing.
const maxTokenLength = 4096

export function createAuthenticator(options: {
  readonly source: CredentialSource
  readonly tokens: Tokens
  readonly clock: Clock
  /** A number that has risen once keys, users, sessions or accounts have changed. */
  readonly revision: () => number
}): Authenticator {
  const { source, tokens, clock, revision } = options
  let remembered = new Map<string, Remembered>()
  let seen = -1

  function forgetOld(): void {
    const now = revision()
    if (now === seen) return
    seen = now
    if (remembered.size > 0) remembered = new Map()
  }

  function touch(grant: Remembered, now: number): void {
    const { principal } = grant.caller
    if (principal.kind !== 'api_key' || now - grant.touchedAt < touchIntervalMs) return
    grant.touchedAt = now
    source.touched(principal.api_key_sid, now)
  }

  function remember(hash: string, entry: Remembered): void {
    if (remembered.size >= maxRemembered) {
      const [oldest] = remembered.keys()
      if (oldest !== undefined) remembered.delete(oldest)
    }
    remembered.set(hash, entry)
  }

  async function lookUp(token: string, hash: string): Promise<Caller> {
    const before = seen
    const grant = (await bySession(token)) ?? (await source.apiKey(hash))
    if (grant === undefined) throw refused('the token is unknown or revoked')
    if (isOver(grant, clock.now())) throw refused('the token has expired')
    const now = clock.now()
    const entry = { ...grant, until: now + rememberedMs, touchedAt: grant.lastUsed ?? 0 }
    touch(entry, now)
    // Looked up before a change, it must not be remembered after it.
    if (before === revision()) remember(hash, entry)
    return grant.caller
  }

  async function bySession(token: string): Promise<Grant | undefined> {
    // An API key has no two full stops; should one be given that has, it is still found by its hash.
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

  return {
    authenticate(header) {
      const token = bearerToken(header)
      const hash = hashApiKey(token)
      forgetOld()
      const known = remembered.get(hash)
      const now = clock.now()
      if (known === undefined || known.until <= now) {
        remembered.delete(hash)
        return lookUp(token, hash)
      }
      if (isOver(known, now)) throw refused('the token has expired')
      touch(known, now)
      return known.caller
    },
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
