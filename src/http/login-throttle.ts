// Slows down guessing: counts failed logins per user and source, and per source alone, and locks out for a while.
// A source is an IPv4 address or a network of IPv6 (lib/network-of.ts); nobody gets patience by moving within his own.
import type { Clock } from '../lib/clock.ts'
import { AppError } from '../lib/errors.ts'
import { networkOf } from '../lib/network-of.ts'
import { deriveInPool } from '../lib/password.ts'
import type { Derive } from '../lib/password.ts'
import { createTokenBuckets } from '../lib/token-buckets.ts'

export interface LoginThrottle {
  /**
   * Counts an attempt as failed until `succeeded` is called, so that many sent at once are not all let through.
   * `username` is the name of the user, however the attempt named it. Throws locked_out.
   */
  begin(username: string, address: string): { succeeded(): void }
  /** Whoever was given a new password starts anew, wherever the old one was guessed at. */
  forgive(username: string): void
  /** For what anybody may ask for without a token, though not all day. Throws too_many_requests. */
  demandPatience(address: string): void
  /**
   * Runs `work`, which hashes a password with what it is given, one at a time; throws overloaded when too many wait.
   * Whose signal aborts leaves the line with its reason; what has begun is finished.
   */
  hashing<R>(work: (derive: Derive) => Promise<R>, signal?: AbortSignal): Promise<R>
}

// Each takes 19 MiB and a processor for tens of milliseconds: more at a time would make everybody wait longer, those who
// log in included.
const maxHashing = 1
const maxWaiting = 100

export const maxFailures = 6
// One source that tries many names: an office behind one address stays well below.
const maxFailuresOfSource = 60
export const lockOutMs = 1_800_000
const maxRemembered = 20_000
const patience = { capacity: 20, refillMs: 3_600_000 }

interface Failures {
  count: number
  since: number
  isReported?: true
}

/** Told once, when the first attempt is refused for it. */
export interface LockOut {
  readonly address: string
  /** Undefined when it is the source that is locked out, having tried many. */
  readonly username?: string
}

export interface LoginThrottleOptions {
  readonly clock: Clock
  /** How passwords are hashed; in the pool of threads when left out. */
  readonly derive?: Derive | undefined
  readonly onLockOut?: (lockOut: LockOut) => void
}

/** No user has an empty name, and no source a space. */
function keyOf(username: string, source: string): string {
  return `${username} ${source}`
}

export function createLoginThrottle(options: LoginThrottleOptions): LoginThrottle {
  const { clock, derive = deriveInPool, onLockOut } = options
  const failures = new Map<string, Failures>()
  const asked = createTokenBuckets(clock, maxRemembered)
  const waiting: (() => void)[] = []
  let running = 0

  function recent(key: string): Failures | undefined {
    const known = failures.get(key)
    if (known === undefined || clock.now() - known.since < lockOutMs) return known
    failures.delete(key)
    return undefined
  }

  function fail(key: string): void {
    const count = (recent(key)?.count ?? 0) + 1
    // Put at the end: what is evicted below is what failed longest ago.
    failures.delete(key)
    failures.set(key, { count, since: clock.now() })
    if (failures.size <= maxRemembered) return
    const [oldest] = failures.keys()
    if (oldest !== undefined) failures.delete(oldest)
  }

  function standInLine(signal: AbortSignal | undefined): Promise<void> {
    return new Promise((resolve, reject) => {
      const leave = (): void => {
        waiting.splice(waiting.indexOf(enter), 1)
        reject(signal?.reason as Error)
      }
      const enter = (): void => {
        signal?.removeEventListener('abort', leave)
        resolve()
      }
      waiting.push(enter)
      signal?.addEventListener('abort', leave, { once: true })
    })
  }

  /** Throws locked_out. */
  function demandFew(key: string, most: number, lockOut: LockOut): void {
    const known = recent(key)
    if (known === undefined || known.count < most) return
    if (known.isReported === undefined) onLockOut?.(lockOut)
    known.isReported = true
    const waitMs = known.since + lockOutMs - clock.now()
    throw new AppError('locked_out', 'too many failed logins; try again later', {
      retryAfterSeconds: Math.ceil(waitMs / 1000),
    })
  }

  return {
    begin(username, address) {
      const source = networkOf(address)
      const pair = keyOf(username, source)
      const anybody = keyOf('', source)
      demandFew(pair, maxFailures, { username, address })
      demandFew(anybody, maxFailuresOfSource, { address })
      fail(pair)
      fail(anybody)
      return {
        succeeded() {
          failures.delete(pair)
          const ofSource = failures.get(anybody)
          if (ofSource !== undefined) ofSource.count--
        },
      }
    },
    forgive(username) {
      for (const key of failures.keys())
        if (key.slice(0, key.lastIndexOf(' ')) === username) failures.delete(key)
    },
    demandPatience(address) {
      const waitMs = asked.take(networkOf(address), patience)
      if (waitMs === 0) return
      throw new AppError('too_many_requests', 'too many requests from this address', {
        retryAfterSeconds: Math.ceil(waitMs / 1000),
      })
    },
    async hashing(work, signal) {
      signal?.throwIfAborted()
      if (running >= maxHashing) {
        if (waiting.length >= maxWaiting) throw new AppError('overloaded', 'too many logins at once')
        await standInLine(signal)
      } else running++
      try {
        return await work(derive)
      } finally {
        // The place goes straight to the next in line, so that nobody overtakes.
        const next = waiting.shift()
        if (next === undefined) running--
        else next()
      }
    },
  }
}
