// The transaction layer (RFC 3261 §17): matches messages with transactions, creates new ones, and refuses bad requests.
import { hash } from 'node:crypto'
import { AppError } from '../../lib/errors.ts'
import { randomHex } from '../../lib/ids.ts'
import { retryAfterSeconds, transactionLimits } from '../limits.ts'
import { responseTo } from '../message/build.ts'
import { headerOf, type SipMessage, type SipRequest, type SipResponse } from '../message/message.ts'
import { tagOf } from '../message/name-addr.ts'
import { serializeMessage } from '../message/serialize-message.ts'
import { validateRequest, validateResponse } from '../message/validate.ts'
import { readTopVia, type Via } from '../message/via.ts'
import { isReliable, type Remote } from '../transport/transports.ts'
import type { Reply } from '../message/reply.ts'
import type { WireEvent } from '../transport/wire-event.ts'
import { standardTimers, type Timers } from '../timers.ts'
import { markReceived, responseTarget, type ResponseTarget } from '../transport/response-address.ts'
import { Admission } from './admission.ts'
import { ClientTransactions } from './client-transactions.ts'
import type { OutgoingRequest } from './client-transaction.ts'
import { refuseInsecureSips } from './insecure-sips.ts'
import { ServerTransactionMachine } from './server-transaction.ts'
import { mergeKey, serverKey } from './transaction-key.ts'
import type { TransactionLayerOptions } from './transaction-layer-options.ts'
import type {
  ClientHandlers,
  ClientTransaction,
  TransactionCounters,
  TransactionLayer,
} from './transaction.ts'
import { failure, isAboutService, withReason } from '../refusal.ts'

export function createTransactionLayer(options: TransactionLayerOptions): TransactionLayer {
  return new Layer(options)
}

class Layer implements TransactionLayer {
  readonly #options: TransactionLayerOptions
  readonly #timers: Timers
  readonly #clients: ClientTransactions
  readonly #servers = new Map<string, ServerTransactionMachine>()
  readonly #admission: Admission
  /** Requests outside dialogs, to detect a merged one (RFC 3261 §8.2.2.2). */
  readonly #merges = new Map<string, ServerTransactionMachine>()
  readonly #tagSecret: string
  readonly #counted = { retransmissionsReceived: 0, retransmissionsSent: 0, refused: 0, forged: 0 }
  #isStopped = false

