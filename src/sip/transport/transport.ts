// The public interface of the transports, all behind one `send`. `createTransport` in create-transport.ts makes it.
import type { SipMessage } from '../message/message.ts'
import type { Remote, Listening } from './transports.ts'

export interface TransportLayer {
  /** Starts listening; from now on every message goes to `handlers`. */
  start(handlers: TransportHandlers): Promise<void>
  /** Closes every socket. Idempotent. */
  stop(): Promise<void>
  /** Known after start; with port 0 in the settings, one free port that serves both UDP and TCP. */
  readonly listening: Listening
  /**
   * Sends to `remote`; except for UDP, over the existing connection to it, or a new one. `alternative` is the
   * destination of a new connection if the connection from `remote` is closed (RFC 3261 §18.2.2). `connectMs` is the
   * time that the sender waits for a new connection, if that is less than the usual limit. Rejects with AppError
   * `sip_unreachable` when the bytes cannot be handed to the network, and `sip_certificate` when the certificate of the
   * far end is refused.
   */
  send(bytes: Uint8Array, remote: Remote, alternative?: Remote, connectMs?: number): Promise<void>
  /** Resolves once a connection to `remote` is open. Rejects with AppError `sip_unreachable` or `sip_certificate`. */
  open(remote: Remote): Promise<void>
  /** Reports whether a connection to `remote` is open. */
  isOpen(remote: Remote): boolean
  readonly counters: TransportCounters
}

/** Counts of input that was not served. */
export interface TransportCounters {
  /** Input that was not a SIP message: dropped without a response. */
  readonly unparsable: number
  /** Input of sources over their budget: dropped unread. */
  readonly dropped: number
  readonly connections: number
  /** Handshakes of TLS and of WebSockets in progress. */
  readonly handshakes: number
  readonly refusedConnections: number
  /** Connections closed because a message or handshake was too slow, or evicted for another. */
  readonly slowConnections: number
}

export interface TransportHandlers {
  /** Called for every parsed message. `remote` is its source, where a response may go back to. */
  message(message: SipMessage, raw: Uint8Array, remote: Remote): void
  /**
   * Reports whether one more message or connection of this source is admitted. Left out, all are. `unread` is a message
   * that may be dropped, since its sender will send it again.
   */
  admits?(remote: Remote, unread?: Uint8Array): boolean
  /** Reports whether the source has proved itself: its connections are not evicted for others. Left out, none has. */
  isProven?(remote: Remote): boolean
  /** Called when the connection to `remote` is gone. */
  closed?(remote: Remote): void
  /** Reports whether an idle connection is kept, since a registered phone is reached by it. */
  isNeeded?(remote: Remote): boolean
  /** Reports whether an idle connection is kept, since a call uses it: its far end may accept no other. */
  isInCall?(remote: Remote): boolean
}
