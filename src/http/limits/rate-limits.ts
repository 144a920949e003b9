// Limits of requests a minute from one address, key or user, account and service provider. Each has its own bucket, so
// that none pays for another's requests. The headers are those of draft-ietf-httpapi-ratelimit-headers.
import type { Caller, Principal, RequestQuota } from '../../contracts/caller.ts'
import type { Clock } from '../../lib/clock.ts'
import { networkOf } from '../../network/network-of.ts'

/** Requests a minute; 0 = no limit. */
export interface RateLimitRules {
  readonly perKey: number
  readonly perAddress: number
}

export interface RateLimitOptions extends RateLimitRules {
  readonly clock: Clock
  /** Called when an account or a service provider has used up its quota. */
  readonly onQuotaRefused?: (quota: RequestQuota) => void
}

export interface RateLimits {
  /** Returns `RateLimit-Policy`: all limits of this caller, or those of an unknown one; undefined if there are none. */
  policyOf(caller?: Caller): string | undefined
  ofAddress(address: string): Verdict | undefined
  /** Returns the verdict of the caller's limit that refuses, or else of the one that will refuse first. */
  ofCaller(caller: Caller): Verdict | undefined
}

export interface Verdict {
  readonly isAllowed: boolean
  /** The number of further requests that would be allowed now. */
  readonly remaining: number
  /** The value of `RateLimit`. */
  readonly state: string
  /** The message of a refusal. */
  readonly message: string
  /** The time until the next request is allowed; 0 if this one is. */
  readonly retryAfterSeconds: number
}

interface Limit {
  readonly name: 'address' | 'key' | 'account' | 'service_provider'
  readonly perMinute: number
}

const windowSeconds = 60

export function createRateLimits(options: RateLimitOptions): RateLimits {
  const { perKey, perAddress, clock, onQuotaRefused } = options
  const ofAddress = { name: 'address', perMinute: perAddress } as const
  const ofKey = { name: 'key', perMinute: perKey } as const
  const [addresses, keys, quotas] = [createBuckets(clock), createBuckets(clock), createBuckets(clock)]
  const general = [ofAddress, ofKey].filter(({ perMinute }) => perMinute > 0).map(policyItem)

  /**
   * Takes from one limit after the other, so that a refused request uses nothing of the later ones, which others share.
   */
  function takeAll(caller: Caller): Verdict | undefined {
    let verdict = perKey > 0 ? keys.take(idOf(caller.principal), ofKey) : undefined
    for (const quota of caller.quotas ?? []) {
      if (verdict?.isAllowed === false) return verdict
      const next = quotas.take(keyOf(quota), limitOf(quota))
      if (!next.isAllowed) onQuotaRefused?.(quota)
      verdict = nearer(verdict, next)
    }
    return verdict
  }

  return {
    policyOf(caller) {
      const items = [...general, ...(caller?.quotas ?? []).map((quota) => policyItem(limitOf(quota)))]
      return items.length === 0 ? undefined : items.join(', ')
    },
    ofAddress: (address) => (perAddress > 0 ? addresses.take(networkOf(address), ofAddress) : undefined),
    ofCaller: takeAll,
  }
}

/** Returns the verdict that refuses, or else the one that will refuse first. */
export function nearer(one: Verdict | undefined, other: Verdict): Verdict {
  if (one === undefined || !other.isAllowed) return other
  return other.remaining < one.remaining ? other : one
}

function policyItem({ name, perMinute }: Limit): string {
  return `"${name}";q=${perMinute};w=${windowSeconds}`
}

function limitOf({ owner, perMinute }: RequestQuota): Limit {
  return { name: 'account_sid' in owner ? 'account' : 'service_provider', perMinute }
}

/** Returns the key of a bucket. It contains the limit, so that a changed limit begins with a full bucket. */
function keyOf({ owner, perMinute }: RequestQuota): string {
  return `${Object.values(owner).join()} ${perMinute}`
}

function idOf(principal: Principal): string {
  return principal.kind === 'api_key' ? principal.api_key_sid : principal.user_sid
}

interface Bucket {
  tokens: number
  at: number
}

interface Buckets {
  take(key: string, limit: Limit): Verdict
}

// The most buckets in a generation. There are two generations. The older one is dropped, with the buckets that were not
// used for long; so no order is kept.
const maxPerGeneration = 20_000

function createBuckets(clock: Clock): Buckets {
  let recent = new Map<string, Bucket>()
  let older = new Map<string, Bucket>()

  function bucketOf(key: string, perMinute: number, now: number): Bucket {
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
    take(key, { name, perMinute }) {
      const perMs = perMinute / (windowSeconds * 1000)
      const now = clock.monotonic()
      const bucket = bucketOf(key, perMinute, now)
      const tokens = Math.min(perMinute, bucket.tokens + (now - bucket.at) * perMs)
      const isAllowed = tokens >= 1
      const left = isAllowed ? tokens - 1 : tokens
      bucket.tokens = left
      bucket.at = now
      const remaining = Math.floor(left)
      const retryAfterSeconds = isAllowed ? 0 : Math.ceil((1 - tokens) / perMs / 1000)
      // The time until the bucket is full again.
      const fullSeconds = Math.ceil((perMinute - left) / perMs / 1000)
      return {
        isAllowed,
        remaining,
        retryAfterSeconds,
        message: `more than ${perMinute} requests a minute`,
        state: `"${name}";r=${remaining};t=${isAllowed ? fullSeconds : retryAfterSeconds}`,
      }
    },
  }
}
