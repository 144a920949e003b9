// The client transactions of the layer (RFC 3261 §17.1): created with their own Via, and found by their responses.
import type { Clock } from '../../lib/clock.ts'
import { AppError } from '../../lib/errors.ts'
import { createRecent, type Recent } from '../../lib/recent.ts'
import { transactionLimits } from '../limits.ts'
import type { SipRequest, SipResponse } from '../message/message.ts'
import { serializeMessage } from '../message/serialize-message.ts'
import { magicCookie, serializeVia, topVia } from '../message/via.ts'
import type { Timers } from '../timers.ts'
import { keyOf } from '../transport/connections.ts'
import { isReliable, largeRequestTransport, transports, type Remote } from '../transport/transports.ts'
import { ClientTransactionMachine, type OutgoingRequest } from './client-transaction.ts'
import { clientKey, clientKeyOf } from './transaction-key.ts'
import type { ClientHandlers, ClientTransaction } from './transaction.ts'

export interface ClientTransactionsOptions {
  readonly clock: Clock
  readonly timers: Timers
  readonly maxTransactions: number
  readonly random: (bytes: number) => string
  readonly isProxy: (address: string) => boolean
  /** Returns host and port for the Via of a request to `remote`. */
  advertised(remote: Remote): { readonly host: string; readonly port: number }
  send(outgoing: OutgoingRequest, isRepeated: boolean): Promise<void>
}

export class ClientTransactions {
  readonly #options: ClientTransactionsOptions
  readonly #transactions = new Map<string, ClientTransactionMachine>()
  /** Transactions that use a connection, by its far end. */
  readonly #byConnection = new Map<string, Set<ClientTransactionMachine>>()
  /** Places where no connection could be opened lately. */
  readonly #datagramsOnly: Recent

  constructor(options: ClientTransactionsOptions) {
    this.#options = options
    this.#datagramsOnly = createRecent({ clock: options.clock, ...transactionLimits.datagramsOnly })
  }

  get size(): number {
    return this.#transactions.size
  }

  /** Starts a transaction. Throws AppError overloaded at the limit. */
  start(
    message: SipRequest,
    remote: Remote,
    handlers: ClientHandlers,
    { keepsTransport }: { readonly keepsTransport: boolean },
  ): ClientTransaction {
    if (this.#transactions.size >= this.#options.maxTransactions)
      throw new AppError('overloaded', 'too many SIP transactions are open')
    const branch = this.#newBranch()
    const asked = this.#outgoing(message, remote, branch)
    const isTooLarge = !isReliable(remote) && asked.bytes.byteLength > transactionLimits.maxDatagramBytes
    const mayChange = !keepsTransport && !this.#datagramsOnly.has(placeOf(remote))
    if (!isTooLarge || !mayChange) return this.#start(asked, undefined, branch, handlers)
    const large = this.#outgoing(message, { ...remote, transport: largeRequestTransport }, branch)
    const { largeConnectMs: connectMs } = transactionLimits
    return this.#start({ ...large, connectMs }, asked, branch, handlers)
  }

  /** Completes an ACK for a 2xx with its own Via; there is no transaction (RFC 3261 §13.2.2.4). */
  toAck(ack: SipRequest, remote: Remote): OutgoingRequest {
    return this.#outgoing(ack, remote, this.#newBranch())
  }

  /** Returns the transaction with the branch of the response, if there is one and it can be parsed. */
  find(response: SipResponse): ClientTransactionMachine | undefined {
    try {
      return this.#transactions.get(clientKeyOf(response, topVia(response)))
    } catch (error) {
      if (!(error instanceof AppError)) throw error
      return undefined
    }
  }

  connectionLost(remote: Remote): void {
    for (const transaction of this.#byConnection.get(connectionOf(remote)) ?? []) transaction.connectionLost()
  }

  stop(): void {
    for (const transaction of [...this.#transactions.values()]) transaction.stop()
  }

  #start(
    outgoing: OutgoingRequest,
    fallback: OutgoingRequest | undefined,
    branch: string,
    handlers: ClientHandlers,
  ): ClientTransactionMachine {
    const { clock, timers, isProxy } = this.#options
    const key = clientKey(branch, outgoing.request.method)
    const transaction = new ClientTransactionMachine({
      branch,
      outgoing,
      fallback,
      fellBack: () => this.#datagramsOnly.note(placeOf(outgoing.remote)),
      handlers,
      clock,
      timers,
      isProxy,
      send: (sent, isRepeated) => this.#options.send(sent, isRepeated),
      cancel: (cancel) => void this.#start(cancel, undefined, branch, ignored),
      terminated: () => {
        this.#transactions.delete(key)
        this.#leave(transaction, outgoing.remote)
      },
    })
    this.#transactions.set(key, transaction)
    this.#join(transaction, outgoing.remote)
    transaction.start()
    return transaction
  }

  #join(transaction: ClientTransactionMachine, remote: Remote): void {
    if (!isReliable(remote)) return
    const key = connectionOf(remote)
    this.#byConnection.set(key, (this.#byConnection.get(key) ?? new Set()).add(transaction))
  }

  #leave(transaction: ClientTransactionMachine, remote: Remote): void {
    const key = connectionOf(remote)
    const others = this.#byConnection.get(key)
    if (others?.delete(transaction) === true && others.size === 0) this.#byConnection.delete(key)
  }

  #newBranch(): string {
    return magicCookie + this.#options.random(12)
  }

  #outgoing(message: SipRequest, remote: Remote, branch: string): OutgoingRequest {
    const { host, port } = this.#options.advertised(remote)
    const params = new Map<string, string | undefined>([
      ['branch', branch],
      ['rport', undefined],
    ])
    const via = serializeVia({ transport: transports[remote.transport].viaName, host, port, params })
    const request = { ...message, headers: [{ name: 'via', value: via }, ...message.headers] }
    return { request, bytes: serializeMessage(request), remote }
  }
}

/** The core ignores the outcome of a CANCEL: it waits for the 487 of its INVITE. */
const ignored: ClientHandlers = { response: () => undefined, failed: () => undefined }

function connectionOf(remote: Remote): string {
  return `${remote.transport}|${keyOf(remote)}`
}

function placeOf({ address, port }: Remote): string {
  return `${address}|${port}`
}
