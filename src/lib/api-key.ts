// API keys: what is stored of them. A key is random, so a fast hash is enough; the key itself is shown once.
import { hash } from 'node:crypto'

/** The only form in which a key is stored and looked up. */
export function hashApiKey(token: string): string {
  return hash('sha256', token, 'hex')
}

/** Enough to recognise one's own key in a list, far too little to guess it. */
export function apiKeyPrefix(token: string): string {
  return token.slice(0, 6)
}
