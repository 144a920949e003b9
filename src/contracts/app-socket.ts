// The socket of an application over WebSocket: one for each call, opened by the platform.
import type { Hook } from './hook.ts'

/** What a call hears on it: text alone, as RFC 6455 §5.6 has it; what is binary is not meant for a call. */
export type AppMessage = string | Uint8Array

export interface AppSocketEnd {
  /** RFC 6455 §7.4.1; 1005 without one, 1006 without a close frame. */
  readonly code: number
  /** In words for the journal. */
  readonly because: string
}

export interface AppSocketRequest {
  readonly account_sid: string
  /** Its URL is absolute, ws or wss. */
  readonly hook: Hook
  /** Whether a failure is worth the tries that the fragment of the URL asks for. */
  readonly isRetried: boolean
  readonly heard: (message: AppMessage) => void
  /** Called once, for a socket that was handed over. */
  readonly closed: (end: AppSocketEnd) => void
  readonly signal: AbortSignal
}

export interface AppSocket {
  send(text: string): void
  /** Says goodbye; the other side has two seconds for it. */
  close(code: number, reason?: string): void
  /** Without a word. */
  cut(): void
  /** Nothing more is read until `resume`: the other side has to wait. */
  pause(): void
  resume(): void
  /** What has been sent and not been taken by the network. */
  readonly bufferedBytes: number
}

export interface AppSockets {
  /** Throws AppError hook_*, or the signal's reason when that aborts. */
  open(request: AppSocketRequest): Promise<AppSocket>
}
