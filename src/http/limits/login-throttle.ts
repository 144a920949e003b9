// Slows down guessing: counts wrong passwords per user and source, and per source alone, and locks out for a while. A
// source is an IPv4 address, or several networks of IPv6, one within the other: a host, a site or a company chooses from
// many, and gets no more patience by that than the table below says.
import type { Clock } from '../../lib/clock.ts'
import { AppError } from '../../lib/errors.ts'
import { networkOf, networksOf } from '../../network/network-of.ts'
import type { Derive } from '../../passwords/password.ts'
import { createTokenBuckets } from '../../lib/token-buckets.ts'
import { createPasswordQueue, placeOfLogin } from './password-queue.ts'
import type { PasswordQueue, Place } from './password-queue.ts'

export interface LoginThrottle {
  /**
   * What `verify` says of the password, when its turn to be hashed has come. Only a password that was found wrong counts:
   * not one that was right, nor an attempt that was called off or for which there was no room. `username` is the name of
   * the user, however the attempt named it. Throws locked_out, overloaded, and the signal's reason.
   */
  judge(attempt: Attempt, verify: (derive: Derive) => Promise<boolean>): Promise<boolean>
  /** Before a user is looked up: throws locked_out where the source has tried too many. */
  demandOpen(address: string): void
  /** A user who was given a new password has every attempt again, wherever the old one was guessed at. */
  forgive(username: string): void
  /** For what anybody may ask for without a token, though not all day. Throws too_many_requests. */
  demandPatience(address: string): void
  /** Runs `work`, which hashes a password with what it is given. Throws overloaded. */
  readonly hashing: PasswordQueue['run']
}

export interface Attempt {
  readonly username: string
  readonly address: string
  /** Where it waits; that of a login from the address when left out. */
  readonly place?: Place
  readonly signal?: AbortSignal
}

export const maxFailures = 6
export const lockOutMs = 1_800_000

// A network of IPv6 that holds 65,536 of the next smaller size has three times the patience of one. An office behind one
// address stays well below what a source may get wrong with all names together.
const lengths = [64, 48, 32]
const maxOfUser = [maxFailures, 18, 54]
// Nothing for a /32: that is a provider, whose customers must not lock each other out.
const maxOfSource = [60, 180]

const maxRemembered = 50_000
const patience = { capacity: 20, refillMs: 3_600_000 }

interface Failures {
  count: number
  since: number
  isReported?: true
}

/** Told once, when the first attempt is refused for it. */
export interface LockOut {
  readonly address: string
  /** How many wrong passwords that took. */
  readonly failures: number
  /** Undefined when it is the source that is locked out, having tried many. */
  readonly username?: string
}

export interface LoginThrottleOptions {
  readonly clock: Clock
  /** How passwords are hashed; in the pool of threads when left out. */
  readonly derive?: Derive | undefined
  readonly onLockOut?: (lockOut: LockOut) => void
}

interface Budget {
  readonly key: string
  readonly max: number
  readonly lockOut: LockOut
}

/** No user has an empty name, and no source a space. */
function keyOf(username: string, source: string): string {
  return `${username} ${source}`
}

function budgetsOfUser(username: string, address: string): readonly Budget[] {
  return networksOf(address, lengths).map((network, index) => {
    const failures = maxOfUser[index] ?? maxFailures
    return { key: keyOf(username, network), max: failures, lockOut: { username, address, failures } }
  })
}

function budgetsOfSource(address: string): readonly Budget[] {
  const networks = networksOf(address, lengths)
  return maxOfSource.slice(0, networks.length).map((failures, index) => {
    return { key: keyOf('', networks[index] ?? address), max: failures, lockOut: { address, failures } }
  })
}

export function createLoginThrottle(options: LoginThrottleOptions): LoginThrottle {
  const { clock, onLockOut } = options
  const failures = new Map<string, Failures>()
  const asked = createTokenBuckets(clock, maxRemembered)
  const line = createPasswordQueue(options.derive)

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

  /** Throws locked_out. */
  function demandFew(budgets: readonly Budget[]): void {
    for (const { key, max, lockOut } of budgets) {
      const known = recent(key)
      if (known === undefined || known.count < max) continue
      if (known.isReported === undefined) onLockOut?.(lockOut)
      known.isReported = true
      const waitMs = known.since + lockOutMs - clock.now()
      throw new AppError('locked_out', 'too many failed logins; try again later', {
        retryAfterSeconds: Math.ceil(waitMs / 1000),
      })
    }
  }

  return {
    async judge({ username, address, place = placeOfLogin(address), signal }, verify) {
      const ofUser = budgetsOfUser(username, address)
      const budgets = [...ofUser, ...budgetsOfSource(address)]
      demandFew(budgets)
      return line.run(
        place,
        async (derive) => {
          // Asked again, as others may have been found wrong meanwhile. Each is counted before the next one is judged, so
          // that of many guesses sent at once no more are judged than of as many sent one by one.
          demandFew(budgets)
          const isRight = await verify(derive)
          if (isRight) for (const { key } of ofUser) failures.delete(key)
          else for (const { key } of budgets) fail(key)
          return isRight
        },
        signal,
      )
    },
    demandOpen: (address) => demandFew(budgetsOfSource(address)),
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
    hashing: (...work) => line.run(...work),
  }
}
