// SIP over TCP: the listening socket and every connection, found again by its far end (RFC 3261 §18).
import { createConnection, createServer } from 'node:net'
import type { Server, Socket } from 'node:net'
import type { Clock } from '../../lib/clock.ts'
import { AppError } from '../../lib/errors.ts'
import { toPlainAddress } from '../../network/mapped-address.ts'
import { networkOf } from '../../network/network-of.ts'
import { Shares } from '../../lib/shares.ts'
import type { Remote } from '../sip.ts'
import type { ConnectionLimits } from '../limits.ts'
import { TcpConnection } from './tcp-connection.ts'
import type { TransportHandlers } from './transport.ts'
import { transports } from './transports.ts'

export interface TcpTransportOptions {
  readonly limits: ConnectionLimits
  readonly clock: Clock
  readonly handlers: TransportHandlers
  misbehaved(reason: string, kind: 'unparsable' | 'slow', remote: Remote): void
  refused(): void
}

// How many connections are looked at to find one that gives way.
const maxLookedAt = 64

export class TcpTransport {
  readonly #options: TcpTransportOptions
  readonly #shares: Shares
  readonly #connections = new Map<string, TcpConnection>()
  readonly #opening = new Map<string, Promise<TcpConnection>>()
  #server: Server | undefined
  #isStopped = false

  constructor(options: TcpTransportOptions) {
    this.#options = options
    this.#shares = new Shares(options.limits.maxConnections)
  }

  get connections(): number {
    return this.#connections.size
  }

  /** Resolves with the port it listens on. */
  listen(address: string, port: number): Promise<number> {
    const server = createServer({ noDelay: true }, (socket) => this.#accept(socket))
    return new Promise((resolve, reject) => {
      server.once('error', reject)
      server.listen({ host: address, port, backlog: 511 }, () => {
        server.off('error', reject)
        // Out of file descriptors, for one: the connection is lost, the server goes on.
        server.on('error', () => this.#options.refused())
        this.#server = server
        const bound = server.address()
        resolve(typeof bound === 'object' && bound !== null ? bound.port : port)
      })
    })
  }

  /** Flushes and closes every connection. Idempotent. */
  async stop(): Promise<void> {
    this.#isStopped = true
    const server = this.#server
    this.#server = undefined
    for (const connection of this.#connections.values()) connection.closeSoon()
    const lastChance = this.#options.clock.after(1_000, () => this.#closeAll())
    if (server !== undefined) await new Promise((resolve) => server.close(resolve))
    lastChance.cancel()
    this.#closeAll()
  }

  /** Closes the listening socket again, when its port is not free for UDP. */
  async unlisten(): Promise<void> {
    const server = this.#server
    this.#server = undefined
    if (server !== undefined) await new Promise((resolve) => server.close(resolve))
  }

  async send(bytes: Uint8Array, remote: Remote, alternative?: Remote): Promise<void> {
    const existing = this.#connections.get(keyOf(remote))
    if (existing?.isOpen === true) return existing.send(bytes)
    const connection = await this.#open(alternative ?? remote)
    return connection.send(bytes)
  }

  async open(remote: Remote): Promise<void> {
    await this.#open(remote)
  }

  isOpen(remote: Remote): boolean {
    return this.#connections.get(keyOf(remote))?.isOpen === true
  }

  #closeAll(): void {
    for (const connection of this.#connections.values()) connection.close()
  }

  /** One connection per far end: requests that come while it opens wait for the same one. */
  #open(remote: Remote): Promise<TcpConnection> {
    const key = keyOf(remote)
    const existing = this.#connections.get(key)
    if (existing?.isOpen === true) return Promise.resolve(existing)
    const pending = this.#opening.get(key)
    if (pending !== undefined) return pending
    const opening = this.#connect(remote).finally(() => this.#opening.delete(key))
    this.#opening.set(key, opening)
    return opening
  }

  #connect(remote: Remote): Promise<TcpConnection> {
    if (this.#isStopped || !this.#makeRoom()) {
      return Promise.reject(new AppError('sip_unreachable', 'no connection can be opened'))
    }
    return new Promise((resolve, reject) => {
      const socket = createConnection({ host: remote.address, port: remote.port })
      const fail = (cause: unknown): void => {
        timer.cancel()
        socket.destroy()
        reject(new AppError('sip_unreachable', 'the far end cannot be reached over TCP', { cause }))
      }
      const timer = this.#options.clock.after(this.#options.limits.connectMs, () => fail('timeout'))
      socket.once('error', fail)
      socket.once('connect', () => {
        timer.cancel()
        socket.off('error', fail)
        if (this.#isStopped) return fail('stopped')
        resolve(this.#add(socket, remote, false))
      })
    })
  }

  #accept(socket: Socket): void {
    const { remoteAddress, remotePort } = socket
    const address = toPlainAddress(remoteAddress ?? '')
    const remote: Remote = { transport: transports.tcp.name, address, port: remotePort ?? 0 }
    if (remotePort === undefined || this.#isStopped || !this.#mayEnter(remote)) {
      this.#options.refused()
      socket.destroy()
      return
    }
    this.#add(socket, remote, true)
  }

  #mayEnter(remote: Remote): boolean {
    const { handlers, limits } = this.#options
    if (handlers.admits?.(remote) === false || !this.#makeRoom()) return false
    const share = handlers.isProven?.(remote) === true ? limits.provenShare : limits.strangerShare
    return this.#shares.mayTake(networkOf(remote.address), share)
  }

  /** At the bound, the oldest connection of a stranger gives way, or one that never brought a message. */
  #makeRoom(): boolean {
    if (this.#connections.size < this.#options.limits.maxConnections) return true
    let left = maxLookedAt
    for (const [key, connection] of this.#connections) {
      if (!this.#isKept(connection)) {
        this.#options.misbehaved('gave way to a new connection', 'slow', connection.remote)
        this.#forget(key, connection)
        connection.close()
        return true
      }
      // Behind the others: the next look is at those that this one did not come to.
      this.#connections.delete(key)
      this.#connections.set(key, connection)
      left -= 1
      if (left === 0) break
    }
    return false
  }

  #isKept({ hasSpoken, remote }: TcpConnection): boolean {
    const { handlers } = this.#options
    return hasSpoken && (handlers.isProven?.(remote) === true || handlers.isNeeded?.(remote) === true)
  }

  #forget(key: string, connection: TcpConnection | undefined): void {
    if (connection === undefined || this.#connections.get(key) !== connection) return
    this.#connections.delete(key)
    this.#shares.give(networkOf(connection.remote.address))
  }

  #add(socket: Socket, remote: Remote, isInbound: boolean): TcpConnection {
    const key = keyOf(remote)
    const connection = new TcpConnection({
      socket,
      remote,
      isInbound,
      limits: this.#options.limits,
      clock: this.#options.clock,
      message: (message, raw, from) => this.#options.handlers.message(message, raw, from),
      admits: () => this.#options.handlers.admits?.(remote) !== false,
      misbehaved: (reason, kind) => this.#options.misbehaved(reason, kind, remote),
      isNeeded: () => this.#options.handlers.isNeeded?.(remote) ?? false,
      closed: () => {
        const isCurrent = this.#connections.get(key) === connection
        this.#forget(key, connection)
        if (isCurrent) this.#options.handlers.closed?.(remote)
      },
    })
    this.#forget(key, this.#connections.get(key))
    this.#shares.take(networkOf(remote.address))
    this.#connections.set(key, connection)
    return connection
  }
}

function keyOf(remote: Remote): string {
  return `${remote.address}|${remote.port}`
}
