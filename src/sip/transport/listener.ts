// The listening socket of a transport with connections: who may connect, and the handshake before the first byte of SIP.
import { createServer } from 'node:net'
import type { Server, Socket } from 'node:net'
import type { Clock, Timer } from '../../lib/clock.ts'
import { Shares } from '../../lib/shares.ts'
import { toPlainAddress } from '../../network/mapped-address.ts'
import { networkOf } from '../../network/network-of.ts'
import type { ConnectionLimits } from '../limits.ts'
import type { Remote } from '../sip.ts'
import type { Connections } from './connections.ts'
import type { Tls } from './tls.ts'
import type { TransportHandlers } from './transport.ts'
import type { Transport } from './transports.ts'

export interface ListenerOptions {
  readonly transport: Transport
  readonly limits: ConnectionLimits
  readonly clock: Clock
  readonly handlers: TransportHandlers
  readonly connections: Pick<Connections, 'mayEnter'>
  /** Left out, what connects speaks at once. */
  readonly tls?: Tls | undefined
  /** A connection that may be used from now on. */
  readonly accepted: (socket: Socket, remote: Remote) => void
  readonly misbehaved: (reason: string, kind: 'unparsable' | 'slow', remote: Remote) => void
  readonly refused: () => void
}

interface Handshake {
  readonly remote: Remote
  readonly timer: Timer
}

export class Listener {
  readonly #options: ListenerOptions
  readonly #handshakes = new Map<Socket, Handshake>()
  readonly #shares: Shares
  #server: Server | undefined
  #isStopped = false

  constructor(options: ListenerOptions) {
    this.#options = options
    this.#shares = new Shares(options.limits.maxHandshakes)
  }

  /** Handshakes that are not over. */
  get handshakes(): number {
    return this.#handshakes.size
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

  /** Takes no more connections; what was accepted stays. Resolves once those are closed as well. */
  async stop(): Promise<void> {
    this.#isStopped = true
    for (const socket of this.#handshakes.keys()) {
      this.#end(socket)
      socket.destroy()
    }
    await this.unlisten()
  }

  /** Closes the listening socket, to open it again elsewhere. */
  async unlisten(): Promise<void> {
    const server = this.#server
    this.#server = undefined
    if (server !== undefined) await new Promise((resolve) => server.close(resolve))
  }

  #accept(socket: Socket): void {
    const { remoteAddress, remotePort } = socket
    // Its end is what matters, and `close` says it.
    socket.on('error', () => undefined)
    const { transport, handlers, tls } = this.#options
    const remote = { transport, address: toPlainAddress(remoteAddress ?? ''), port: remotePort ?? 0 }
    const mayConnect = remotePort !== undefined && !this.#isStopped && handlers.admits?.(remote) !== false
    if (!mayConnect || !this.#options.connections.mayEnter(remote)) return this.#refuse(socket)
    if (tls === undefined) this.#options.accepted(socket, remote)
    else this.#handshake(socket, remote, tls)
  }

  #refuse(socket: Socket): void {
    this.#options.refused()
    socket.destroy()
  }

  #handshake(socket: Socket, remote: Remote, tls: Tls): void {
    const { clock, limits, misbehaved } = this.#options
    if (!this.#mayBegin(remote)) return this.#refuse(socket)
    const timer = clock.after(limits.handshakeMs, () => {
      misbehaved('no handshake in time', 'slow', remote)
      this.#end(socket)
      socket.destroy()
    })
    this.#handshakes.set(socket, { remote, timer })
    this.#shares.take(networkOf(remote.address))
    tls.accept(socket, (outcome) => {
      const isEnded = !this.#end(socket)
      if (!(outcome instanceof Error)) this.#secured(outcome, remote)
      else if (!isEnded && !this.#isStopped) misbehaved(`handshake: ${outcome.message}`, 'unparsable', remote)
    })
  }

  /** At the bound, the handshake that has taken longest gives way: an honest one takes a fraction of a second. */
  #mayBegin(remote: Remote): boolean {
    const { handlers, limits, misbehaved } = this.#options
    const share = handlers.isProven?.(remote) === true ? limits.provenShare : limits.strangerShare
    if (this.#handshakes.size >= limits.maxHandshakes) {
      for (const [socket, oldest] of this.#handshakes) {
        misbehaved('gave way to a new handshake', 'slow', oldest.remote)
        this.#end(socket)
        socket.destroy()
        break
      }
    }
    return this.#shares.mayTake(networkOf(remote.address), share)
  }

  /** False for one that was ended before. */
  #end(socket: Socket): boolean {
    const handshake = this.#handshakes.get(socket)
    if (handshake === undefined) return false
    this.#handshakes.delete(socket)
    this.#shares.give(networkOf(handshake.remote.address))
    handshake.timer.cancel()
    return true
  }

  #secured(socket: Socket, remote: Remote): void {
    if (this.#isStopped || !this.#options.connections.mayEnter(remote)) return this.#refuse(socket)
    this.#options.accepted(socket, remote)
  }
}
