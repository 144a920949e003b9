// An application over WebSocket, as a real server of the library: it keeps the platform's messages and responds to
// them.
import { once } from 'node:events'
import { createServer } from 'node:http'
import { WebSocketServer, type WebSocket } from 'ws'
import { listenLocally, type LocalServer } from './local-http.ts'
import { provision, type Platform, type Tenant } from './platform-process.ts'
import { Inbox } from './wait.ts'

export interface SocketMessage {
  readonly type: string
  readonly msgid: string
  readonly call_sid: string
  readonly data: Readonly<Record<string, unknown>>
}

export interface Heard {
  readonly socket: WebSocket
  readonly message: SocketMessage
}

export class SocketApplication {
  readonly heard = new Inbox<Heard>()
  readonly #local: LocalServer

  private constructor(local: LocalServer) {
    this.#local = local
  }

  static async start(): Promise<SocketApplication> {
    const http = createServer()
    const sockets = new WebSocketServer({ server: http, handleProtocols: () => 'ws.jambonz.org' })
    const server = new SocketApplication(await listenLocally(http))
    sockets.on('connection', (socket) => {
      socket.on('message', (text: Buffer) => {
        server.heard.push({ socket, message: JSON.parse(text.toString('utf8')) as SocketMessage })
      })
      socket.on('error', () => undefined)
    })
    return server
  }

  get url(): string {
    return this.#local.url.replace('http', 'ws')
  }

  next(type: string, call_sid?: string): Promise<Heard> {
    const isIt = ({ message }: Heard): boolean =>
      message.type === type && (call_sid === undefined || message.call_sid === call_sid)
    return this.heard.next(type, isIt, { timeoutMs: 60_000 })
  }

  /** Creates an account with this application. */
  async provision({ api }: Platform): Promise<Tenant> {
    const hook = { url: `${this.url}/call`, method: 'POST' }
    return await provision(api, {
      application: { url: () => 'http://127.0.0.1:9/' } as never,
      fields: { call_hook: hook, call_status_hook: hook },
    })
  }

  close(): Promise<void> {
    return this.#local.close()
  }
}

export const ack = ({ socket, message }: Heard, data: readonly object[] = []): void =>
  socket.send(JSON.stringify({ type: 'ack', msgid: message.msgid, data }))

export async function codeOf(socket: WebSocket): Promise<number> {
  const [code] = (await once(socket, 'close')) as [number]
  return code
}
