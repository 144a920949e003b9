// SIP over WebSockets at the ports of the API: upgrade requests there are passed to the transports (RFC 7118).
import type { WebSocketTaker, WebSocketUpgrade } from '../../network/web-socket-upgrade.ts'
import type { Listening } from './transports.ts'

export interface WebSocketOptions {
  /** The port of clear WebSockets; 0 for any free one. Left out, they have no port of their own. */
  readonly port?: number | undefined
  /** Passes on WebSockets that are requested at the ports of the API. Left out, none are accepted there. */
  readonly besideApi?: ApiWebSockets | undefined
  /** The origins of the web pages that may connect, as browsers send them; all if left out. */
  readonly origins?: readonly string[] | undefined
}

interface WebSocketTransport {
  take(upgrade: WebSocketUpgrade): void
  stop(): Promise<void>
}

type WebSocketTransports = Readonly<Partial<Record<'ws' | 'wss', WebSocketTransport>>>
type Ports = NonNullable<Listening['ports']>

export class ApiWebSockets implements WebSocketTaker {
  #transports: WebSocketTransports = {}
  #reachedAt: (ports: Ports) => void = () => undefined

  /** From now on these transports accept the WebSockets; `reachedAt` is called with the ports once they are known. */
  serve(transports: WebSocketTransports, reachedAt: (ports: Ports) => void): void {
    this.#transports = transports
    this.#reachedAt = reachedAt
  }

  /** Called with the ports that the API listens on. */
  listens(ports: Pick<Ports, 'ws' | 'wss'>): void {
    this.#reachedAt(ports)
  }

  take(upgrade: WebSocketUpgrade): void {
    const transport = this.#transports[upgrade.isSecure ? 'wss' : 'ws']
    if (transport === undefined) upgrade.socket.destroy()
    else transport.take(upgrade)
  }

  async close(): Promise<void> {
    const { ws, wss } = this.#transports
    await Promise.all([ws?.stop(), wss?.stop()])
  }
}
