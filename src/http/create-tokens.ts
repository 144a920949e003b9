// Login tokens: JSON Web Tokens, signed with HS256 and a secret that only this platform has.
import { JWTExpired, JOSEError } from 'jose/errors'
import { SignJWT } from 'jose/jwt/sign'
import { jwtVerify } from 'jose/jwt/verify'
import type { Clock } from '../lib/clock.ts'
import { tokenLifetimeMs, type Tokens } from './tokens.ts'

export function createTokens(secret: string, clock: Clock): Tokens {
  const key = new TextEncoder().encode(secret)
  return {
    issue({ session_sid, user_sid }, claims) {
      const issuedAt = Math.floor(clock.now() / 1000)
      return new SignJWT({ ...claims, user_sid })
        .setProtectedHeader({ alg: 'HS256', typ: 'JWT' })
        .setJti(session_sid)
        .setIssuedAt(issuedAt)
        .setExpirationTime(issuedAt + tokenLifetimeMs / 1000)
        .sign(key)
    },
    async verify(token) {
      try {
        const { payload } = await jwtVerify(token, key, {
          algorithms: ['HS256'],
          requiredClaims: ['jti', 'exp', 'user_sid'],
          currentDate: new Date(clock.now()),
        })
        const { jti, exp, user_sid } = payload
        if (jti === undefined || exp === undefined || typeof user_sid !== 'string')
          return { verdict: 'not-ours' }
        return { verdict: 'valid', subject: { session_sid: jti, user_sid }, expiresAt: exp * 1000 }
      } catch (error) {
        if (error instanceof JWTExpired) return { verdict: 'expired' }
        if (error instanceof JOSEError) return { verdict: 'not-ours' }
        throw error
      }
    },
  }
}
