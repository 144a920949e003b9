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
  /** Reports whether a carrier calls from there: such a source needs no proof. */
  readonly isGateway?: (address: string, transport: Remote['transport']) => boolean
  /** Reports whether a phone has registered from there. */
  readonly isBound?: (remote: Remote) => boolean
}

export function createSources(options: SourcesOptions): Sources {
  const { clock, isGateway = () => false, isBound = () => false } = options
  const strangers = createTokenBuckets(clock)
  const everyStranger = createTokenBuckets(clock)
  const peers = createTokenBuckets(clock)
  const proven = createRecent({ clock, ...sourceLimits.proven })

  const isUser = (source: string, remote: Remote): boolean => proven.has(source) || isBound(remote)

  return {
    admits(remote) {
      const source = networkOf(remote.address)
      if (isGateway(remote.address, remote.transport))
        return peers.take(source, sourceLimits.perGateway) === 0
      if (isUser(source, remote)) return peers.take(source, sourceLimits.perUser) === 0
      return (
        strangers.take(source, sourceLimits.perStranger) === 0 &&
        everyStranger.take('', sourceLimits.perAllStrangers) === 0
      )
    },
    isProven: (remote) =>
      isGateway(remote.address, remote.transport) || isUser(networkOf(remote.address), remote),
    prove: ({ address }) => proven.note(networkOf(address)),
  }
}
