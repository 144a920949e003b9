// The time of the next REGISTER: before the registration expires, or after a failure. It varies a little, so that
// carriers that failed together are not retried together.

/** The requested time of a registration. */
export const askedSeconds = 3_600

const leastRefreshSeconds = 30
// A binding of 30 s, as granted behind NAT, must allow two tries.
const lastRefreshShare = 0.8
const jitter = 0.1

/** Returns half the granted time, at least 30 s, and always less than the granted time. `random` is 0 to 1. */
export function refreshDelayMs(grantedSeconds: number, random: number): number {
  const half = Math.max(grantedSeconds / 2, leastRefreshSeconds)
  const seconds = Math.min(half, grantedSeconds * lastRefreshShare)
  return seconds * 1000 * (1 - jitter * random)
}

// A registrar that restarts is back within a minute.
const unavailable = { firstMs: 30_000, maxMs: 300_000 }
// A refusal lasts until a person changes something, and many carriers lock out clients that try often.
const refused = { firstMs: 300_000, maxMs: 3_600_000 }
const maxRetryAfterMs = 3_600_000

export interface FailedRegister {
  /** True if the registrar has refused, false if it was silent or out of order. */
  readonly isRefusal: boolean
  /** The number of failures in a row, including this one. */
  readonly failures: number
  readonly retryAfterSeconds: number | undefined
}

export function retryDelayMs(
  { isRefusal, failures, retryAfterSeconds = 0 }: FailedRegister,
  random: number,
): number {
  const { firstMs, maxMs } = isRefusal ? refused : unavailable
  const backOffMs = Math.min(firstMs * 2 ** Math.min(failures - 1, 20), maxMs)
  const askedMs = Math.min(retryAfterSeconds * 1000, maxRetryAfterMs)
  return Math.max(backOffMs, askedMs) * (1 + 2 * jitter * random)
}
