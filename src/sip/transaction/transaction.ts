// The public interface of the transaction layer (RFC 3261 §17), for a user agent core.
import type { HeaderField, SipMessage, SipRequest, SipResponse } from '../message/message.ts'
import type { Remote } from '../transport/transports.ts'
import type { Reply } from '../message/reply.ts'

/** The reason why a transaction is over. `answered`: it ended normally. */
export type EndReason = 'answered' | 'timeout' | 'transport-error' | 'stopped'

/**
 * A request received outside or inside a dialog, except ACK. 100 Trying to an INVITE that waits is sent automatically.
 */
export interface ServerTransaction {
  readonly request: SipRequest
  readonly raw: Uint8Array
  readonly remote: Remote
  readonly state: 'trying' | 'proceeding' | 'accepted' | 'completed' | 'confirmed' | 'terminated'
  /** The To tag in this transaction's responses; it is the local tag of a dialog that they create. */
  readonly localTag: string
  /**
   * Sends a response: a whole one, or a reply that is completed from the request and `localTag`. After a 2xx to
   * INVITE, the same call sends it again until the ACK arrives (RFC 6026 §7.1: the core repeats it, not the
   * transaction). Does nothing once another final response was sent or the transaction is over.
   */
  respond(response: SipResponse | Reply): void
  /**
   * INVITE only: called when a CANCEL arrives before a final response. It has its 200 already; the core sends the 487.
   */
  onCancel(listener: (cancel: SipRequest) => void): void
  /** INVITE only: from now on a CANCEL from another sender finds no transaction. */
  takeCancelFrom(isSender: (cancel: SipRequest, remote: Remote) => boolean): void
  /** Called once. `timeout`: no ACK for a final response 300 to 699, or the core never responded. */
  onEnd(listener: (reason: EndReason) => void): void
}

export interface ClientHandlers {
  /**
   * Called for every response that RFC 3261 §17.1 passes up: provisional ones, the final one, and each 2xx to INVITE
   * again.
   */
  response(response: SipResponse, remote: Remote): void
  /** Called when no final response will come: timer B or F, timer C, a CANCEL without a 487, or a transport error. */
  failed(reason: 'timeout' | 'transport-error' | 'stopped'): void
}

export interface ClientTransaction {
  /** The request as sent, with its Via. */
  readonly request: SipRequest
  readonly branch: string
  readonly state: 'calling' | 'trying' | 'proceeding' | 'accepted' | 'completed' | 'terminated'
  /** Whether the request was handed to the network, and not only to a connection that is being opened. */
  readonly hasLeft: boolean
  /** Reports whether a response to it may come from there; also once it is over. */
  hears(from: Remote): boolean
  /** INVITE only: sends CANCEL once, now or as soon as a provisional response has arrived (RFC 3261 §9.1). */
  cancel(headers?: readonly HeaderField[]): void
}

export interface TransactionLayer {
  /**
   * Sends a request in a new client transaction. The layer adds its Via (branch, sent-by, rport) above the existing
   * ones. A request too large for UDP goes over TCP (RFC 3261 §18.1.1), unless it keeps its transport or nothing
   * listened there lately. Not for ACK.
   */
  request(
    message: SipRequest,
    remote: Remote,
    handlers: ClientHandlers,
    options?: { readonly keepsTransport?: boolean },
  ): ClientTransaction
  /** Sends an ACK for a 2xx, with its own Via and no transaction (RFC 3261 §13.2.2.4). Failures are only logged. */
  sendAck(ack: SipRequest, remote: Remote): void
  /** Handles a message that the transport received. */
  receive(message: SipMessage, raw: Uint8Array, remote: Remote): void
  /** Notes that the connection to `remote` is gone: requests on it without a response fail soon (RFC 3261 §17.1.4). */
  connectionLost(remote: Remote): void
  /** Ends every transaction; their listeners are called with `stopped`. Idempotent. */
  stop(): void
  readonly counters: TransactionCounters
}

export interface TransactionCounters {
  readonly client: number
  readonly server: number
  readonly retransmissionsReceived: number
  readonly retransmissionsSent: number
  /** Requests refused with 503 because the limit was reached. */
  readonly refused: number
  /** Responses from a place that nothing had been sent to: dropped, and in no journal. */
  readonly forged: number
}

export interface TransactionUser {
  /**
   * Returns the response to a valid request that needs no state and no call to the owner. Such a request gets no
   * transaction: a repeated one gets the same response (RFC 3261 §8.2.7).
   */
  immediate?(request: SipRequest): Reply | undefined
  /** Called with a new request that passed `validateRequest`; respond through the transaction. */
  request(transaction: ServerTransaction): void
  /**
   * Called with a new well-formed INVITE outside a dialog that is to be refused with `reply` for what it requires.
   * Left out, the layer refuses it without a transaction.
   */
  refused?(transaction: ServerTransaction, reply: Reply): void
  /** Called with an ACK that belongs to a 2xx. */
  ack(ack: SipRequest, raw: Uint8Array, remote: Remote): void
  /**
   * Returns the handler of a response without a transaction: a 2xx to INVITE that is late, or from another fork (RFC
   * 3261 §13.2.2.4). Undefined for a response that belongs to no call.
   */
  strayResponse(response: SipResponse, remote: Remote): (() => void) | undefined
}
