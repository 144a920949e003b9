// The connections of one transport, looked up by their far end (RFC 3261 §18), with their limits and the choice of
// which to evict.
import { networkOf } from '../../network/network-of.ts'
import type { Clock } from '../../lib/clock.ts'
import { Shares } from '../../lib/bounds/shares.ts'
import type { SipMessage } from '../message/message.ts'
import type { ConnectionLimits } from '../limits.ts'
import type { Remote } from './transports.ts'
import type { TransportHandlers } from './transport.ts'

export interface Connection {
  readonly remote: Remote
  /** True once it has brought a whole message; others are evicted when connections run out. */
  readonly hasSpoken: boolean
  readonly isOpen: boolean
  send(bytes: Uint8Array): Promise<void>
  close(): void
  /** Closes once everything written has been sent. */
  closeSoon(): void
}

/** The arguments for making a connection of any kind. */
export interface ConnectionMeans {
  readonly remote: Remote
  readonly limits: ConnectionLimits
  readonly clock: Clock
  message(message: SipMessage, raw: Uint8Array, remote: Remote): void
  /** Reports whether one more message is admitted; the connection closes itself at the first that is not. */
  admits(): boolean
  /** Called for input that cannot be parsed or came too slowly; the connection closes itself. */
  misbehaved(reason: string, kind: 'unparsable' | 'slow'): void
  /** Called when it has been idle for long: reports whether to keep it. */
  isNeeded(): boolean
  closed(): void
}

export interface ConnectionsOptions {
  readonly limits: ConnectionLimits
  readonly clock: Clock
  readonly handlers: TransportHandlers
  readonly misbehaved: (reason: string, kind: 'unparsable' | 'slow', remote: Remote) => void
}

// The most connections examined to find one to evict.
const maxLookedAt = 64

export class Connections {
  readonly #options: ConnectionsOptions
  readonly #shares: Shares
  readonly #all = new Set<Connection>()
  /** The latest connection to each far end: the port of one may have connected to two of our ports. */
  readonly #latest = new Map<string, Connection>()

  constructor(options: ConnectionsOptions) {
    this.#options = options
    this.#shares = new Shares(options.limits.maxConnections)
  }

  /** Makes a connection to `remote` with `create`, and keeps it until it has closed. */
  open<C extends Connection>(remote: Remote, create: (means: ConnectionMeans) => C): C {
    const { handlers, limits, clock, misbehaved } = this.#options
    const connection: C = create({
      remote,
      limits,
      clock,
      message: (message, raw, from) => handlers.message(message, raw, from),
      admits: () => handlers.admits?.(remote) !== false,
      misbehaved: (reason, kind) => misbehaved(reason, kind, remote),
      isNeeded: () => handlers.isNeeded?.(remote) === true || handlers.isInCall?.(remote) === true,
      closed: () => this.#gone(connection),
    })
    this.#add(connection)
    return connection
  }

  get size(): number {
    return this.#all.size
  }

  /** Returns the open connection to `remote`. */
  find(remote: Remote): Connection | undefined {
    const connection = this.#latest.get(keyOf(remote))
    return connection?.isOpen === true ? connection : undefined
  }

  /**
   * Reports whether one more connection of this source is accepted. At the limit, only if it has none, so that its
   * flood ends no connection of others.
   */
  mayEnter(remote: Remote): boolean {
    const { handlers, limits } = this.#options
    const network = networkOf(remote.address)
    if (this.size >= limits.maxConnections) return !this.#shares.holds(network) && this.makeRoom()
    const share = handlers.isProven?.(remote) === true ? limits.provenShare : limits.strangerShare
    return this.#shares.mayTake(network, share)
  }

  /** At the limit, evicts the oldest connection that is a stranger's or never brought a message. */
  makeRoom(): boolean {
    if (this.size < this.#options.limits.maxConnections) return true
    let left = maxLookedAt
    for (const connection of this.#all) {
      if (!this.#isKept(connection)) {
        this.#options.misbehaved('gave way to a new connection', 'slow', connection.remote)
        this.#gone(connection)
        connection.close()
        return true
      }
      // Moved behind the others, so that the next search begins with those not examined yet.
      this.#all.delete(connection)
      this.#all.add(connection)
      left -= 1
      if (left === 0) break
    }
    return false
  }

  #add(connection: Connection): void {
    this.#shares.take(networkOf(connection.remote.address))
    this.#all.add(connection)
    this.#latest.set(keyOf(connection.remote), connection)
  }

  /** Handles a connection that has closed, or is about to: one that is evicted counts no more. */
  #gone(connection: Connection): void {
    const isCurrent = this.#latest.get(keyOf(connection.remote)) === connection
    this.#forget(connection)
    if (isCurrent) this.#options.handlers.closed?.(connection.remote)
  }

  /** Flushes and closes all connections within a second, with the listener, which accepts no more. Idempotent. */
  async closeWith(listener: { stop(): Promise<void> }): Promise<void> {
    for (const connection of this.#all) connection.closeSoon()
    const lastChance = this.#options.clock.after(1_000, () => this.#closeAll())
    await listener.stop()
    lastChance.cancel()
    this.#closeAll()
  }

  #closeAll(): void {
    for (const connection of this.#all) connection.close()
  }

  #isKept({ hasSpoken, remote }: Connection): boolean {
    const { handlers } = this.#options
    return hasSpoken && (handlers.isProven?.(remote) === true || handlers.isNeeded?.(remote) === true)
  }

  #forget(connection: Connection): void {
    if (!this.#all.delete(connection)) return
    const key = keyOf(connection.remote)
    if (this.#latest.get(key) === connection) this.#latest.delete(key)
    this.#shares.give(networkOf(connection.remote.address))
  }
}

/**
 * Returns the key of a far end, with both names: a connection to one domain carries nothing for another, even at the
 * same address (RFC 5923 §6), and nothing for one of our names goes where we have shown another's certificate.
 */
export function keyOf({ address, port, name = '', ownName = '' }: Remote): string {
  return `${address}|${port}|${name}|${ownName}`
}
