// A server for audio streams on loopback, as applications run one: keeps what it receives and sends what a test says.
import { createServer, type IncomingMessage } from 'node:http'
import { WebSocketServer, type WebSocket } from 'ws'
import { listenLocally, type LocalServer } from './local-http.ts'
import { Inbox } from './wait.ts'

/** One WebSocket of the server. */
export class ServedStream {
  readonly request: IncomingMessage
  readonly socket: WebSocket
  /** Text frames, parsed. */
  readonly texts = new Inbox<Readonly<Record<string, unknown>>>()
  readonly binary: Buffer[] = []
  readonly closed: Promise<number>

  constructor(socket: WebSocket, request: IncomingMessage) {
    this.socket = socket
    this.request = request
    this.closed = new Promise((resolve) => socket.once('close', resolve))
    socket.on('error', () => undefined)
    socket.on('message', (data: Buffer, isBinary) => {
      if (isBinary) this.binary.push(data)
      else this.texts.push(JSON.parse(data.toString()) as Readonly<Record<string, unknown>>)
    })
  }

  /** Returns the received samples of one channel, -1 to 1. */
  samples(channels = 1, channel = 0): Float64Array {
    const bytes = Buffer.concat(this.binary)
    const count = Math.floor(bytes.length / 2 / channels)
    return Float64Array.from(
      { length: count },
      (_, at) => bytes.readInt16LE((at * channels + channel) * 2) / 32_768,
    )
  }

  say(message: object): void {
    this.socket.send(JSON.stringify(message))
  }
}

export interface AudioServer {
  readonly url: string
  readonly streams: Inbox<ServedStream>
  close(): Promise<void>
}

export interface AudioServerOptions {
  /** The subprotocol that it picks from those offered; false picks none. */
  readonly picks?: string | false
  /** Returns the response that refuses the handshake, if any. */
  readonly refuse?: (request: IncomingMessage) => { status: number; location?: string } | undefined
  /** The handshake is answered once this has resolved. */
  readonly opens?: Promise<unknown>
  /** Called with each socket as soon as it is open. */
  readonly onStream?: (stream: ServedStream) => void
}

export async function serveAudio({
  picks = false,
  refuse,
  opens,
  onStream,
}: AudioServerOptions = {}): Promise<AudioServer> {
  const streams = new Inbox<ServedStream>()
  const http = createServer()
  const sockets = new WebSocketServer({ noServer: true, handleProtocols: () => picks })
  http.on('upgrade', (request, stream, head) => {
    const refusal = refuse?.(request)
    if (refusal !== undefined) {
      const location = refusal.location === undefined ? '' : `location: ${refusal.location}\r\n`
      return void stream.end(`HTTP/1.1 ${refusal.status} No\r\n${location}content-length: 0\r\n\r\n`)
    }
    void Promise.resolve(opens).then(() =>
      sockets.handleUpgrade(request, stream, head, (socket) => {
        const served = new ServedStream(socket, request)
        onStream?.(served)
        streams.push(served)
      }),
    )
  })
  const server: LocalServer = await listenLocally(http)
  return {
    url: server.url.replace('http', 'ws'),
    streams,
    async close() {
      for (const socket of sockets.clients) socket.terminate()
      await server.close()
    },
  }
}
