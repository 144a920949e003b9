// The agreement of the two sides of a dialog: offers in both directions, the 2xx and their ACKs, and the refresh of
// the session. RFC 3261 §14, RFC 3311, RFC 4028.
import { sdpOf } from '../message/body.ts'
import { responseTo } from '../message/build.ts'
import { headerOf, type SipRequest, type SipResponse } from '../message/message.ts'
import type { DialogFailure, OfferWish } from '../dialogs.ts'
import type { Reply } from '../message/reply.ts'
import type { ServerTransaction } from '../transaction/transaction.ts'
import { AwaitedAcks } from './awaited-acks.ts'
import { cleanReply, withHeaders, type Core } from './core.ts'
import type { DialogOwner } from './dialog-owner.ts'
import type { RequestOptions } from './dialog-client.ts'
import { refreshTarget, type DialogState } from './dialog-state.ts'
import { OfferState } from './offer-state.ts'
import { Reoffers } from './reoffer.ts'
import { refuseInterval, type SessionTimer } from './session-timer.ts'
import { withReason } from '../refusal.ts'

export interface NegotiationOptions {
  readonly core: Pick<Core, 'clock' | 'timers' | 'random'>
  readonly state: DialogState
  readonly owner: DialogOwner
  readonly session: SessionTimer
  readonly isCallIdOurs: boolean
  /** The last description that this side sent. */
  readonly description: Reply['body']
  readonly send: (method: string, options: RequestOptions) => Promise<SipResponse>
  /** Returns a response to a request that is not sent. */
  readonly localResponse: (method: string, status: number) => SipResponse
  /** Returns the reply with the fields of the stack added. */
  readonly complete: (transaction: ServerTransaction, reply: Reply) => Reply
  readonly failed: (reason: DialogFailure, contact?: string) => void
}

export class Negotiation {
  readonly #options: NegotiationOptions
  readonly #acks: AwaitedAcks
  readonly #offers: OfferState
  readonly #reoffers: Reoffers
  #description: Reply['body']

  constructor(options: NegotiationOptions) {
    const { core, isCallIdOurs, description, localResponse } = options
    this.#options = options
    this.#description = description
    this.#acks = new AwaitedAcks(core)
    const closed = (): void => this.#reoffers.proceed()
    this.#offers = new OfferState({ acks: this.#acks, random: core.random, closed })
    this.#reoffers = new Reoffers({
      clock: core.clock,
      random: core.random,
      isCallIdOurs,
      maySend: (method) => this.#offers.maySend(method),
      send: (method, request) => this.offer(method, request),
      localResponse,
    })
  }

  isAckAwaited(sequence: number): boolean {
    return this.#acks.has(sequence)
  }

  /** Sets whether the first 2xx is held back; until it is sent, no INVITE of this side is. */
  hold(isHeld: boolean): void {
    this.#acks.isHeld = isHeld
    if (!isHeld) this.#reoffers.proceed()
  }

  /** Sends an offer of this side; returns 491 if another one is open. */
  async offer(method: 'INVITE' | 'UPDATE', options: RequestOptions): Promise<SipResponse> {
    const { send, localResponse } = this.#options
    if (!this.#offers.maySend(method)) return localResponse(method, 491)
    const close = this.#offers.send()
    const response = await send(method, options)
    close()
    if (response.status < 300) this.#description = options.body ?? this.#description
    return response
  }

  reoffer(wish: OfferWish): Promise<SipResponse> {
    return this.#reoffers.request(wish)
  }

  retryDelayMs(response: SipResponse): number | undefined {
    return this.#reoffers.retryDelayMs(response)
  }

  /** Refreshes the session, by UPDATE if the peer accepts it, else with our last description: RFC 4028 §7.4. */
  async refresh(): Promise<void> {
    const { state, owner, send } = this.#options
    const body = this.#description
    if (body === undefined || state.allowed.includes('UPDATE')) return void (await send('UPDATE', {}))
    const response = await this.offer('INVITE', { body })
    const answer = response.status < 300 ? sdpOf(response) : undefined
    if (answer !== undefined) owner.tell((listener) => listener.refreshed?.(answer))
  }

  /** Handles an INVITE or UPDATE of the peer. */
  receive(transaction: ServerTransaction): void {
    const { request } = transaction
    const owed = refuseInterval(request)
    if (owed !== undefined) return this.#refuse(transaction, owed.reply)
    const received = this.#offers.receive(transaction)
    if (received.kind === 'refresh') return this.#accept(transaction, { status: 200 })
    if (received.kind === 'refused') return this.#refuse(transaction, withReason(received.reply))
    transaction.onCancel(() => this.#offers.drop())
    void this.#options.owner
      .ask((listener) => listener.offered(received.offer, request))
      .then((reply) => {
        if (!this.#offers.close(transaction)) return
        if (reply.status >= 300) transaction.respond(cleanReply(reply))
        else this.#accept(transaction, reply)
      })
  }

  /**
   * Refuses an offer that the owner does not receive, and notes the reason for the journal, except for collisions,
   * which are common.
   */
  #refuse(transaction: ServerTransaction, reply: Reply): void {
    transaction.respond(reply)
    const why = reply.headers?.find(({ name }) => name === 'x-reason')?.value
    const { status } = reply
    if (status === 491 || status === 500 || why === undefined) return
    const { method } = transaction.request
    this.#options.owner.tell((listener) => listener.noted?.(`${method} refused with ${status}: ${why}`))
  }

  /** Handles the ACK of one of our 2xx; returns false for any other ACK. */
  receiveAck(ack: SipRequest): boolean {
    if (!this.#acks.receive(ack)) return false
    this.#reoffers.proceed()
    return true
  }

  /** Sends a 2xx to an INVITE, repeatedly until its ACK. */
  answer(transaction: ServerTransaction, response: SipResponse): void {
    const headers = [...response.headers, ...this.#options.session.answered(transaction.request)]
    const lost = (): void => this.#options.failed('ack-timeout', headerOf(response, 'contact'))
    this.#acks.send(transaction, { ...response, headers }, lost)
  }

  /** Stops offers in both directions: our BYE is in progress. */
  close(): void {
    this.#reoffers.stop()
    this.#options.session.end()
    this.#offers.drop()
  }

  end(): void {
    this.close()
    this.#acks.stop()
  }

  #accept(transaction: ServerTransaction, reply: Reply): void {
    const { state, session, complete } = this.#options
    const { request } = transaction
    refreshTarget(state, request)
    this.#description = reply.body ?? this.#description
    const completed = complete(transaction, reply)
    if (request.method === 'INVITE') this.answer(transaction, responseTo(request, completed))
    else transaction.respond(withHeaders(completed, session.answered(request)))
  }
}
