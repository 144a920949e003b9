// Access tokens of Google for the key of a service account, by the JWT bearer grant (RFC 7523 §2.1).
import { createHash } from 'node:crypto'
import type { Clock } from '../lib/clock.ts'
import { AppError } from '../lib/errors.ts'
import { memberOf, textOf } from '../lib/members.ts'
import type { VendorCode } from './vendor-failure.ts'

export const googleTokenUrl = 'https://oauth2.googleapis.com/token'

export interface ServiceAccountOptions {
  /** The token endpoint. It is never the one that a key names, which may be anyone's. */
  readonly url: string
  /** The scopes of the tokens. */
  readonly scope: string
  readonly code: VendorCode
  readonly clock: Clock
}

export interface ServiceAccountTokens {
  /**
   * Returns a token. `ask` posts the form to the URL and returns the parsed document. Throws AppError of the given
   * code.
   */
  obtain(serviceKey: string, ask: (form: string) => Promise<unknown>): Promise<string>
}

interface Token {
  readonly text: string
  readonly expiresAt: number
}

const tokenSeconds = 3600
// Longer than it may take to send one request with the token.
const renewBeforeMs = 60_000
const maxTokens = 500

/** Creates the tokens, which are kept until shortly before they expire. */
export function createServiceAccountTokens(options: ServiceAccountOptions): ServiceAccountTokens {
  const { clock, code } = options
  const tokens = new Map<string, Token>()

  return {
    async obtain(serviceKey, ask) {
      const name = createHash('sha256').update(serviceKey).digest('hex')
      const known = tokens.get(name)
      const now = clock.now()
      if (known !== undefined && known.expiresAt - renewBeforeMs > now) return known.text
      const assertion = await signAssertion(serviceKey, options)
      const grant = { grant_type: 'urn:ietf:params:oauth:grant-type:jwt-bearer', assertion }
      const answer = await ask(new URLSearchParams(grant).toString())
      const text = textOf(answer, 'access_token')
      if (text === undefined) throw new AppError(code, 'google responded without a token')
      const seconds = Number(memberOf(answer, 'expires_in') ?? 0)
      if (tokens.size >= maxTokens) tokens.clear()
      tokens.set(name, { text, expiresAt: now + (Number.isFinite(seconds) ? seconds * 1000 : 0) })
      return text
    },
  }
}

async function signAssertion(serviceKey: string, options: ServiceAccountOptions): Promise<string> {
  const { url, scope, clock, code } = options
  const unusable = (cause: unknown): AppError =>
    new AppError(code, 'the service key for google cannot be used', {
      cause,
      cure: 'Make a new JSON key for the service account and a new credential with it.',
    })
  let key: unknown
  try {
    key = JSON.parse(serviceKey)
  } catch (cause) {
    throw unusable(cause)
  }
  const [email, privateKey, kid] = ['client_email', 'private_key', 'private_key_id'].map((name) =>
    textOf(key, name),
  )
  if (email === undefined || privateKey === undefined) throw unusable(undefined)
  // Loaded for the first token: most platforms need none.
  const [{ SignJWT }, { importPKCS8 }] = await Promise.all([
    import('jose/jwt/sign'),
    import('jose/key/import'),
  ])
  const signer = await importPKCS8(privateKey, 'RS256').catch((cause: unknown) => {
    throw unusable(cause)
  })
  const issuedAt = Math.floor(clock.now() / 1000)
  return new SignJWT({ scope })
    .setProtectedHeader({ alg: 'RS256', typ: 'JWT', ...(kid === undefined ? {} : { kid }) })
    .setIssuer(email)
    .setAudience(url)
    .setIssuedAt(issuedAt)
    .setExpirationTime(issuedAt + tokenSeconds)
    .sign(signer)
}
