// The listening socket of a transport with connections: the admission of sources, and the handshake before the first
// byte of SIP.
import { createServer, type Server, type Socket } from 'node:net'
import type { Clock, Timer } from '../../lib/clock.ts'
import { createTokenBuckets, type TokenBuckets } from '../../lib/bounds/token-buckets.ts'
import { HalfOpen } from '../../network/half-open.ts'
import { toPlainAddress } from '../../network/mapped-address.ts'
import type { ConnectionLimits } from '../limits.ts'
import type { Remote, Transport } from './transports.ts'
import type { Connections } from './connections.ts'
import type { TransportHandlers } from './transport.ts'

export interface ListenerOptions<Channel> {
  readonly transport: Transport
  readonly limits: ConnectionLimits
  readonly clock: Clock
  readonly handlers: TransportHandlers
  readonly connections: Pick<Connections, 'mayEnter'>
  /** Turns a socket into the channel for SIP. Calls `done` once; immediately if there is no handshake. */
  readonly handshake: Handshake<Channel>
  /** Called with a connection that may be used from now on. */
  readonly accepted: (channel: Channel, remote: Remote) => void
  readonly misbehaved: (reason: string, kind: 'unparsable' | 'slow', remote: Remote) => void
  readonly refused: () => void
}

export type Handshake<Channel> = (socket: Socket, done: (outcome: Channel | Error) => void) => void

interface Pending {
  readonly remote: Remote
  readonly timer: Timer
}

export class Listener<Channel = Socket> {
  readonly #options: ListenerOptions<Channel>
  readonly #pending = new Map<Socket, Pending>()
  readonly #halfOpen: HalfOpen<Socket>
  readonly #strangers: TokenBuckets
  #server: Server | undefined
  #isStopped = false

  constructor(options: ListenerOptions<Channel>) {
    this.#options = options
    this.#halfOpen = new HalfOpen(options.limits.maxHandshakes)
    this.#strangers = createTokenBuckets(options.clock)
  }

  /** The number of handshakes in progress. */
  get handshakes(): number {
    return this.#pending.size
  }

  /** Resolves with the port it listens on. */
  listen(address: string, port: number): Promise<number> {
    const server = createServer({ noDelay: true }, (socket) => this.#accept(socket))
    return new Promise((resolve, reject) => {
      server.once('error', reject)
      server.listen({ host: address, port, backlog: 511 }, () => {
        server.off('error', reject)
        // For example, no file descriptors are left: the connection is lost, and the server continues.
        server.on('error', () => this.#options.refused())
        this.#server = server
        const bound = server.address()
        resolve(typeof bound === 'object' && bound !== null ? bound.port : port)
      })
    })
  }

  /** Accepts no more connections; existing ones stay. Resolves once those are closed as well. */
  async stop(): Promise<void> {
    this.#isStopped = true
    for (const socket of this.#pending.keys()) {
      this.#end(socket)
      socket.destroy()
    }
    await this.unlisten()
  }

  /** Closes the listening socket, so that it can be opened again elsewhere. */
  async unlisten(): Promise<void> {
    const server = this.#server
    this.#server = undefined
    if (server !== undefined) await new Promise((resolve) => server.close(resolve))
  }

  #accept(socket: Socket): void {
    const { remoteAddress, remotePort } = socket
    const { transport, handlers, handshake, limits } = this.#options
    // Only the end of the connection matters, and `close` reports it.
    socket.on('error', () => undefined)
    // Keep-alive detects a far end that vanished silently, and so ends its registration.
    socket.setKeepAlive(true, limits.keepAliveMs)
    const remote = { transport, address: toPlainAddress(remoteAddress ?? ''), port: remotePort ?? 0 }
    const mayConnect = remotePort !== undefined && !this.#isStopped && handlers.admits?.(remote) !== false
    if (!mayConnect || !this.#options.connections.mayEnter(remote)) this.#refuse(socket)
    else this.#begin(socket, remote, handshake)
  }

  #refuse(socket: Socket): void {
    this.#options.refused()
    socket.destroy()
  }

  #begin(socket: Socket, remote: Remote, handshake: Handshake<Channel>): void {
    const { clock, limits, misbehaved } = this.#options
    const isProven = this.#options.handlers.isProven?.(remote) === true
    const share = isProven ? limits.provenShare : limits.strangerShare
    if (!this.#halfOpen.mayBegin(remote.address, share)) return this.#refuse(socket)
    // A handshake that the source's own share refuses is not counted against the other strangers.
    if (!isProven && this.#strangers.take('', limits.strangerHandshakes) > 0) return this.#refuse(socket)
    this.#makeRoom()
    const timer = clock.after(limits.handshakeMs, () => {
      misbehaved('no handshake in time', 'slow', remote)
      this.#end(socket)
      socket.destroy()
    })
    this.#pending.set(socket, { remote, timer })
    this.#halfOpen.begin(socket, remote.address, share)
    handshake(socket, (outcome) => {
      const isEnded = !this.#end(socket)
      if (!(outcome instanceof Error)) this.#prepared(socket, outcome, remote)
      else if (!isEnded && !this.#isStopped) misbehaved(`handshake: ${outcome.message}`, 'unparsable', remote)
    })
  }

  #makeRoom(): void {
    const socket = this.#halfOpen.givesWay()
    const pending = socket && this.#pending.get(socket)
    if (socket === undefined || pending === undefined) return
    this.#options.misbehaved('gave way to a new handshake', 'slow', pending.remote)
    this.#end(socket)
    socket.destroy()
  }

  /** Returns false for a handshake that has ended already. */
  #end(socket: Socket): boolean {
    const pending = this.#pending.get(socket)
    if (pending === undefined) return false
    this.#pending.delete(socket)
    this.#halfOpen.end(socket)
    pending.timer.cancel()
    return true
  }

  #prepared(socket: Socket, channel: Channel, remote: Remote): void {
    if (this.#isStopped || !this.#options.connections.mayEnter(remote)) return this.#refuse(socket)
    this.#options.accepted(channel, remote)
  }
}
