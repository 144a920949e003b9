// Rate limits: one bucket of tokens per key, filled at a steady rate, bounded in number.
import type { Clock } from '../clock.ts'

export interface BucketRule {
  /** The number that may be taken immediately after a rest. */
  readonly capacity: number
  /** The time in which an empty bucket becomes full. */
  readonly refillMs: number
}

export interface TokenBuckets {
  /**
   * Takes tokens, one if not said otherwise, and returns 0, or takes none and returns the ms until there is one. The
   * last take may leave less than nothing: then the next one waits longer.
   */
  take(key: string, rule: BucketRule, tokens?: number): number
  /** Returns what `take` would return, and takes none. */
  wait(key: string, rule: BucketRule): number
}

interface Bucket {
  tokens: number
  at: number
}

export function createTokenBuckets(clock: Clock, maxKeys = 20_000): TokenBuckets {
  /** The buckets in order of use, the latest last. */
  const buckets = new Map<string, Bucket>()

  const tokensOf = (key: string, { capacity, refillMs }: BucketRule): number => {
    const known = buckets.get(key)
    if (known === undefined) return capacity
    return Math.min(capacity, known.tokens + ((clock.monotonic() - known.at) * capacity) / refillMs)
  }
  const waitMs = (tokens: number, { capacity, refillMs }: BucketRule): number =>
    tokens >= 1 ? 0 : Math.ceil(((1 - tokens) * refillMs) / capacity)

  return {
    take(key, rule, amount = 1) {
      const tokens = tokensOf(key, rule)
      buckets.delete(key)
      buckets.set(key, { tokens: tokens >= 1 ? tokens - amount : tokens, at: clock.monotonic() })
      if (buckets.size > maxKeys) {
        const [oldest] = buckets.keys()
        if (oldest !== undefined) buckets.delete(oldest)
      }
      return waitMs(tokens, rule)
    },
    wait: (key, rule) => waitMs(tokensOf(key, rule), rule),
  }
}
