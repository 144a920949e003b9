// The types of login tokens, and their lifetime.

export const tokenLifetimeMs = 60 * 60 * 1000

/** The session that a token names, which must still exist when the token is used. */
export interface TokenSubject {
  readonly session_sid: string
  readonly user_sid: string
}

export type TokenVerdict =
  | { readonly verdict: 'valid'; readonly subject: TokenSubject; readonly expiresAt: number }
  | { readonly verdict: 'expired' }
  | { readonly verdict: 'not-ours' }

export interface Tokens {
  /** `claims` are for the client to read; only the session is trusted. */
  issue(subject: TokenSubject, claims: Readonly<Record<string, unknown>>): Promise<string>
  verify(token: string): Promise<TokenVerdict>
}
