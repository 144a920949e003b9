// A limit on guesses: wrong passwords are counted per user and source, per source alone, and per user over all sources,
// and lock out for a while.
// A source is an IPv4 address, or several networks of IPv6, one within the other. Changing the address within a network
// does not reset its count.
import type { Clock } from '../../lib/clock.ts'
import { AppError } from '../../lib/errors.ts'
import { networkOf, networksOf } from '../../network/network-of.ts'
import type { Derive } from '../../passwords/password.ts'
import { createTokenBuckets } from '../../lib/bounds/token-buckets.ts'
import { createRecent } from '../../lib/recent.ts'
import { createPasswordQueue, placeOfLogin, type PasswordQueue, type Place } from './password-queue.ts'

export interface LoginThrottle {
  /**
   * Returns the result of `verify` once it is the password's turn to be hashed. Only a password that was found wrong is
   * counted: not a right one, and not an attempt that was aborted or refused for lack of room. `username` is the name
   * of the user, however the attempt named it. Throws locked_out, overloaded, and the signal's reason.
   */
  judge(attempt: Attempt, verify: (derive: Derive) => Promise<boolean>): Promise<boolean>
  /** Throws locked_out if the source has failed with too many users. Call it before a user is looked up. */
  demandOpen(address: string): void
  /** Forgets the failures with the old password when a user gets a new one. */
  forgive(username: string): void
  /** Limits the requests that an address may send without a token. Throws too_many_requests. */
  limitRequests(address: string): void
  /** Runs `work`, which hashes a password with the function that it gets. Throws overloaded. */
  readonly hashing: PasswordQueue['run']
}

export interface Attempt {
  readonly username: string
  readonly address: string
  /** The place in the queue; that of a login from the address if left out. */
  readonly place?: Place
  readonly signal?: AbortSignal
}

export const maxFailures = 6
export const lockOutMs = 1_800_000

// An IPv6 network that holds 65,536 of the next smaller size may fail three times as often as one. An office behind one
// address stays well below a source's limit for all names together.
const lengths = [64, 48, 32]
const maxOfUser = [maxFailures, 18, 54]
// There is no limit for a /32: it is a provider, whose customers must not lock each other out.
const maxOfSource = [60, 180]

// Addresses are cheap: a list of passwords is tried no faster than this from all of them together. Where the user has
// logged in before, other people's failures do not count, so that they lock no user out of its own office.
const maxOfName = 100
const known = { lifetimeMs: 30 * 86_400_000, capacity: 50_000 }

const maxRemembered = 50_000
const requests = { capacity: 20, refillMs: 3_600_000 }

interface Failures {
  count: number
  since: number
  isReported?: true
}

/** A lock-out, reported once, when it refuses its first attempt. */
export interface LockOut {
  readonly address: string
  /** The number of wrong passwords that led to it. */
  readonly failures: number
  /** Undefined if the source is locked out, after failures with many users. */
  readonly username?: string
}

export interface LoginThrottleOptions {
  readonly clock: Clock
  /** The function that hashes passwords; in the pool of threads if left out. */
  readonly derive?: Derive | undefined
  readonly onLockOut?: (lockOut: LockOut) => void
}

interface Budget {
  readonly key: string
  readonly max: number
  readonly lockOut: LockOut
}

/** Returns a unique key: no user has an empty name, and no source a space. */
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

/** Returns the budget of a user over all sources. No source has an empty name. */
function budgetOfName(username: string, address: string): Budget {
  return {
    key: keyOf(username, ''),
    max: maxOfName,
    lockOut: { username, address, failures: maxOfName },
  }
}

export function createLoginThrottle({ clock, derive, onLockOut }: LoginThrottleOptions): LoginThrottle {
  const failures = new FailureCounts(clock)
  const asked = createTokenBuckets(clock, maxRemembered)
  const queue = createPasswordQueue(derive)
  /** The networks where users have logged in. */
  const places = createRecent({ clock, ...known })

  /** Throws locked_out. */
  function demandFew(budgets: readonly Budget[]): void {
    for (const { key, max, lockOut } of budgets) {
      const known = failures.recent(key)
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
      const home = keyOf(username, networkOf(address))
      const ofName = places.has(home) ? [] : [budgetOfName(username, address)]
      const budgets = [...ofUser, ...ofName, ...budgetsOfSource(address)]
      demandFew(budgets)
      return queue.run(
        place,
        async (given) => {
          // Others may have failed while this attempt waited. Each failure is counted before the next attempt is
          // judged, so that guesses sent at the same time get no further than those sent one by one.
          demandFew(budgets)
          const isRight = await verify(given)
          if (isRight) {
            places.note(home)
            for (const { key } of ofUser) failures.delete(key)
          } else for (const { key } of budgets) failures.add(key)
          return isRight
        },
        signal,
      )
    },
    demandOpen: (address) => demandFew(budgetsOfSource(address)),
    forgive: (username) => failures.deleteOfUser(username),
    limitRequests(address) {
      const waitMs = asked.take(networkOf(address), requests)
      if (waitMs === 0) return
      throw new AppError('too_many_requests', 'too many requests from this address', {
        retryAfterSeconds: Math.ceil(waitMs / 1000),
      })
    },
    hashing: (...work) => queue.run(...work),
  }
}

/**
 * Wrong passwords by key, kept while they lock out. When there is no room, the key that failed longest ago is dropped.
 */
class FailureCounts {
  readonly #clock: Clock
  readonly #failures = new Map<string, Failures>()

  constructor(clock: Clock) {
    this.#clock = clock
  }

  recent(key: string): Failures | undefined {
    const known = this.#failures.get(key)
    if (known === undefined || this.#clock.now() - known.since < lockOutMs) return known
    this.#failures.delete(key)
    return undefined
  }

  add(key: string): void {
    const count = (this.recent(key)?.count ?? 0) + 1
    // The key is set again, so that the map is in the order of the last failures.
    this.#failures.delete(key)
    this.#failures.set(key, { count, since: this.#clock.now() })
    if (this.#failures.size <= maxRemembered) return
    const [oldest] = this.#failures.keys()
    if (oldest !== undefined) this.#failures.delete(oldest)
  }

  delete(key: string): void {
    this.#failures.delete(key)
  }

  deleteOfUser(username: string): void {
    for (const key of this.#failures.keys())
      if (key.slice(0, key.lastIndexOf(' ')) === username) this.#failures.delete(key)
  }
}
