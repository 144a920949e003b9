// The opening handshake of a WebSocket that speaks SIP: RFC 7118 §4.
import type { IncomingMessage, Server } from 'node:http'
import type { Socket } from 'node:net'
import type { WebSocket, WebSocketServer } from 'ws'
import type { Clock } from '../../lib/clock.ts'
import type { ErrorCode } from '../../lib/errors.ts'
import { once } from '../../lib/once.ts'
import { hostFieldsOf } from '../../network/host-fields.ts'
import { messageLimits } from '../message/parse-message.ts'

type Done = (outcome: WebSocket | Error) => void

// Enough for the request of a browser with its cookies, and for any that is of use.
const maxHeaderBytes = 16_384
// The wait for a refused far end to read the refusal, whatever it still sends.
const refusalMs = 5_000

export class WebSocketHandshake {
  readonly #origins: readonly string[] | undefined
  readonly #clock: Clock
  readonly #waiting = new Map<Socket, Done>()
  /** Loaded only when a WebSocket is requested. */
  readonly #sockets = once(openSockets)
  #http: Server | undefined

  /** `origins` are the web pages that may connect; all if left out. Programs other than browsers send no origin. */
  constructor(origins: readonly string[] | undefined, clock: Clock) {
    this.#origins = origins
    this.#clock = clock
  }

  /** Prepares its own port. node:http is loaded only then, since it slows a start. */
  async load(): Promise<void> {
    const [{ createServer }] = await Promise.all([import('node:http'), this.#sockets()])
    this.#http = createServer({ maxHeaderSize: maxHeaderBytes }, (_request, response) => {
      response.writeHead(426, { connection: 'close', upgrade: 'websocket', 'content-type': 'text/plain' })
      response.end('This port speaks SIP over WebSocket (RFC 7118): connect with the subprotocol "sip".\n')
    })
    this.#http.on('upgrade', (request, socket, head) => {
      const own = socket as Socket
      this.upgrade({ request, socket: own, head }, (outcome) => this.#settle(own, outcome))
    })
    this.#http.on('clientError', (_error, socket) => socket.destroy())
  }

  /** Handles a connection to the port of its own. */
  accept(socket: Socket, done: Done): void {
    this.#waiting.set(socket, done)
    socket.once('close', () => this.#settle(socket, new Error('closed before it was a WebSocket')))
    this.#http?.emit('connection', socket)
  }

  /**
   * Handles an upgrade request. Calls `done` once, also if the far end closes before. A refused one is a handshake in
   * progress until it has closed, so that the limits of handshakes apply to it.
   */
  upgrade({ request, socket, head }: UpgradeRequest, done: Done): void {
    const refusal = this.#refusalOf(request)
    if (refusal !== undefined) {
      refuseUpgrade(socket, refusal, this.#clock)
      // Before the listener of `accept`, which does not know the reason.
      return void socket.prependOnceListener('close', () => done(new Error(refusal.msg)))
    }
    const gone = (): void => done(new Error('closed before it was a WebSocket'))
    socket.once('close', gone)
    const opened = (channel: WebSocket): void => {
      // Its taker may have no room for it and close it, and its first bytes may be no frame: an error without a
      // listener would end the process.
      channel.on('error', () => undefined)
      socket.off('close', gone)
      done(channel)
    }
    // If the socket has closed, handleUpgrade has no effect.
    void this.#sockets().then((sockets) => sockets.handleUpgrade(request, socket, head, opened))
  }

  #settle(socket: Socket, outcome: WebSocket | Error): void {
    const done = this.#waiting.get(socket)
    this.#waiting.delete(socket)
    done?.(outcome)
  }

  #refusalOf({ headers, rawHeaders }: IncomingMessage): UpgradeRefusal | undefined {
    if (hostFieldsOf(rawHeaders) !== 1)
      return {
        status: '400 Bad Request',
        code: 'bad_request',
        msg: 'The request must have one Host header.',
      }
    const offered = (headers['sec-websocket-protocol'] ?? '').split(',').map((name) => name.trim())
    if (!offered.includes(subprotocol))
      return {
        status: '400 Bad Request',
        code: 'bad_request',
        msg: 'The WebSocket must offer the subprotocol "sip".',
      }
    const { origin } = headers
    const isAllowed =
      this.#origins === undefined || origin === undefined || this.#origins.includes(origin.toLowerCase())
    if (isAllowed) return undefined
    const msg = 'SWITCHHOOK_WS_ORIGINS does not name this web page.'
    return { status: '403 Forbidden', code: 'not_permitted', msg }
  }
}

interface UpgradeRequest {
  readonly request: IncomingMessage
  readonly socket: Socket
  readonly head: Buffer
}

export interface UpgradeRefusal {
  readonly status: string
  readonly code: ErrorCode
  readonly msg: string
  readonly retryAfterSeconds?: number
}

/** Refuses an upgrade in the format of all refusals over HTTP. */
export function refuseUpgrade(
  socket: Socket,
  { status, code, msg, retryAfterSeconds }: UpgradeRefusal,
  clock: Clock,
): void {
  const body = JSON.stringify({ msg, code })
  const headers = [
    `HTTP/1.1 ${status}`,
    'Connection: close',
    'Content-Type: application/json; charset=utf-8',
    `Content-Length: ${Buffer.byteLength(body)}`,
    ...(retryAfterSeconds === undefined ? [] : [`Retry-After: ${retryAfterSeconds}`]),
  ]
  socket.end(`${headers.join('\r\n')}\r\n\r\n${body}`)
  // Its close is noticed only when all that it has sent before is read.
  socket.resume()
  const limit = clock.after(refusalMs, () => socket.destroy())
  socket.once('close', () => limit.cancel())
}

async function openSockets(): Promise<WebSocketServer> {
  const { WebSocketServer: SocketServer } = await import('ws')
  return new SocketServer({
    noServer: true,
    clientTracking: false,
    perMessageDeflate: false,
    maxPayload: messageLimits.messageBytes,
    handleProtocols: () => subprotocol,
  })
}

const subprotocol = 'sip'
