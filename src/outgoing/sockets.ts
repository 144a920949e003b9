// The types of WebSockets that stay open as long as a call.

export interface SocketRequest {
  /** ws or wss, without a fragment. */
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  /** The protocols that are offered; a server that picks none of them is accepted. */
  readonly protocols: readonly string[]
  /** The name of the other side in sentences about a failure. */
  readonly subject: string
  /** The time limit for the handshake, over all redirects. */
  readonly handshakeMs: number
  readonly maxRedirects: number
  /** The most bytes of one received message; a longer one breaks off the socket. */
  readonly maxMessageBytes: number
  /** Runs for each message, with texts as strings. Not called before the socket has been returned. */
  readonly heard: (message: string | Buffer) => void
  /** Runs with the number of bytes that the network has brought, after their messages were reported. */
  readonly received?: (bytes: number) => void
  /** Runs for a ping or a pong (RFC 6455 §5.5). */
  readonly controlled?: () => void
  /** Runs once, for a socket that was returned. */
  readonly closed: (end: SocketEnd) => void
  /** Ends the opening of a socket, and breaks off an open one. */
  readonly signal?: AbortSignal
}

export interface SocketEnd {
  /** The close code of RFC 6455 §7.4.1; 1005 for a close frame without one, 1006 without a close frame. */
  readonly code: number
  /** The reason, in words for a journal. */
  readonly because: string
}

export interface Socket {
  send(message: string | Uint8Array): void
  /** Sends a close frame; the other side has two seconds to send its own. */
  close(code: number, reason?: string): void
  /** Closes without a close frame. */
  cut(): void
  /** Stops reading until `resume`: the other side has to wait. */
  pause(): void
  resume(): void
  /** Sends a ping (RFC 6455 §5.5.2). */
  ping(): void
  /** The bytes that were sent but not yet accepted by the network. */
  readonly bufferedBytes: number
}

export interface Sockets {
  /** Throws AppError hook_*, or the signal's reason when that aborts. */
  open(request: SocketRequest): Promise<Socket>
}
