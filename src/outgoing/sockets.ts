// The types of WebSockets that stay open as long as a call.

export interface SocketRequest {
  /** ws or wss, without a fragment. */
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  /** What is offered; a server that picks none of them is accepted. */
  readonly protocols: readonly string[]
  /** How sentences about a failure call the other side. */
  readonly subject: string
  /** Until the handshake is done, over all redirects. */
  readonly handshakeMs: number
  readonly maxRedirects: number
  /** The most bytes of one message that is heard; a longer one breaks the socket off. */
  readonly maxMessageBytes: number
  /** Texts as strings. Not called before the socket has been handed over. */
  readonly heard: (message: string | Buffer) => void
  /** Bytes that the network has brought, after what they hold was heard. */
  readonly received?: (bytes: number) => void
  /** A ping or a pong (RFC 6455 §5.5). */
  readonly controlled?: () => void
  /** Called once, for a socket that was handed over. */
  readonly closed: (end: SocketEnd) => void
  /** Withdraws what is being opened, and breaks off what is open. */
  readonly signal?: AbortSignal
}

export interface SocketEnd {
  /** RFC 6455 §7.4.1; 1005 without one, 1006 without a close frame. */
  readonly code: number
  /** In words for a journal. */
  readonly because: string
}

export interface Socket {
  send(message: string | Uint8Array): void
  /** Says goodbye; the other side has two seconds for it. */
  close(code: number, reason?: string): void
  /** Without a word. */
  cut(): void
  /** Nothing more is read until `resume`: the other side has to wait. */
  pause(): void
  resume(): void
  /** A ping (RFC 6455 §5.5.2). */
  ping(): void
  /** What has been sent and not been taken by the network. */
  readonly bufferedBytes: number
}

export interface Sockets {
  /** Throws AppError hook_*, or the signal's reason when that aborts. */
  open(request: SocketRequest): Promise<Socket>
}
