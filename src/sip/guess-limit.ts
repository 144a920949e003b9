// How many wrong passwords are listened to: a budget per source and user, and one per source for all of its users.
import type { Clock } from '../lib/clock.ts'
import { networkOf } from '../lib/network-of.ts'
import { createTokenBuckets } from '../lib/token-buckets.ts'

/** Where a password is tried, and whose. */
export interface Guess {
  readonly address: string
  readonly realm: string
  readonly username: string
}

export interface GuessLimit {
  /** Whether this source may try this user's password now. The users behind the same NAT do not come into it. */
  mayTry(guess: Guess): boolean
  failed(guess: Guess): void
  /**
   * Notes one more refusal of this source. False when it had so many, whoever it said to be, that the next ones are not
   * worth a record. A right password is taken all the same: 200 phones may share an address with one scanner.
   */
  isWorthRecord(address: string): boolean
}

// A phone with a wrong password tries about once a minute; corrected, it is heard again within one.
const perUser = { capacity: 10, refillMs: 600_000 }
const perSource = { capacity: 200, refillMs: 600_000 }
// As long as a user name can be; the rest of a longer one makes no other user.
const longestName = 128

export function createGuessLimit(clock: Clock): GuessLimit {
  const users = createTokenBuckets(clock)
  const sources = createTokenBuckets(clock)
  const keyOf = ({ address, realm, username }: Guess): string =>
    `${networkOf(address)} ${realm} ${username.slice(0, longestName)}`
  return {
    mayTry: (guess) => users.wait(keyOf(guess), perUser) === 0,
    failed: (guess) => void users.take(keyOf(guess), perUser),
    isWorthRecord: (address) => sources.take(networkOf(address), perSource) === 0,
  }
}
