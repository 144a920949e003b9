// When REGISTER is sent again: before the registration expires, or after a failure, each time a little differently, so that
// carriers that failed together do not come back together.

/** What is asked for. */
export const askedSeconds = 3_600

const leastRefreshSeconds = 30
// A binding of 30 s, as registrars grant behind NAT, must be refreshed in time for two tries.
const lastRefreshShare = 0.8
const jitter = 0.1

/** At half the time that was granted, at 30 s at least, and always before it is over. `random` is 0 to 1. */
export function refreshDelayMs(grantedSeconds: number, random: number): number {
  const half = Math.max(grantedSeconds / 2, leastRefreshSeconds)
  const seconds = Math.min(half, grantedSeconds * lastRefreshShare)
  return seconds * 1000 * (1 - jitter * random)
}

// A registrar that is restarted is back within a minute.
const unavailable = { firstMs: 30_000, maxMs: 300_000 }
// What it has refused, it refuses until a person changes something; who tries more often is locked out by many carriers.
const refused = { firstMs: 300_000, maxMs: 3_600_000 }
const maxRetryAfterMs = 3_600_000

export interface FailedRegister {
  /** The registrar has refused, rather than been silent or out of order. */
  readonly isRefusal: boolean
  /** In a row, this one included. */
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
