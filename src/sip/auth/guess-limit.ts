// Limits on wrong passwords: one budget per source and user, one per source for all its users, and one per user for
// all sources. A phone at a place where it has authenticated has a budget of its own.
import type { Clock } from '../../lib/clock.ts'
import { networkOf } from '../../network/network-of.ts'
import { createRecent } from '../../lib/recent.ts'
import { createTokenBuckets } from '../../lib/bounds/token-buckets.ts'
import { guessLimits } from '../limits.ts'

/** A user's password, tried from an address. */
export interface Guess {
  readonly address: string
  readonly port: number
  readonly realm: string
  readonly username: string
}

export interface GuessLimit {
  /** Reports whether this source may try this user's password now. */
  mayTry(guess: Guess): boolean
  failed(guess: Guess): void
  /**
   * Notes a success: from now on only failures of this user at this source count against it, and at this port only its
   * own.
   */
  succeeded(guess: Guess): void
  /** Reports whether a user of the realm has given the right password at this source within three days. */
  hasSucceeded(at: Pick<Guess, 'address' | 'realm'>): boolean
  /**
   * Counts one more refusal made without a password check. Returns false when the realm has had too many for another
   * record.
   */
  isWorthRecord(realm: string): boolean
}

export function createGuessLimit(clock: Clock): GuessLimit {
  const users = createTokenBuckets(clock)
  const sources = createTokenBuckets(clock)
  const names = createTokenBuckets(clock)
  const realms = createTokenBuckets(clock)
  const knownPhones = createRecent({ clock, ...guessLimits.known })
  const knownUsers = createRecent({ clock, ...guessLimits.known })
  const knownSources = createRecent({ clock, ...guessLimits.known })
  const knownRealms = createRecent({ clock, ...guessLimits.known })

  const keysOf = ({ address, port, realm, username }: Guess): Keys => {
    const source = networkOf(address)
    const name = `${realm} ${username.slice(0, guessLimits.maxNameChars)}`
    const [user, phone] = [`${source} ${name}`, `${address} ${port} ${name}`]
    // Wrong passwords from other ports, such as those of another phone behind the same NAT, do not count against it.
    return { source, name, user, phone, budget: knownPhones.has(phone) ? phone : user }
  }
  const ruleOf = (source: string): typeof guessLimits.perSource =>
    knownSources.has(source) ? guessLimits.perSource : guessLimits.perStranger

  return {
    mayTry(guess) {
      const { source, name, user, budget } = keysOf(guess)
      if (users.wait(budget, guessLimits.perUser) > 0) return false
      if (knownUsers.has(user)) return true
      return sources.wait(source, ruleOf(source)) === 0 && names.wait(name, guessLimits.perName) === 0
    },
    failed(guess) {
      const { source, name, user, budget } = keysOf(guess)
      users.take(budget, guessLimits.perUser)
      if (knownUsers.has(user)) return
      sources.take(source, ruleOf(source))
      names.take(name, guessLimits.perName)
    },
    succeeded(guess) {
      const { source, user, phone } = keysOf(guess)
      knownPhones.note(phone)
      knownUsers.note(user)
      knownSources.note(source)
      knownRealms.note(`${source} ${guess.realm}`)
    },
    hasSucceeded: ({ address, realm }) => knownRealms.has(`${networkOf(address)} ${realm}`),
    isWorthRecord: (realm) => realms.take(realm, guessLimits.perRealm) === 0,
  }
}

interface Keys {
  readonly source: string
  readonly name: string
  readonly user: string
  readonly phone: string
  /** The key of the budget that a wrong password is taken from. */
  readonly budget: string
}
