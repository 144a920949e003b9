// The calls of carriers that no account takes: no account's share bounds them, and each costs a search of the database.
import { createTokenBuckets } from '../../lib/bounds/token-buckets.ts'
import type { Clock } from '../../lib/clock.ts'
import { AppError } from '../../lib/errors.ts'
import { createRecent } from '../../lib/recent.ts'
import type { CarrierMatch } from '../ports.ts'

// More than a carrier brings whose numbers were not all entered; a search for numbers in use is stopped.
const perOwner = { capacity: 100, refillMs: 5_000 }
// So that such a search, by callers whom the carrier does not know either, stops no call to a number in use.
const taken = { lifetimeMs: 25 * 3_600_000, capacity: 50_000 }

/** A call to this number that came from one of these carriers. */
export interface CalledNumber {
  readonly called: string
  readonly matches: readonly CarrierMatch[]
}

export interface UnservedCalls {
  /** Throws AppError account_share if the owner has used up its budget, except for a number that was taken lately. */
  demand(call: CalledNumber): void
  /** Counts a call that no account takes. */
  refused(call: CalledNumber): void
  taken(call: CalledNumber): void
}

export function createUnservedCalls(clock: Clock): UnservedCalls {
  const budgets = createTokenBuckets(clock)
  const numbers = createRecent({ clock, ...taken })
  return {
    demand(call) {
      const owner = ownerOf(call)
      if (budgets.wait(owner, perOwner) === 0 || numbers.has(`${owner} ${call.called}`)) return
      const sentence = 'the carrier brings too many calls to numbers that no account has'
      throw new AppError('account_share', sentence, { detail: { owner } })
    },
    refused: (call) => void budgets.take(ownerOf(call), perOwner),
    taken: (call) => numbers.note(`${ownerOf(call)} ${call.called}`),
  }
}

/** Returns the owners of the carriers: accounts, or providers of shared ones. */
function ownerOf({ matches }: CalledNumber): string {
  const owners = matches.map(({ carrier }) => carrier.account_sid ?? carrier.service_provider_sid)
  return [...new Set(owners)].join(' ')
}
