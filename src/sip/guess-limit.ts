// How many wrong passwords are listened to: a budget per source and user, per source for all of its users, and per user
// for all sources.
import type { Clock } from '../lib/clock.ts'
import { networkOf } from '../network/network-of.ts'
import { createRecent } from '../lib/recent.ts'
import { createTokenBuckets } from '../lib/token-buckets.ts'

/** Where a password is tried, and whose. */
export interface Guess {
  readonly address: string
  readonly realm: string
  readonly username: string
}

export interface GuessLimit {
  /** Whether this source may try this user's password now. */
  mayTry(guess: Guess): boolean
  failed(guess: Guess): void
  /** From now on only the failures of this very user at this source are held against it. */
  succeeded(guess: Guess): void
  /** Whether a user of the realm has been right at this source within three days. */
  hasSucceeded(at: Pick<Guess, 'address' | 'realm'>): boolean
  /** Notes one more refusal that no password was asked for. False when this realm has had so many that it needs no record. */
  isWorthRecord(realm: string): boolean
}

// A phone with a wrong password tries about once a minute; corrected, it is heard again within one.
const perUser = { capacity: 10, refillMs: 600_000 }
// An office where several phones were given wrong passwords; a list of names is tried at five a minute.
const perStranger = { capacity: 50, refillMs: 600_000 }
// 200 phones may share an address that has proved itself with some that are wrong.
const perSource = { capacity: 200, refillMs: 600_000 }
// Sources are cheap: a /48 of IPv6 has 65,536. A user who comes from a new place finds the door open unless it is tried
// twice a minute just then, and from where it has been before it always does.
const perName = { capacity: 100, refillMs: 3_600_000 }
// Enough to say why the calls of an account are refused.
const perRealm = { capacity: 60, refillMs: 3_600_000 }
// A phone that is away over a weekend is still known on Monday.
const knownMs = 3 * 86_400_000
const mostKnown = 100_000
// As long as a user name can be; the rest of a longer one makes no other user.
const longestName = 128

export function createGuessLimit(clock: Clock): GuessLimit {
  const users = createTokenBuckets(clock)
  const sources = createTokenBuckets(clock)
  const names = createTokenBuckets(clock)
  const realms = createTokenBuckets(clock)
  const knownUsers = createRecent({ clock, lifetimeMs: knownMs, capacity: mostKnown })
  const knownSources = createRecent({ clock, lifetimeMs: knownMs, capacity: mostKnown })
  const knownRealms = createRecent({ clock, lifetimeMs: knownMs, capacity: mostKnown })

  const keysOf = ({ address, realm, username }: Guess): Keys => {
    const source = networkOf(address)
    const name = `${realm} ${username.slice(0, longestName)}`
    return { source, name, user: `${source} ${name}` }
  }
  const ruleOf = (source: string): typeof perSource => (knownSources.has(source) ? perSource : perStranger)

  return {
    mayTry(guess) {
      const { source, name, user } = keysOf(guess)
      if (users.wait(user, perUser) > 0) return false
      if (knownUsers.has(user)) return true
      return sources.wait(source, ruleOf(source)) === 0 && names.wait(name, perName) === 0
    },
    failed(guess) {
      const { source, name, user } = keysOf(guess)
      users.take(user, perUser)
      if (knownUsers.has(user)) return
      sources.take(source, ruleOf(source))
      names.take(name, perName)
    },
    succeeded(guess) {
      const { source, user } = keysOf(guess)
      knownUsers.note(user)
      knownSources.note(source)
      knownRealms.note(`${source} ${guess.realm}`)
    },
    hasSucceeded: ({ address, realm }) => knownRealms.has(`${networkOf(address)} ${realm}`),
    isWorthRecord: (realm) => realms.take(realm, perRealm) === 0,
  }
}

interface Keys {
  readonly source: string
  readonly name: string
  readonly user: string
}
