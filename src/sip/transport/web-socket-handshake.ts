// The opening of a WebSocket that speaks SIP: RFC 7118 §4.
import type { IncomingMessage, Server } from 'node:http'
import type { Socket } from 'node:net'
import type { WebSocket, WebSocketServer } from 'ws'
import { messageLimits } from '../message/parse-message.ts'

// The request of a browser with its cookies; more is no use to us.
const maxHeaderBytes = 16_384

export class WebSocketHandshake {
  readonly #origins: readonly string[] | undefined
  readonly #waiting = new Map<Socket, (outcome: WebSocket | Error) => void>()
  #http: Server | undefined
  #sockets: WebSocketServer | undefined

  /** `origins`: the web pages that may connect; all where it is left out. A program that is no browser names none. */
  constructor(origins: readonly string[] | undefined) {
    this.#origins = origins
  }

  /** Both are loaded where WebSockets are served only: node:http takes part of a start. */
  async load(): Promise<void> {
    const [{ createServer }, { WebSocketServer: SocketServer }] = await Promise.all([
      import('node:http'),
      import('ws'),
    ])
    this.#sockets = new SocketServer({
      noServer: true,
      clientTracking: false,
      perMessageDeflate: false,
      maxPayload: messageLimits.messageBytes,
      handleProtocols: () => subprotocol,
    })
    this.#http = createServer({ maxHeaderSize: maxHeaderBytes }, (_request, response) => {
      response.writeHead(426, { connection: 'close', upgrade: 'websocket', 'content-type': 'text/plain' })
      response.end('This port speaks SIP over WebSocket (RFC 7118): connect with the subprotocol "sip".\n')
    })
    this.#http.on('upgrade', (request, socket, head) => this.#upgrade(request, socket as Socket, head))
    this.#http.on('clientError', (_error, socket) => socket.destroy())
  }

  accept(socket: Socket, done: (outcome: WebSocket | Error) => void): void {
    this.#waiting.set(socket, done)
    socket.once('close', () => this.#settle(socket, new Error('closed before it was a WebSocket')))
    this.#http?.emit('connection', socket)
  }

  #settle(socket: Socket, outcome: WebSocket | Error): void {
    const done = this.#waiting.get(socket)
    this.#waiting.delete(socket)
    done?.(outcome)
  }

  #upgrade(request: IncomingMessage, socket: Socket, head: Buffer): void {
    const refusal = this.#refusalOf(request)
    if (refusal !== undefined) {
      const [status, sentence] = refusal
      const headers = `Connection: close\r\nContent-Type: text/plain\r\nContent-Length: ${Buffer.byteLength(sentence)}`
      socket.end(`HTTP/1.1 ${status}\r\n${headers}\r\n\r\n${sentence}`)
      return this.#settle(socket, new Error(sentence))
    }
    this.#sockets?.handleUpgrade(request, socket, head, (channel) => this.#settle(socket, channel))
  }

  #refusalOf({ headers }: IncomingMessage): readonly [status: string, sentence: string] | undefined {
    const offered = (headers['sec-websocket-protocol'] ?? '').split(',').map((name) => name.trim())
    if (!offered.includes(subprotocol))
      return ['400 Bad Request', 'The WebSocket must offer the subprotocol "sip".']
    const { origin } = headers
    const isAllowed =
      this.#origins === undefined || origin === undefined || this.#origins.includes(origin.toLowerCase())
    return isAllowed ? undefined : ['403 Forbidden', 'SWITCHHOOK_WS_ORIGINS does not name this web page.']
  }
}

const subprotocol = 'sip'