  constructor(options: TransactionLayerOptions) {
    const { clock, sources, random = randomHex, timers = standardTimers } = options
    const { maxTransactions = transactionLimits.max, isProxy = () => false } = options
    this.#options = options
    this.#timers = timers
    this.#clients = new ClientTransactions({
      clock,
      timers,
      maxTransactions,
      random,
      isProxy,
      advertised: (remote) => options.advertised(remote),
      send: (sent, isRepeated) => this.#send(sent.request, sent.bytes, sent, isRepeated),
    })
    this.#admission = new Admission({ maxTransactions, sources })
    this.#tagSecret = random(16)
  }

  get counters(): TransactionCounters {
    return { ...this.#counted, client: this.#clients.size, server: this.#servers.size }
  }

  stop(): void {
    this.#isStopped = true
    for (const transaction of [...this.#servers.values()]) transaction.stop()
    this.#clients.stop()
  }

  request(
    message: SipRequest,
    remote: Remote,
    handlers: ClientHandlers,
    { keepsTransport = false }: { readonly keepsTransport?: boolean } = {},
  ): ClientTransaction {
    if (this.#isStopped) throw new AppError('stopping', 'the SIP stack is stopping')
    this.#options.sources?.prove(remote)
    return this.#clients.start(message, remote, handlers, { keepsTransport })
  }

  sendAck(ack: SipRequest, remote: Remote): void {
    const { request, bytes } = this.#clients.toAck(ack, remote)
    this.#send(request, bytes, { remote }).catch(() => undefined)
  }

  connectionLost(remote: Remote): void {
    this.#clients.connectionLost(remote)
  }

  receive(message: SipMessage, raw: Uint8Array, remote: Remote): void {
    if (this.#isStopped) return
    try {
      if (message.kind === 'request') this.#receiveRequest(message, raw, remote)
      else this.#receiveResponse(message, raw, remote)
    } catch (error) {
      // An exception in the core for one message must not stop the others.
      this.#options.log.error({ err: error, remote }, 'sip message not handled')
    }
  }

  /**
   * Handles a response. A journal shows only responses from where the request went: otherwise a stranger could fill it
   * without limit.
   */
  #receiveResponse(response: SipResponse, raw: Uint8Array, remote: Remote): void {
    const { log, user } = this.#options
    const transaction = this.#clients.find(response)
    if (transaction?.hears(remote) === false) {
      this.#counted.forged += 1
      return log.debug({ remote, sentTo: transaction.remote }, 'sip response from elsewhere dropped')
    }
    const reason = validateResponse(response)
    const stray = (reason ?? transaction) === undefined ? user.strayResponse(response, remote) : undefined
    if (transaction !== undefined || stray !== undefined) this.#wire('received', response, raw, remote)
    if (reason !== undefined) return log.debug({ remote, reason }, 'sip response dropped')
    transaction?.received(response, remote)
    stray?.()
  }

  #receiveRequest(received: SipRequest, raw: Uint8Array, remote: Remote): void {
    if (received.malformed !== undefined) return this.#refuseMalformed(received, remote)
    this.#wire('received', received, raw, remote)
    const via = readTopVia(received)
    if (via === undefined) {
      // Without a Via value to route by, the response goes back to the source of the request.
      if (headerOf(received, 'via') === undefined || received.method === 'ACK') return
      const refusal = validateRequest(received, this.#options.capabilities)
      return this.#refuse(received, refusal ?? { status: 400 }, { remote })
    }
    const request = markReceived(received, via, remote)
    const target = responseTarget(via, remote)
    if (request.method === 'ACK') return this.#receiveAck(request, via, raw, remote)
    const existing = this.#servers.get(serverKey(request, via))
    if (existing !== undefined) {
      this.#counted.retransmissionsReceived += 1
      return existing.repeated()
    }
    const { user, capabilities } = this.#options
    const owed = validateRequest(request, capabilities) ?? this.#refuseInsecure(request, remote)
    const isForUser = owed === undefined || (isAboutService(request, owed) && user.refused !== undefined)
    const refusal = isForUser ? this.#refusalOf(request, raw, remote) : owed
    if (refusal !== undefined) return this.#refuse(request, refusal, target)
    const key = serverKey(request, via)
    if (request.method === 'CANCEL') return this.#receiveCancel(request, key, via, raw, remote, target)
    const merge = mergeKey(request)
    if (merge !== undefined && this.#merges.get(merge)?.isRefused === false) {
      return this.#refuse(request, { status: 482, reason: 'Request Merged' }, target)
    }
    const transaction = this.#startServer(request, key, raw, remote, target, this.#statelessTag(request))
    if (merge !== undefined) this.#merges.set(merge, transaction)
    this.#offer(transaction, owed)
  }

  #offer(transaction: ServerTransactionMachine, owed: Reply | undefined): void {
    const { user } = this.#options
    try {
      if (owed === undefined) user.request(transaction)
      else user.refused?.(transaction, owed)
    } catch (error) {
      this.#options.log.error({ err: error, method: transaction.request.method }, 'sip request not handled')
      transaction.respond(failure())
    }
  }

  /**
   * Handles an ACK. The ACK of a refusal ends with its transaction; any other belongs to a 2xx and goes to the core.
   */
  #receiveAck(ack: SipRequest, via: Via, raw: Uint8Array, remote: Remote): void {
    const transaction = this.#servers.get(serverKey(ack, via, 'INVITE'))
    if (transaction !== undefined) return transaction.acknowledged(ack, raw, remote)
    if (validateRequest(ack, this.#options.capabilities) !== undefined) return
    this.#options.user.ack(ack, raw, remote)
  }

  /**
   * Handles a CANCEL: RFC 3261 §9.2. Only an INVITE can be cancelled; for any other request a CANCEL is always too
   * late.
   */
  #receiveCancel(
    cancel: SipRequest,
    key: string,
    via: Via,
    raw: Uint8Array,
    remote: Remote,
    target: ResponseTarget,
  ): void {
    const invite = this.#servers.get(serverKey(cancel, via, 'INVITE'))
    if (invite?.mayCancel(cancel, remote) !== true) return this.#refuse(cancel, { status: 481 }, target)
    const transaction = this.#startServer(cancel, key, raw, remote, target, invite.localTag)
    transaction.respond({ status: 200 })
    invite.cancelled(cancel)
  }

  /** Returns the stateless response to a request that may be served; undefined if the request gets a transaction. */
  #refusalOf(request: SipRequest, raw: Uint8Array, remote: Remote): Reply | undefined {
    const immediate = request.method === 'CANCEL' ? undefined : this.#options.user.immediate?.(request)
    if (immediate !== undefined) return immediate
    // Over UDP it would not have been read.
    const isRead = !isReliable(remote) || this.#options.sources?.reads?.(remote, raw) !== false
    if (isRead && this.#admission.admits(request.method, raw, remote)) return undefined
    this.#counted.refused += 1
    return { status: 503, headers: [{ name: 'retry-after', value: String(retryAfterSeconds) }] }
  }

  /** Returns the refusal of a sips URI over a hop without TLS. A proxy of the operator may have taken it over TLS. */
  #refuseInsecure(request: SipRequest, remote: Remote): Reply | undefined {
    return this.#options.isProxy?.(remote.address) === true ? undefined : refuseInsecureSips(request, remote)
  }

  /** Refuses without a transaction: a repeated request gets another response, with the same tag (RFC 3261 §8.2.7). */
  #refuse(request: SipRequest, reply: Reply, target: ResponseTarget): void {
    const response = responseTo(request, withReason(reply), { toTag: this.#statelessTag(request) })
    this.#send(response, serializeMessage(response), target).catch(() => undefined)
  }

  /**
   * Refuses a request with lines that could not be parsed, at its source only and in no journal: neither its Via nor
   * the masking of its text can be relied on.
   */
  #refuseMalformed(received: SipRequest, remote: Remote): void {
    const via = readTopVia(received)
    const request = via === undefined ? received : markReceived(received, via, remote)
    const owed = validateRequest(request, this.#options.capabilities) ?? { status: 400 }
    const response = responseTo(request, withReason(owed), { toTag: this.#statelessTag(request) })
    this.#options.transport.send(serializeMessage(response), remote).catch(() => undefined)
  }

  #statelessTag(request: SipRequest): string {
    const parts = ['call-id', 'cseq', 'via'].map((name) => headerOf(request, name))
    const identity = [this.#tagSecret, ...parts, tagOf(headerOf(request, 'from'))].join('\n')
    return hash('sha256', identity).slice(0, 16)
  }

  #startServer(
    request: SipRequest,
    key: string,
    raw: Uint8Array,
    remote: Remote,
    target: ResponseTarget,
    localTag: string,
  ): ServerTransactionMachine {
    const merge = mergeKey(request)
    const taken = this.#admission.take(raw, remote)
    const transaction = new ServerTransactionMachine({
      request,
      raw,
      remote,
      target,
      localTag,
      clock: this.#options.clock,
      timers: this.#timers,
      send: (response, bytes, to, isRepeated) => this.#send(response, bytes, to, isRepeated),
      acknowledged: (ack, ackRaw, ackRemote) => this.#options.user.ack(ack, ackRaw, ackRemote),
      terminated: () => {
        this.#servers.delete(key)
        taken.giveBack()
        if (merge !== undefined && this.#merges.get(merge) === transaction) this.#merges.delete(merge)
      },
    })
    this.#servers.set(key, transaction)
    return transaction
  }

  async #send(
    message: SipMessage,
    bytes: Uint8Array,
    target: ResponseTarget & Pick<OutgoingRequest, 'connectMs'>,
    isRepeated = false,
  ): Promise<void> {
    if (isRepeated) this.#counted.retransmissionsSent += 1
    this.#wire('sent', message, bytes, target.remote)
    try {
      await this.#options.transport.send(bytes, target.remote, target.alternative, target.connectMs)
    } catch (error) {
      this.#options.log.debug({ err: error, remote: target.remote }, 'sip message not sent')
      throw error
    }
  }

  #wire(direction: WireEvent['direction'], message: SipMessage, raw: Uint8Array, remote: Remote): void {
    this.#options.onWire?.({ direction, callId: headerOf(message, 'call-id') ?? '', message, raw, remote })
  }
}
