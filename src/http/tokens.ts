// Login tokens: what they name, and for how long.

export const tokenLifetimeMs = 60 * 60 * 1000

/** What the token names: a session, which must still exist when the token is used. */
export interface TokenSubject {
  readonly session_sid: string
  readonly user_sid: string
}

export type TokenVerdict =
  | { readonly verdict: 'valid'; readonly subject: TokenSubject; readonly expiresAt: number }
  | { readonly verdict: 'expired' }
  | { readonly verdict: 'not-ours' }

export interface Tokens {
  /** `claims` are for the client to read; we trust none of them but the session. */
  issue(subject: TokenSubject, claims: Readonly<Record<string, unknown>>): Promise<string>
  verify(token: string): Promise<TokenVerdict>
}
