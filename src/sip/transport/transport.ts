// The face of the transports: each of them behind one `send`. `createTransport` in create-transport.ts makes it.
import type { SipMessage } from '../message/message.ts'
import type { Remote } from '../sip.ts'
import type { Listening } from './transports.ts'

export interface TransportLayer {
  /** From now on every message goes to `handlers`. */
  start(handlers: TransportHandlers): Promise<void>
  /** Closes every socket. Idempotent. */
  stop(): Promise<void>
  /** Known after start; with port 0 in the settings, one free port that serves both UDP and TCP. */
  readonly listening: Listening
  /**
   * Sends to `remote`; over all but UDP on the connection that exists to it, or on a new one. `alternative` is where a new
   * connection goes instead when `remote` was the far end of one that is closed (RFC 3261 §18.2.2). Rejects with AppError
   * `sip_unreachable` when the bytes cannot be handed to the network, and `sip_certificate` when the far end is not the one
   * that it should be.
   */
  send(bytes: Uint8Array, remote: Remote, alternative?: Remote): Promise<void>
  /** Resolves once a connection to `remote` stands. Rejects with AppError `sip_unreachable`. */
  open(remote: Remote): Promise<void>
  /** Whether a connection to `remote` stands. */
  isOpen(remote: Remote): boolean
  readonly counters: TransportCounters
}

/** What input was not served. */
export interface TransportCounters {
  /** Input that was no SIP message: dropped, never answered. */
  readonly unparsable: number
  /** Input of sources over their budget: dropped unread. */
  readonly dropped: number
  readonly connections: number
  /** Of TLS, and of WebSockets, that are not over. */
  readonly handshakes: number
  readonly refusedConnections: number
  /** Connections closed because a message was not complete in time, or too large to frame. */
  readonly slowConnections: number
}

export interface TransportHandlers {
  /** Every parsed message. `remote` is where it came from and where a response may go back to. */
  message(message: SipMessage, raw: Uint8Array, remote: Remote): void
  /** Whether one more message or connection of this source is listened to. Left out, every one is. */
  admits?(remote: Remote): boolean
  /** Whether the source has proved itself: its connections do not give way to others. Left out, none has. */
  isProven?(remote: Remote): boolean
  /** The connection to `remote` is gone. */
  closed?(remote: Remote): void
  /** Whether an idle connection is kept: a registered phone is reached by it. */
  isNeeded?(remote: Remote): boolean
}
