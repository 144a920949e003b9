// Limits per source: the messages accepted before they are parsed, and its share of what all sources share. A stranger
// gets little, and all strangers together get no more than the platform can spare. A source that has proved itself has
// a budget of its own, which no stranger affects.
import { isIP } from 'node:net'
import type { Clock } from '../../lib/clock.ts'
import { networkOf } from '../../network/network-of.ts'
import { createRecent } from '../../lib/recent.ts'
import { createTokenBuckets } from '../../lib/bounds/token-buckets.ts'
import { sourceLimits } from '../limits.ts'
import { skipLeadingBlankLines } from '../message/parse-message.ts'
import type { Remote } from './transports.ts'

export interface Sources {
  /**
   * Reports whether one more message or connection is admitted. It counts against the budget. `unread` is a message that
   * is not admitted if `reads` refuses it.
   */
  admits(remote: Remote, unread?: Uint8Array): boolean
  /** Reports whether a message is read now: any but an INVITE of a caller that `slow` holds back. */
  reads(remote: Remote, raw: Uint8Array): boolean
  /** Reads INVITEs of the sender of this one at this rate for a second. Nothing is changed if others pay for them. */
  slow(remote: Remote, raw: Uint8Array, to: InvitePace): void
  isProven(remote: Remote): boolean
  /** Called when a right password came from there, or the platform sent a request there. */
  prove(remote: Remote): void
}

/** The rate at which INVITEs of an account are read. */
export interface InvitePace {
  /** Left out, it is the one owner at the source. */
  readonly owner?: string
  readonly perSecond: number
}

export interface SourcesOptions {
  readonly clock: Clock
  /**
   * Returns the owners of the carriers that call from there, or undefined if none does: such a source needs no proof.
   */
  readonly gatewayOwners?: (address: string, transport: Remote['transport']) => readonly string[] | undefined
  /** Reports whether a phone has registered from there. */
  readonly isBound?: (remote: Remote) => boolean
  /** Reports whether a proxy of the operator is there, which sends for many. Left out, there are none. */
  readonly isProxy?: ((address: string) => boolean) | undefined
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

  const invites = createTokenBuckets(clock)
  const slowed = new Map<string, { readonly perSecond: number; readonly until: number }>()

  /** Returns who pays for an INVITE, as far as its first line shows; undefined for other messages and if it is open. */
  const senderOf = (remote: Remote, raw: Uint8Array): string | undefined => {
    const host = calledHostOf(raw)
    if (host === undefined || options.isProxy?.(remote.address) === true) return undefined
    const owned = ownersOf(remote)
    if (owned !== undefined) return owned.length === 1 ? owned[0] : undefined
    // Phones of several accounts may share an address. An address is no realm (message/realm.ts).
    return `${networkOf(remote.address)} ${isIP(host) === 0 ? host : ''}`
  }

  const reads = (remote: Remote, raw: Uint8Array): boolean => {
    const sender = slowed.size === 0 ? undefined : senderOf(remote, raw)
    const pace = sender === undefined ? undefined : slowed.get(sender)
    if (sender === undefined || pace === undefined) return true
    if (clock.monotonic() < pace.until)
      return invites.take(sender, { capacity: pace.perSecond, refillMs: 1_000 }) === 0
    slowed.delete(sender)
    return true
  }

  const isUser = (source: string, remote: Remote): boolean => proven.has(source) || isBound(remote)

  return {
    admits(remote, unread) {
      if (unread !== undefined && !reads(remote, unread)) return false
      const source = networkOf(remote.address)
      const owned = ownersOf(remote)
      if (owned !== undefined) return peers.take(source, sourceLimits.perGateway) === 0 && isPaid(owned)
      if (isUser(source, remote)) return peers.take(source, sourceLimits.perUser) === 0
      return (
        strangers.take(source, sourceLimits.perStranger) === 0 &&
        everyStranger.take('', sourceLimits.perAllStrangers) === 0
      )
    },
    reads,
    slow(remote, raw, { owner, perSecond }) {
      const sender = senderOf(remote, raw)
      const owned = ownersOf(remote)
      if (sender === undefined || (owned !== undefined && owner !== undefined && sender !== owner)) return
      slowed.delete(sender)
      slowed.set(sender, { perSecond, until: clock.monotonic() + sourceLimits.slowed.lifetimeMs })
      const [oldest] = slowed.keys()
      if (slowed.size > sourceLimits.slowed.capacity && oldest !== undefined) slowed.delete(oldest)
    },
    isProven: (remote) => ownersOf(remote) !== undefined || isUser(networkOf(remote.address), remote),
    prove: ({ address }) => proven.note(networkOf(address)),
  }
}

const maxLineBytes = 1_024
const codeOfI = 'I'.charCodeAt(0)

/** Returns the host of the Request-URI of an INVITE in lower case, or an empty text; undefined for other messages. */
function calledHostOf(raw: Uint8Array): string | undefined {
  const start = skipLeadingBlankLines(raw)
  if (raw[start] !== codeOfI) return undefined
  const line = Buffer.from(raw.subarray(start, start + maxLineBytes)).toString('latin1')
  if (!line.startsWith('INVITE ')) return undefined
  const [, host = ''] = /^INVITE sips?:(?:[^@\s]*@)?([^\s;:?>]*)/i.exec(line) ?? []
  return host.toLowerCase()
}
