// SIP over WebSockets, clear and over TLS (RFC 7118): browsers connect here; no connection is opened from here.
import type { WebSocket } from 'ws'
import type { Clock } from '../../lib/clock.ts'
import { toPlainAddress } from '../../network/mapped-address.ts'
import type { WebSocketUpgrade } from '../../network/web-socket-upgrade.ts'
import { AppError } from '../../lib/errors.ts'
import { retryAfterSeconds, type ConnectionLimits } from '../limits.ts'
import type { Remote, Transport } from './transports.ts'
import { Connections } from './connections.ts'
import { Listener } from './listener.ts'
import type { Tls } from './tls.ts'
import type { TransportHandlers } from './transport.ts'
import { WebSocketConnection } from './web-socket-connection.ts'
import { refuseUpgrade, WebSocketHandshake, type UpgradeRefusal } from './web-socket-handshake.ts'

export interface WebSocketTransportOptions {
  readonly transport: Transport
  readonly limits: ConnectionLimits
  readonly clock: Clock
  readonly handlers: TransportHandlers
  readonly origins: readonly string[] | undefined
  /** Left out, connections are clear. */
  readonly tls?: Tls | undefined
  readonly misbehaved: (reason: string, kind: 'unparsable' | 'slow', remote: Remote) => void
  readonly refused: () => void
}

export class WebSocketTransport {
  readonly #options: WebSocketTransportOptions
  readonly #connections: Connections
  readonly #handshake: WebSocketHandshake
  readonly #listener: Listener<WebSocket>
  #isStopped = false

  constructor(options: WebSocketTransportOptions) {
    const { tls, origins, limits, clock } = options
    this.#options = options
    const own = { ...limits, maxConnections: limits.maxWebSockets }
    this.#connections = new Connections({ ...options, limits: own })
    this.#handshake = new WebSocketHandshake(origins, clock)
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

  /** Accepts a WebSocket that was requested at the port of the API. */
  take(upgrade: WebSocketUpgrade): void {
    const { request, socket, head, address, port, opened } = upgrade
    const { transport, handlers, limits, clock, misbehaved, refused } = this.#options
    const isDirect = toPlainAddress(request.socket.remoteAddress ?? '') === address
    const remote: Remote = { transport, address, port, ...(isDirect ? {} : { isForwarded: true }) }
    socket.setKeepAlive(true, limits.keepAliveMs)
    const mayConnect = !this.#isStopped && handlers.admits?.(remote) !== false
    if (!mayConnect || !this.#connections.mayEnter(remote)) {
      refused()
      return refuseUpgrade(socket, busy, clock)
    }
    this.#handshake.upgrade({ request, socket, head }, (outcome) => {
      if (outcome instanceof Error) misbehaved(`handshake: ${outcome.message}`, 'unparsable', remote)
      else if (this.#isStopped) outcome.terminate()
      else {
        opened()
        this.#add(outcome, remote)
      }
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
    this.#isStopped = true
    await this.#connections.closeWith(this.#listener)
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

const busy: UpgradeRefusal = {
  status: '503 Service Unavailable',
  code: 'overloaded',
  msg: 'Too many SIP connections or messages come from this address, or to this platform.',
  retryAfterSeconds,
}

function gone(): AppError {
  return new AppError('sip_unreachable', 'the WebSocket is gone, which only its far end can open')
}
