// SIP over TCP and TLS: accepted connections and opened ones (RFC 3261 §18).
import { createConnection, type Socket } from 'node:net'
import type { Clock } from '../../lib/clock.ts'
import { AppError } from '../../lib/errors.ts'
import type { ConnectionLimits } from '../limits.ts'
import { Connections, keyOf, type Connection } from './connections.ts'
import { Listener } from './listener.ts'
import { StreamConnection } from './stream-connection.ts'
import type { Tls } from './tls.ts'
import type { TransportHandlers } from './transport.ts'
import { transports, type Remote, type Transport } from './transports.ts'

export interface StreamTransportOptions {
  readonly transport: Transport
  readonly limits: ConnectionLimits
  readonly clock: Clock
  readonly handlers: TransportHandlers
  /** Left out, connections are clear. */
  readonly tls?: Tls | undefined
  readonly misbehaved: (reason: string, kind: 'unparsable' | 'slow', remote: Remote) => void
  readonly refused: () => void
}

export class StreamTransport {
  readonly #options: StreamTransportOptions
  readonly #connections: Connections
  readonly #listener: Listener
  readonly #opening = new Map<string, Promise<Connection>>()
  #isStopped = false

  constructor(options: StreamTransportOptions) {
    this.#options = options
    const { tls } = options
    this.#connections = new Connections(options)
    this.#listener = new Listener({
      ...options,
      connections: this.#connections,
      handshake: (socket, done) => (tls === undefined ? done(socket) : tls.accept(socket, done)),
      accepted: (socket, remote) => void this.#add(socket, remote, true),
    })
  }

  get connections(): number {
    return this.#connections.size
  }

  get handshakes(): number {
    return this.#listener.handshakes
  }

  /** Resolves with the port it listens on. */
  listen(address: string, port: number): Promise<number> {
    return this.#listener.listen(address, port)
  }

  /** Flushes and closes every connection. Idempotent. */
  async stop(): Promise<void> {
    this.#isStopped = true
    await this.#connections.closeWith(this.#listener)
  }

  /** Closes the listening socket again if its port is not free for UDP. */
  unlisten(): Promise<void> {
    return this.#listener.unlisten()
  }

  async send(bytes: Uint8Array, remote: Remote, alternative?: Remote, connectMs?: number): Promise<void> {
    const existing = this.#connections.find(remote)
    if (existing !== undefined) return existing.send(bytes)
    const opening = this.#open(alternative ?? remote)
    const connection = await (connectMs === undefined ? opening : this.#within(connectMs, opening))
    return connection.send(bytes)
  }

  async open(remote: Remote): Promise<void> {
    await this.#open(remote)
  }

  isOpen(remote: Remote): boolean {
    return this.#connections.find(remote) !== undefined
  }

  /** Waits no longer than this time. The connection still opens for those who wait longer. */
  async #within(connectMs: number, opening: Promise<Connection>): Promise<Connection> {
    const { promise: late, reject } = Promise.withResolvers<never>()
    const timer = this.#options.clock.after(connectMs, () => reject(this.#unreachable('timeout')))
    return Promise.race([opening, late]).finally(() => timer.cancel())
  }

  /** Opens one connection per far end: requests that arrive while it opens wait for the same one. */
  #open(remote: Remote): Promise<Connection> {
    const existing = this.#connections.find(remote)
    if (existing !== undefined) return Promise.resolve(existing)
    const key = keyOf(remote)
    const pending = this.#opening.get(key)
    if (pending !== undefined) return pending
    const opening = this.#connect(remote).finally(() => this.#opening.delete(key))
    this.#opening.set(key, opening)
    return opening
  }

  #connect(remote: Remote): Promise<Connection> {
    if (this.#isStopped || !this.#connections.makeRoom())
      return Promise.reject(new AppError('sip_unreachable', 'no connection can be opened'))
    return new Promise((resolve, reject) => {
      const settle = (outcome: Socket | AppError): void => {
        timer.cancel()
        if (outcome instanceof AppError || this.#isStopped) {
          socket?.destroy()
          reject(outcome instanceof AppError ? outcome : this.#unreachable('stopped'))
        } else resolve(this.#add(outcome, remote, false))
      }
      const timer = this.#options.clock.after(this.#options.limits.connectMs, () =>
        settle(this.#unreachable('timeout')),
      )
      const socket = this.#dial(remote, settle)
    })
  }

  /** Returns undefined, and calls `done` with the reason, if nothing can be dialled. */
  #dial(remote: Remote, done: (outcome: Socket | AppError) => void): Socket | undefined {
    const { address, port, name, ownName } = remote
    const { tls } = this.#options
    if (tls === undefined) {
      const socket = createConnection({ host: address, port })
      const failed = (cause: unknown): void => done(this.#unreachable(cause))
      socket.once('error', failed)
      socket.once('connect', () => {
        socket.off('error', failed)
        done(socket)
      })
      // An error after the time-out is ignored.
      socket.on('error', () => undefined)
      return socket
    }
    if (name !== undefined) {
      const socket = tls.connect({ address, port, name, ownName }, done)
      socket.on('error', () => undefined)
      return socket
    }
    queueMicrotask(() => done(new AppError('sip_unreachable', 'the connection of the far end is gone')))
    return undefined
  }

  #add(socket: Socket, remote: Remote, isInbound: boolean): Connection {
    return this.#connections.open(remote, (means) => new StreamConnection({ ...means, socket, isInbound }))
  }

  #unreachable(cause: unknown): AppError {
    const { viaName } = transports[this.#options.transport]
    return new AppError('sip_unreachable', `the far end cannot be reached over ${viaName}`, { cause })
  }
}
