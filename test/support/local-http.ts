// HTTP receivers on loopback for tests: ordinary ones, and ones that fail on purpose.
import { once } from 'node:events'
import { createServer, type IncomingHttpHeaders, type RequestListener } from 'node:http'
import type { AddressInfo, Server, Socket } from 'node:net'

export interface LocalServer {
  /** `http://127.0.0.1:<port>`. */
  readonly url: string
  /** Closes the server and cuts its connections. */
  close(): Promise<void>
}

export async function listenLocally(server: Server, port = 0): Promise<LocalServer> {
  const sockets = new Set<Socket>()
  server.on('connection', (socket) => {
    sockets.add(socket)
    socket.on('error', () => {})
    socket.on('close', () => sockets.delete(socket))
  })
  server.listen(port, '127.0.0.1')
  await once(server, 'listening')
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    async close() {
      if (!server.listening) return
      const closed = once(server, 'close')
      server.close()
      for (const socket of sockets) socket.destroy()
      await closed
    },
  }
}

export function serveLocally(listener: RequestListener, port = 0): Promise<LocalServer> {
  return listenLocally(createServer(listener), port)
}

export interface ReceivedRequest {
  readonly method: string
  readonly path: string
  readonly headers: IncomingHttpHeaders
  readonly body: string
}

export interface Reply {
  readonly status?: number
  readonly headers?: Record<string, string>
  readonly body?: string
  /** Whether it never responds. */
  readonly hangs?: boolean
}

export interface Receiver extends LocalServer {
  readonly received: readonly ReceivedRequest[]
  /** Resolves when this number of requests has arrived in all. */
  arrived(count: number): Promise<void>
}

/** Starts a receiver that keeps every request and responds as `reply` says. */
export async function startReceiver(
  reply: (request: ReceivedRequest, index: number) => Reply = () => ({}),
  port = 0,
): Promise<Receiver> {
  const received: ReceivedRequest[] = []
  const waiting: { readonly count: number; readonly resolve: () => void }[] = []
  const server = await serveLocally((request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => {
      const { method = '', url: path = '', headers } = request
      const entry = { method, path, headers, body: Buffer.concat(chunks).toString() }
      received.push(entry)
      const { status = 200, headers: own = {}, body = '', hangs = false } = reply(entry, received.length - 1)
      if (!hangs) response.writeHead(status, own).end(body)
      for (const one of waiting) if (received.length >= one.count) one.resolve()
    })
  }, port)
  return {
    ...server,
    received,
    arrived: (count) =>
      new Promise((resolve) => {
        if (received.length >= count) resolve()
        else waiting.push({ count, resolve })
      }),
  }
}
