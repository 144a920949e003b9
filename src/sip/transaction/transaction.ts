// The face of the transaction layer (RFC 3261 §17): what a user agent core sees of its transactions.
import type { HeaderField, SipMessage, SipRequest, SipResponse } from '../message/message.ts'
import type { Remote, Reply } from '../sip.ts'

/** Why a transaction is over. `answered`: it went its way to the end. */
export type EndReason = 'answered' | 'timeout' | 'transport-error' | 'stopped'

/** A request received outside and inside dialogs alike; ACK is never one. 100 Trying to an INVITE that waits goes out by itself. */
export interface ServerTransaction {
  readonly request: SipRequest
  readonly raw: Uint8Array
  readonly remote: Remote
  readonly state: 'trying' | 'proceeding' | 'accepted' | 'completed' | 'confirmed' | 'terminated'
  /** The To tag this transaction's responses carry; a dialog made by it has it as local tag. */
  readonly localTag: string
  /**
   * Sends a response: a whole one, or a reply that is completed from the request and `localTag`. After a 2xx to INVITE,
   * the same call sends it again until the ACK came (RFC 6026 §7.1: the core repeats it, not the transaction).
   * Does nothing once another final response went out or the transaction is over.
   */
  respond(response: SipResponse | Reply): void
  /** INVITE only: a CANCEL came before a final response. It has been answered 200; the core sends the 487. */
  onCancel(listener: (cancel: SipRequest) => void): void
  /** INVITE only: from now on a CANCEL from elsewhere finds no transaction. */
  takeCancelFrom(isSender: (cancel: SipRequest, remote: Remote) => boolean): void
  /** Once. `timeout`: no ACK for a final response 300 to 699, or the core never answered. */
  onEnd(listener: (reason: EndReason) => void): void
}

export interface ClientHandlers {
  /** Every response that RFC 3261 §17.1 passes up: provisional ones, the final one, and each 2xx to INVITE again. */
  response(response: SipResponse, remote: Remote): void
  /** No final response will come: timer B or F, timer C, a CANCEL without a 487, or the network refused. */
  failed(reason: 'timeout' | 'transport-error' | 'stopped'): void
}

export interface ClientTransaction {
  /** As sent, with its Via. */
  readonly request: SipRequest
  readonly branch: string
  readonly state: 'calling' | 'trying' | 'proceeding' | 'accepted' | 'completed' | 'terminated'
  /** Whether a response to it may come from there; also once it is over. */
  hears(from: Remote): boolean
  /** INVITE only: sends CANCEL now, or as soon as a provisional response came (RFC 3261 §9.1). Once. */
  cancel(headers?: readonly HeaderField[]): void
}

export interface TransactionLayer {
  /**
   * Sends a request in a new client transaction. The layer writes the Via (branch, sent-by, rport) on top of those it has;
   * a request too large for UDP goes over TCP (RFC 3261 §18.1.1), unless it keeps its transport or nothing listened
   * there lately. Not for ACK.
   */
  request(
    message: SipRequest,
    remote: Remote,
    handlers: ClientHandlers,
    options?: { readonly keepsTransport?: boolean },
  ): ClientTransaction
  /** Sends an ACK for a 2xx, with a Via of its own; no transaction (RFC 3261 §13.2.2.4). Failures are only logged. */
  sendAck(ack: SipRequest, remote: Remote): void
  /** Where the transport hands received messages. */
  receive(message: SipMessage, raw: Uint8Array, remote: Remote): void
  /** The connection to `remote` is gone: requests that went by it and have no response fail soon (RFC 3261 §17.1.4). */
  connectionLost(remote: Remote): void
  /** Ends every transaction; their listeners hear `stopped`. Idempotent. */
  stop(): void
  readonly counters: TransactionCounters
}

export interface TransactionCounters {
  readonly client: number
  readonly server: number
  readonly retransmissionsReceived: number
  readonly retransmissionsSent: number
  /** Requests answered 503 because the bound was reached. */
  readonly refused: number
  /** Responses from where nothing had been sent: dropped, and in no journal. */
  readonly forged: number
}

export interface TransactionUser {
  /**
   * What a valid request is answered that nothing has to be remembered of, or asked for. It gets no transaction: a repeated
   * one is answered alike (RFC 3261 §8.2.7).
   */
  immediate?(request: SipRequest): Reply | undefined
  /** A new request that passed `validateRequest`: answer it through the transaction. */
  request(transaction: ServerTransaction): void
  /**
   * A new INVITE outside a dialog that is well formed and is owed this refusal for what it asks. Left out, the layer refuses
   * it without a transaction.
   */
  refused?(transaction: ServerTransaction, reply: Reply): void
  /** An ACK that belongs to a 2xx. */
  ack(ack: SipRequest, raw: Uint8Array, remote: Remote): void
  /**
   * What takes a response without a transaction: a 2xx to INVITE that came late, or from another fork (RFC 3261 §13.2.2.4).
   * Undefined for one that belongs to no call.
   */
  strayResponse(response: SipResponse, remote: Remote): (() => void) | undefined
}
