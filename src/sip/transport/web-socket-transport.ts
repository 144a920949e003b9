// SIP over WebSockets, in clear and over TLS (RFC 7118): browsers connect here, and nothing is opened from here.
import type { WebSocket } from 'ws'
import type { Clock } from '../../lib/clock.ts'
import { AppError } from '../../lib/errors.ts'
import type { ConnectionLimits } from '../limits.ts'
import type { Remote } from '../sip.ts'
import { Connections } from './connections.ts'
import { Listener } from './listener.ts'
import type { Tls } from './tls.ts'
import type { TransportHandlers } from './transport.ts'
import type { Transport } from './transports.ts'
import { WebSocketConnection } from './web-socket-connection.ts'
import { WebSocketHandshake } from './web-socket-handshake.ts'

export interface WebSocketTransportOptions {
  readonly transport: Transport
  readonly limits: ConnectionLimits
  readonly clock: Clock
  readonly handlers: TransportHandlers
  readonly origins: readonly string[] | undefined
  /** Left out, it speaks in clear. */
  readonly tls?: Tls | undefined
  readonly misbehaved: (reason: string, kind: 'unparsable' | 'slow', remote: Remote) => void
  readonly refused: () => void
}

export class WebSocketTransport {
  readonly #options: WebSocketTransportOptions
  readonly #connections: Connections
  readonly #handshake: WebSocketHandshake
  readonly #listener: Listener<WebSocket>

  constructor(options: WebSocketTransportOptions) {
    const { tls, origins, limits } = options
    this.#options = options
    const own = { ...limits, maxConnections: limits.maxWebSockets }
    this.#connections = new Connections({ ...options, limits: own })
    this.#handshake = new WebSocketHandshake(origins)
    this.#listener = new Listener<WebSocket>({
      ...options,
      connections: this.#connections,
      handshake: (socket, done) => {
        if (tls === undefined) return this.#handshake.accept(socket, done)
        tls.accept(socket, (outcome) => {
          if (outcome instanceof Error) done(outcome)
          else this.#handshake.accept(outcome, done)
        })
      },
      accepted: (channel, remote) => this.#add(channel, remote),
    })
  }

  get connections(): number {
    return this.#connections.size
  }

  get handshakes(): number {
    return this.#listener.handshakes
  }

  /** Resolves with the port it listens on. */
  async listen(address: string, port: number): Promise<number> {
    await this.#handshake.load()
    return await this.#listener.listen(address, port)
  }

  /** Idempotent. */
  async stop(): Promise<void> {
    this.#connections.closeAllSoon()
    const lastChance = this.#options.clock.after(1_000, () => this.#connections.closeAll())
    await this.#listener.stop()
    lastChance.cancel()
    this.#connections.closeAll()
  }

  async send(bytes: Uint8Array, remote: Remote): Promise<void> {
    const connection = this.#connections.find(remote)
    if (connection === undefined) throw gone()
    await connection.send(bytes)
  }

  async open(remote: Remote): Promise<void> {
    if (!this.isOpen(remote)) throw gone()
  }

  isOpen(remote: Remote): boolean {
    return this.#connections.find(remote) !== undefined
  }

  #add(channel: WebSocket, remote: Remote): void {
    this.#connections.open(remote, (means) => new WebSocketConnection({ ...means, channel }))
  }
}

function gone(): AppError {
  return new AppError('sip_unreachable', 'the WebSocket is gone, which its far end alone can open')
}
