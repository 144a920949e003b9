// What a source may ask of the stack: messages before they are parsed, and how much of what is everybody's it may hold.
// A stranger gets little, and all strangers together get no more than the platform can spare; a source that has proved
// itself has a budget of its own, which no stranger touches.
import type { Clock } from '../lib/clock.ts'
import { networkOf } from '../network/network-of.ts'
import { createRecent } from '../lib/recent.ts'
import { createTokenBuckets } from '../lib/token-buckets.ts'
import type { Remote } from './sip.ts'

export interface Sources {
  /** Whether one more message, or one more connection, is listened to. Takes it from the budget. */
  admits(remote: Remote): boolean
  isProven(remote: Remote): boolean
  /** A right password came from there, or a request of ours went there. */
  prove(remote: Remote): void
}

export interface SourcesOptions {
  readonly clock: Clock
  /** A carrier calls from there: known without having shown anything. */
  readonly isGateway?: (address: string) => boolean
  /** A phone has registered from there. */
  readonly isBound?: (remote: Remote) => boolean
}

// An office of a hundred phones that is switched on: the first of them that has answered its challenge proves the source.
// A probe that asks for our health does so every second at most.
const perStranger = { capacity: 200, refillMs: 10_000 }
// Of all strangers together, since over UDP one host can claim to be any number: 500 a second cost a twentieth of a core.
// The burst is a network of 2,500 phones that comes back after a power cut.
const perAllStrangers = { capacity: 5_000, refillMs: 10_000 }
// More than any one peer needs: a carrier that brings 500 calls a second sends 2,500 messages, a dialler of a customer that
// makes 200 a second 1,000. It keeps one that has gone mad, or been taken over, from having the platform to itself.
const perGateway = { capacity: 20_000, refillMs: 4_000 }
const perUser = { capacity: 10_000, refillMs: 5_000 }
// A phone that refreshes its registration once a day is proven in between.
const provenMs = 25 * 3_600_000
const mostProven = 100_000

export function createSources(options: SourcesOptions): Sources {
  const { clock, isGateway = () => false, isBound = () => false } = options
  const strangers = createTokenBuckets(clock)
  const everyStranger = createTokenBuckets(clock)
  const peers = createTokenBuckets(clock)
  const proven = createRecent({ clock, lifetimeMs: provenMs, capacity: mostProven })

  const isUser = (source: string, remote: Remote): boolean => proven.has(source) || isBound(remote)

  return {
    admits(remote) {
      const source = networkOf(remote.address)
      if (isGateway(remote.address)) return peers.take(source, perGateway) === 0
      if (isUser(source, remote)) return peers.take(source, perUser) === 0
      return strangers.take(source, perStranger) === 0 && everyStranger.take('', perAllStrangers) === 0
    },
    isProven: (remote) => isGateway(remote.address) || isUser(networkOf(remote.address), remote),
    prove: ({ address }) => proven.note(networkOf(address)),
  }
}
