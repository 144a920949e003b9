// The socket of an application over WebSocket: one for each call, opened by the platform.
import type { Hook } from './hook.ts'

/** A received message. Calls use text only (RFC 6455 §5.6). */
export type AppMessage = string | Uint8Array

export interface AppSocketEnd {
  /** RFC 6455 §7.4.1: 1005 if the close frame had none, 1006 without a close frame. */
  readonly code: number
  /** The reason, in words for the journal. */
  readonly because: string
}

export interface AppSocketRequest {
  readonly account_sid: string
  /** The URL of the hook is absolute, ws or wss. */
  readonly hook: Hook
  /** True if failed attempts are repeated as the URL's fragment says. */
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
  /** Throws AppError hook_*, or the signal's reason when that aborts. */
  open(request: AppSocketRequest): Promise<AppSocket>
}
