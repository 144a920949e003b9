// How often one address and one key or user may ask. Each has a bucket of its own: nobody pays for another's haste.
// The headers are those of draft-ietf-httpapi-ratelimit-headers.
import type { Principal } from '../lib/caller.ts'
import type { Clock } from '../lib/clock.ts'
import { networkOf } from '../lib/network-of.ts'

/** Requests a minute; 0 = as many as they like. */
export interface RateLimitRules {
  readonly perKey: number
  readonly perAddress: number
}

export interface RateLimits {
  /** What `RateLimit-Policy` says of all of them; undefined when there are none. */
  readonly policy: string | undefined
  ofAddress(address: string): Verdict | undefined
  ofCaller(principal: Principal): Verdict | undefined
}

export interface Verdict {
  readonly isAllowed: boolean
  /** The value of `RateLimit`. */
  readonly state: string
  /** Until the next one is allowed; 0 when this one is. */
  readonly retryAfterSeconds: number
}

const windowSeconds = 60

export function createRateLimits({ perKey, perAddress }: RateLimitRules, clock: Clock): RateLimits {
  const addresses = createBuckets('address', perAddress, clock)
  const keys = createBuckets('key', perKey, clock)
  const policies = [addresses, keys].flatMap((buckets) => buckets?.policy ?? [])
  return {
    policy: policies.length === 0 ? undefined : policies.join(', '),
    ofAddress: (address) => addresses?.take(networkOf(address)),
    ofCaller: (principal) =>
      keys?.take(principal.kind === 'api_key' ? principal.api_key_sid : principal.user_sid),
  }
}

interface Bucket {
  tokens: number
  at: number
}

interface Buckets {
  readonly policy: string
  take(key: string): Verdict
}

// Two generations of so many: what has not asked for long is forgotten with the older one, without any order kept.
const maxPerGeneration = 20_000

function createBuckets(name: string, perMinute: number, clock: Clock): Buckets | undefined {
  if (perMinute <= 0) return undefined
  const perMs = perMinute / (windowSeconds * 1000)
  let recent = new Map<string, Bucket>()
  let older = new Map<string, Bucket>()

  function bucketOf(key: string, now: number): Bucket {
    let bucket = recent.get(key)
    if (bucket !== undefined) return bucket
    bucket = older.get(key) ?? { tokens: perMinute, at: now }
    if (recent.size >= maxPerGeneration) {
      older = recent
      recent = new Map()
    }
    recent.set(key, bucket)
    return bucket
  }

  return {
    policy: `"${name}";q=${perMinute};w=${windowSeconds}`,
    take(key) {
      const now = clock.monotonic()
      const bucket = bucketOf(key, now)
      const tokens = Math.min(perMinute, bucket.tokens + (now - bucket.at) * perMs)
      const isAllowed = tokens >= 1
      const left = isAllowed ? tokens - 1 : tokens
      bucket.tokens = left
      bucket.at = now
      const retryAfterSeconds = isAllowed ? 0 : Math.ceil((1 - tokens) / perMs / 1000)
      // How long until the whole quota is there again.
      const fullSeconds = Math.ceil((perMinute - left) / perMs / 1000)
      return {
        isAllowed,
        retryAfterSeconds,
        state: `"${name}";r=${Math.floor(left)};t=${isAllowed ? fullSeconds : retryAfterSeconds}`,
      }
    },
  }
}
