// Limits per source: the messages accepted before they are parsed, and its share of what all sources share. A stranger
// gets little, and all strangers together get no more than the platform can spare. A source that has proved itself has
// a budget of its own, which no stranger affects.
import type { Clock } from '../../lib/clock.ts'
import { networkOf } from '../../network/network-of.ts'
import { createRecent } from '../../lib/recent.ts'
import { createTokenBuckets } from '../../lib/bounds/token-buckets.ts'
import { sourceLimits } from '../limits.ts'
import type { Remote } from './transports.ts'

export interface Sources {
  /** Reports whether one more message or connection is admitted. It counts against the budget. */
  admits(remote: Remote): boolean
  isProven(remote: Remote): boolean
  /** Called when a right password came from there, or the platform sent a request there. */
  prove(remote: Remote): void
}

export interface SourcesOptions {
  readonly clock: Clock
  /**
   * Returns the owners of the carriers that call from there, or undefined if none does: such a source needs no proof.
   */
  readonly gatewayOwners?: (address: string, transport: Remote['transport']) => readonly string[] | undefined
  /** Reports whether a phone has registered from there. */
  readonly isBound?: (remote: Remote) => boolean
}

export function createSources(options: SourcesOptions): Sources {
  const { clock, gatewayOwners = () => undefined, isBound = () => false } = options
  const strangers = createTokenBuckets(clock)
  const everyStranger = createTokenBuckets(clock)
  const peers = createTokenBuckets(clock)
  const owners = createTokenBuckets(clock)
  const proven = createRecent({ clock, ...sourceLimits.proven })

  const ownersOf = ({ address, transport }: Remote): readonly string[] | undefined =>
    gatewayOwners(address, transport)

  /** Each owner pays. One of them may have entered the address of another's carrier to use up the budget of both. */
  const isPaid = (by: readonly string[]): boolean =>
    by.length === 0 || by.map((owner) => owners.take(owner, sourceLimits.perGateway)).includes(0)

  const isUser = (source: string, remote: Remote): boolean => proven.has(source) || isBound(remote)

  return {
    admits(remote) {
      const source = networkOf(remote.address)
      const owned = ownersOf(remote)
      if (owned !== undefined) return peers.take(source, sourceLimits.perGateway) === 0 && isPaid(owned)
      if (isUser(source, remote)) return peers.take(source, sourceLimits.perUser) === 0
      return (
        strangers.take(source, sourceLimits.perStranger) === 0 &&
        everyStranger.take('', sourceLimits.perAllStrangers) === 0
      )
    },
    isProven: (remote) => ownersOf(remote) !== undefined || isUser(networkOf(remote.address), remote),
    prove: ({ address }) => proven.note(networkOf(address)),
  }
}
