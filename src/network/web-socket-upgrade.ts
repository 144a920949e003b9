// A request for a WebSocket that came to the port of the API, as the HTTP server hands it to what speaks SIP.
import type { IncomingMessage } from 'node:http'
import type { Socket } from 'node:net'

export interface WebSocketUpgrade {
  readonly request: IncomingMessage
  readonly socket: Socket
  /** What came behind the request. */
  readonly head: Buffer
  /** Who asks: behind a trusted proxy, the address that this one names. */
  readonly address: string
  readonly port: number
  readonly isSecure: boolean
}

export interface WebSocketTaker {
  /** From now on the socket is the taker's: to speak over, to refuse, and to close. */
  take(upgrade: WebSocketUpgrade): void
  /** Closes what it has taken, and takes no more. Idempotent. */
  close(): Promise<void>
}
