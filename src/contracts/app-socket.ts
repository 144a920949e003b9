// The socket of an application over WebSocket: one for each call, opened by the platform.
import type { Hook } from './hook.ts'

/** A received message. A call uses only text frames (RFC 6455 §5.6); binary frames are not meant for it. */
export type AppMessage = string | Uint8Array

export interface AppSocketEnd {
  /** The close code, RFC 6455 §7.4.1: 1005 for a close frame without one, 1006 if there was no close frame. */
  readonly code: number
  /** The reason, in words for the journal. */
  readonly because: string
}

export interface AppSocketRequest {
  readonly account_sid: string
  /** The URL of the hook is absolute, ws or wss. */
  readonly hook: Hook
  /** True if a failed attempt is repeated as often as the fragment of the URL asks for. */
  readonly isRetried: boolean
  readonly heard: (message: AppMessage) => void
  /** Called once, for a socket that was returned. */
  readonly closed: (end: AppSocketEnd) => void
  readonly signal: AbortSignal
}

export interface AppSocket {
  send(text: string): void
  /** Sends a close frame. The other side has two seconds to respond. */
  close(code: number, reason?: string): void
  /** Closes the connection without a close frame. */
  cut(): void
  /** Stops reading until `resume`, so that the other side has to wait. */
  pause(): void
  resume(): void
  /** The bytes that were sent and not yet accepted by the network. */
  readonly bufferedBytes: number
}

export interface AppSockets {
  /** Opens a socket. Throws AppError hook_*, or the signal's reason when that aborts. */
  open(request: AppSocketRequest): Promise<AppSocket>
}
