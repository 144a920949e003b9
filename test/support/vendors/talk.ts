// A client of the fronts for their own tests: sends sound as a telephone does, a piece every 20 ms, and keeps what comes back.
import { once } from 'node:events'
import { WebSocket, type ClientOptions } from 'ws'

export class Talk {
  readonly received: Record<string, unknown>[] = []
  /** Texts that are not JSON, and binary messages. */
  readonly odd: (string | Buffer)[] = []
  readonly #socket: WebSocket
  #code: number | undefined

  private constructor(socket: WebSocket) {
    this.#socket = socket
    socket.on('message', (data: Buffer, isBinary) => {
      try {
        if (isBinary) throw new Error('binary')
        this.received.push(JSON.parse(data.toString()) as Record<string, unknown>)
      } catch {
        this.odd.push(isBinary ? data : data.toString())
      }
    })
    socket.on('error', () => undefined)
    socket.on('close', (code) => (this.#code = code))
  }

  static async open(url: string, options: ClientOptions = {}): Promise<Talk> {
    const socket = new WebSocket(url, options)
    const talk = new Talk(socket)
    await new Promise<void>((resolve, reject) => {
      socket.on('open', resolve)
      socket.on('unexpected-response', (_, { statusCode }) => reject(new Error(`status ${statusCode}`)))
      socket.on('error', reject)
    })
    return talk
  }

  send(message: object | string | Buffer): void {
    const isText = typeof message === 'object' && !Buffer.isBuffer(message)
    this.#socket.send(isText ? JSON.stringify(message) : message)
  }

  /** Sends the pieces in real time; `wrap` makes a message of each, or none. Stops when the socket is closed. */
  async say(
    pieces: readonly Buffer[],
    wrap: (piece: Buffer) => object | string | Buffer | undefined = (piece) => piece,
  ): Promise<void> {
    const start = performance.now()
    for (const [index, piece] of pieces.entries()) {
      const wait = start + index * 20 - performance.now()
      if (wait > 0) await new Promise((resolve) => setTimeout(resolve, wait))
      if (this.#socket.readyState !== WebSocket.OPEN) return
      const message = wrap(piece)
      if (message !== undefined) this.send(message)
    }
  }

  /** Resolves with the code when the server has closed the socket. */
  async closed(): Promise<number> {
    if (this.#code === undefined) await once(this.#socket, 'close')
    return this.#code ?? 0
  }

  close(): void {
    this.#socket.close()
  }
}
