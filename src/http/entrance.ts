// Connections to the HTTP server: accepted in clear or over TLS, counted, and handed over when they become WebSockets.
import type { IncomingMessage, Server } from 'node:http'
import { isIP, type Socket } from 'node:net'
import type { TlsIdentity } from '../certificates/tls-server.ts'
import type { WebSocketTaker } from '../network/web-socket-upgrade.ts'
import type { Clock } from '../lib/clock.ts'
import { toPlainAddress } from '../network/mapped-address.ts'
import {
  createConnectionLimit,
  type ConnectionLimit,
  type ConnectionLimitOptions,
} from './limits/connection-limit.ts'
import { SecureListener } from './secure-listener.ts'

export interface EntranceOptions extends ConnectionLimitOptions {
  readonly clock: Clock
  readonly webSockets?: WebSocketTaker | undefined
}

export class Entrance {
  readonly #server: Server
  readonly #options: EntranceOptions
  readonly #limit: ConnectionLimit
  /** The raw connection beneath each one over TLS. */
  readonly #beneath = new WeakMap<Socket, Socket>()
  readonly #upgraded = new Set<Socket>()
  #secure: SecureListener | undefined

  constructor(server: Server, options: EntranceOptions) {
    this.#server = server
    this.#options = options
    this.#limit = createConnectionLimit(options)
    server.on('connection', (socket: Socket) => {
      if (!this.#beneath.has(socket)) this.#limit.admit(socket)
    })
    if (options.webSockets !== undefined)
      server.on('upgrade', (request, socket, head) => this.#upgrade(request, socket as Socket, head))
  }

  /** Serves HTTPS too; resolves with its port. */
  listen(
    bind: string,
    { port, identity }: { readonly port: number; readonly identity: () => TlsIdentity },
  ): Promise<number> {
    this.#secure = new SecureListener({
      identity,
      limit: this.#limit,
      clock: this.#options.clock,
      accepted: (socket, raw) => {
        this.#beneath.set(socket, raw)
        this.#server.emit('connection', socket)
      },
    })
    return this.#secure.listen(bind, port)
  }

  /** Resolves once every connection over TLS, and every WebSocket, is closed. Idempotent. */
  async stop(): Promise<void> {
    await Promise.all([this.#secure?.stop(), this.#options.webSockets?.close()])
  }

  closeAll(): void {
    for (const socket of this.#upgraded) socket.destroy()
  }

  #upgrade(request: IncomingMessage, socket: Socket, head: Buffer): void {
    const raw = this.#beneath.get(socket)
    this.#upgraded.add(socket)
    socket.on('error', () => undefined)
    socket.once('close', () => this.#upgraded.delete(socket))
    const { remotePort: port = 0 } = request.socket
    const address = this.#addressOf(request)
    const isSecure = raw !== undefined
    // One that is refused counts until it is closed.
    const opened = (): void => this.#limit.release(raw ?? socket)
    this.#options.webSockets?.take({ request, socket, head, address, port, isSecure, opened })
  }

  /** Returns the nearest address that is not that of a trusted proxy. */
  #addressOf({ headers, socket }: IncomingMessage): string {
    const forwarded = String(headers['x-forwarded-for'] ?? '').split(',')
    let address = toPlainAddress(socket.remoteAddress ?? '')
    while (this.#limit.isProxy(address)) {
      const next = toPlainAddress((forwarded.pop() ?? '').trim())
      if (isIP(next) === 0) break
      address = next
    }
    return address
  }
}

export function isWebSocket({ headers }: IncomingMessage): boolean {
  return headers.upgrade?.toLowerCase() === 'websocket'
}
