// The HTTPS port: accepts connections, bounds their handshakes, and hands them on afterwards.
import { createServer, type Server, type Socket } from 'node:net'
import type { TLSSocket } from 'node:tls'
import { TlsServer, type TlsIdentity } from '../certificates/tls-server.ts'
import type { Clock } from '../lib/clock.ts'
import { createTokenBuckets, type BucketRule, type TokenBuckets } from '../lib/bounds/token-buckets.ts'
import { HalfOpen } from '../network/half-open.ts'
import { networkOf } from '../network/network-of.ts'
import type { ConnectionLimit } from './limits/connection-limit.ts'

export interface HandshakeLimits {
  /** The longest time from connection to handshake. */
  readonly handshakeMs: number
  /** The most handshakes in progress. */
  readonly maxHandshakes: number
  /** The share of the free handshakes that one network may have. */
  readonly share: number
  readonly perNetwork: BucketRule
  readonly perAllNetworks: BucketRule
}

// The bounds of SIP over TLS (sip/limits.ts), since the same sources connect here. A handshake costs a millisecond or
// two.
const handshakeLimits: HandshakeLimits = {
  handshakeMs: 5_000,
  maxHandshakes: 1_000,
  // A hundred browsers of an office that come back at the same time need a tenth of all; one network gets a fifth.
  share: 1 / 4,
  // A hundred browsers of an office that come back at the same time, or a program that connects again for each of 20
  // requests a second.
  perNetwork: { capacity: 400, refillMs: 20_000 },
  perAllNetworks: { capacity: 5_000, refillMs: 50_000 },
}

export interface SecureListenerOptions {
  readonly identity: () => TlsIdentity
  readonly limit: ConnectionLimit
  readonly clock: Clock
  /** Called when a handshake has ended; `raw` is the connection beneath, which the limit counts. */
  readonly accepted: (socket: TLSSocket, raw: Socket) => void
  readonly limits?: Partial<HandshakeLimits>
}

export class SecureListener {
  readonly #options: SecureListenerOptions
  readonly #limits: HandshakeLimits
  readonly #tls: TlsServer
  readonly #buckets: TokenBuckets
  readonly #pending: HalfOpen<Socket>
  #server: Server | undefined

  constructor(options: SecureListenerOptions) {
    this.#options = options
    this.#limits = { ...handshakeLimits, ...options.limits }
    this.#tls = new TlsServer(options.identity)
    this.#buckets = createTokenBuckets(options.clock)
    this.#pending = new HalfOpen(this.#limits.maxHandshakes)
  }

  /** Resolves with the port it listens on. */
  listen(host: string, port: number): Promise<number> {
    const server = createServer({ noDelay: true }, (socket) => this.#accept(socket))
    return new Promise((resolve, reject) => {
      server.once('error', reject)
      server.listen({ host, port, backlog: 511 }, () => {
        server.off('error', reject)
        // Out of file descriptors, for example, the connection is lost and the server continues.
        server.on('error', () => undefined)
        this.#server = server
        const bound = server.address()
        resolve(typeof bound === 'object' && bound !== null ? bound.port : port)
      })
    })
  }

  /** Stops accepting connections. Resolves once those that were accepted are closed. Idempotent. */
  async stop(): Promise<void> {
    const server = this.#server
    this.#server = undefined
    for (const socket of this.#pending.all()) socket.destroy()
    if (server !== undefined) await new Promise((resolve) => server.close(resolve))
  }

  #accept(socket: Socket): void {
    // `close` follows and handles the end.
    socket.on('error', () => undefined)
    const { limit, clock, accepted } = this.#options
    if (!limit.admit(socket)) return
    const address = socket.remoteAddress ?? ''
    // Many clients share the address of a proxy, which bounds them.
    const isProxy = limit.isProxy(address)
    const share = isProxy ? 1 : this.#limits.share
    const mayBegin = this.#pending.mayBegin(address, share) && (isProxy || this.#mayCost(address))
    if (!mayBegin) return void socket.destroy()
    this.#makeRoom()
    const timer = clock.after(this.#limits.handshakeMs, () => socket.destroy())
    const over = (): void => {
      timer.cancel()
      this.#pending.end(socket)
    }
    this.#pending.begin(socket, address, share)
    socket.once('close', over)
    this.#tls.accept(socket, (outcome) => {
      over()
      if (outcome instanceof Error) socket.destroy()
      else accepted(outcome, socket)
    })
  }

  #mayCost(address: string): boolean {
    const { perNetwork, perAllNetworks } = this.#limits
    return (
      this.#buckets.take(networkOf(address), perNetwork) === 0 && this.#buckets.take('', perAllNetworks) === 0
    )
  }

  #makeRoom(): void {
    const former = this.#pending.givesWay()
    if (former === undefined) return
    this.#pending.end(former)
    former.destroy()
  }
}
