// SIP over WebSockets at the ports of the API: what is asked for there is handed on to the transports (RFC 7118).
import type { WebSocketTaker, WebSocketUpgrade } from '../../network/web-socket-upgrade.ts'
import type { Listening } from './transports.ts'

export interface WebSocketOptions {
  /** The port of WebSockets in clear; 0 for any free one. Left out, they have none of their own. */
  readonly port?: number | undefined
  /** Hands on those that are asked for at the ports of the API. Left out, none are taken there. */
  readonly besideApi?: ApiWebSockets | undefined
  /** The web pages that may connect, as browsers name them; all where it is left out. */
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

  /** From now on these take what is asked for; `reachedAt` is called with the ports, once those are known. */
  serve(transports: WebSocketTransports, reachedAt: (ports: Ports) => void): void {
    this.#transports = transports
    this.#reachedAt = reachedAt
  }

  /** The API listens at these. */
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
