// A WebSocket upgrade request at the port of the API, as the HTTP server hands it to the SIP stack.
import type { IncomingMessage } from 'node:http'
import type { Socket } from 'node:net'

export interface WebSocketUpgrade {
  readonly request: IncomingMessage
  readonly socket: Socket
  /** The bytes received after the request. */
  readonly head: Buffer
  /** The client's address; behind a trusted proxy, the address that the proxy names. */
  readonly address: string
  readonly port: number
  readonly isSecure: boolean
  /** Called when it is a WebSocket: from then on the limits of its taker apply to it, and not those of HTTP. */
  readonly opened: () => void
}

export interface WebSocketTaker {
  /** Takes over the socket: to use, to refuse, and to close. */
  take(upgrade: WebSocketUpgrade): void
  /** Closes the sockets it has taken, and accepts no more. Idempotent. */
  close(): Promise<void>
}
