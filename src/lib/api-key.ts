// The stored form of API keys. A key is random, so a fast hash is enough; the key itself is shown once.
import { hash } from 'node:crypto'

/** Returns the only form in which a key is stored and looked up. */
export function hashApiKey(token: string): string {
  return hash('sha256', token, 'hex')
}

export interface ApiKeyColumns {
  readonly token_hash: string
  /** Enough to recognise one's own key in a list, far too little to guess it. */
  readonly token_prefix: string
}

/** Returns everything that a row stores of a key. */
export function apiKeyColumns(token: string): ApiKeyColumns {
  return { token_hash: hashApiKey(token), token_prefix: token.slice(0, 6) }
}
