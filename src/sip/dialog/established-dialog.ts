// A confirmed dialog, from either side: RFC 3261 §12 to §15, RFC 3311.
import { responseTo } from '../message/build.ts'
import { cseqOf } from '../message/cseq.ts'
import type { HeaderField, SipRequest, SipResponse } from '../message/message.ts'
import type { Dialog, DialogListener, Reply } from '../sip.ts'
import type { ServerTransaction } from '../transaction/transaction.ts'
import { AwaitedAcks } from './awaited-acks.ts'
import { capabilityHeaders, cleanReply, withHeaders } from './core.ts'
import type { Core } from './core.ts'
import { noteSequence, refreshTarget } from './dialog-state.ts'
import { DialogClient } from './dialog-client.ts'
import type { RequestOptions } from './dialog-client.ts'
import { DialogRoute } from './dialog-route.ts'
import type { DialogState } from './dialog-state.ts'
import type { DialogEntry } from './dialog-table.ts'
import type { Flow } from './flow.ts'
import { OfferState } from './offer-state.ts'
import type { Credentials } from './send-request.ts'

export interface DialogOptions {
  readonly core: Core
  readonly state: DialogState
  /** Where the peer's own packets come from. */
  readonly flow: Flow
  /** The user part of our Contact, in every request and response of the dialog. */
  readonly contactUser?: string | undefined
  /** Requests over UDP stay there, however large they are. */
  readonly keepsTransport?: boolean
  readonly credentials?: Credentials | undefined
  /** Whether requests may go to an address that the peer names; to all when left out. */
  readonly mayReach?: ((address: string) => boolean) | undefined
}

/** `ending`: our BYE is under way, or waits for the ACK. `over`: the dialog is out of the table. */
type Phase = 'live' | 'ending' | 'over'

export class EstablishedDialog implements Dialog, DialogEntry {
  readonly #core: Core
  readonly #state: DialogState
  readonly #contactUser: string | undefined
  readonly #route: DialogRoute
  readonly #client: DialogClient
  readonly #listening = Promise.withResolvers<DialogListener>()
  readonly #acks: AwaitedAcks
  readonly #offers: OfferState
  readonly #firstAck = Promise.withResolvers<void>()
  #firstInvite: number | undefined
  #phase: Phase = 'live'
  #bye: Promise<void> | undefined

  constructor(options: DialogOptions) {
    const { core, state, flow, contactUser, credentials, mayReach, keepsTransport = false } = options
    this.#core = core
    this.#state = state
    this.#contactUser = contactUser
    const noted = (sentence: string): void => this.#tell((listener) => listener.noted?.(sentence))
    const route = new DialogRoute({ core, state, flow, keepsTransport, mayReach, noted })
    this.#route = route
    this.#client = new DialogClient({ core, state, route, contactUser, credentials })
    this.#acks = new AwaitedAcks(core)
    this.#offers = new OfferState({ acks: this.#acks, random: core.random, closed: () => undefined })
    core.dialogs.set(state, this)
  }

  get callId(): string {
    return this.#state.callId
  }

  get localTag(): string {
    return this.#state.localTag
  }

  get remoteTag(): string {
    return this.#state.remoteTag
  }

  listen(listener: DialogListener): void {
    this.#listening.resolve(listener)
  }

  /** UAS: sends the 2xx that made this dialog, again and again until the ACK. */
  answer(transaction: ServerTransaction, response: SipResponse): void {
    this.#firstInvite = cseqOf(transaction.request).sequence
    this.#sendUntilAck(transaction, response)
  }

  /** UAC: acknowledges a 2xx, each time it comes: RFC 3261 §13.2.2.4. */
  acknowledge(invite: SipRequest): void {
    void this.#client.acknowledge(invite)
  }

  async request(method: string, options: RequestOptions = {}): Promise<SipResponse> {
    if (this.#phase !== 'live') return this.#client.localResponse(method, 481)
    const isOffer = method === 'INVITE' || (method === 'UPDATE' && options.body !== undefined)
    if (!isOffer) return this.#send(method, options)
    if (!this.#offers.maySend(method)) return this.#client.localResponse(method, 491)
    const close = this.#offers.send()
    const response = await this.#send(method, options)
    close()
    return response
  }

  bye(headers: readonly HeaderField[] = []): Promise<void> {
    this.#bye ??= this.#hangUp(headers)
    return this.#bye
  }

  /** Ends it without sending anything: the stack stops, or the dialog never came to be. */
  stop(): void {
    this.#end()
  }

  receive(transaction: ServerTransaction): void {
    const { request, remote } = transaction
    if (!noteSequence(this.#state, request)) return transaction.respond({ status: 500 })
    if (request.method === 'BYE') return this.#receiveBye(transaction)
    if (this.#phase !== 'live') return transaction.respond({ status: 481 })
    this.#route.follow(request, remote)
    switch (request.method) {
      case 'INVITE':
      case 'UPDATE':
        return this.#receiveOffer(transaction)
      case 'OPTIONS':
        return this.#respond(transaction, {
          status: 200,
          headers: [{ name: 'accept', value: 'application/sdp' }],
        })
      default:
        void this.#ask((listener) => listener.requested(request)).then((reply) =>
          transaction.respond(cleanReply(reply)),
        )
    }
  }

  receiveAck(ack: SipRequest): void {
    if (!this.#acks.receive(ack)) return
    const isFirst = cseqOf(ack).sequence === this.#firstInvite
    if (isFirst) this.#firstAck.resolve()
    if (isFirst || ack.body.byteLength > 0) this.#tell((listener) => listener.confirmed(ack))
  }

  #receiveBye(transaction: ServerTransaction): void {
    const wasLive = this.#phase === 'live'
    transaction.respond({ status: 200 })
    this.#end()
    // When both sides hang up at once the owner has ended the call already: RFC 3261 §15.1.2.
    if (wasLive) this.#tell((listener) => listener.ended(transaction.request))
  }

  #receiveOffer(transaction: ServerTransaction): void {
    const { request } = transaction
    const received = this.#offers.receive(transaction)
    if (received.kind === 'refresh') return this.#acceptOffer(transaction, { status: 200 })
    if (received.kind === 'refused') return transaction.respond(received.reply)
    transaction.onCancel(() => this.#offers.drop())
    void this.#ask((listener) => listener.offered(received.offer, request)).then((reply) => {
      if (!this.#offers.close(transaction)) return
      if (reply.status >= 300) transaction.respond(cleanReply(reply))
      else this.#acceptOffer(transaction, reply)
    })
  }

  #acceptOffer(transaction: ServerTransaction, reply: Reply): void {
    refreshTarget(this.#state, transaction.request)
    if (transaction.request.method !== 'INVITE') return this.#respond(transaction, reply)
    this.#sendUntilAck(transaction, responseTo(transaction.request, this.#complete(transaction, reply)))
  }

  #sendUntilAck(transaction: ServerTransaction, response: SipResponse): void {
    this.#acks.send(transaction, response, () => {
      this.#firstAck.resolve()
      this.#fail('ack-timeout')
    })
  }

  #fail(reason: 'ack-timeout' | 'transport-error'): void {
    if (this.#phase !== 'live') return
    this.#tell((listener) => listener.failed(reason))
    void this.bye()
  }

  async #hangUp(headers: readonly HeaderField[]): Promise<void> {
    if (this.#phase !== 'live') return
    this.#phase = 'ending'
    this.#offers.drop()
    // RFC 3261 §15.1.1: the callee sends no BYE before the ACK came or cannot come any more.
    if (this.#firstInvite !== undefined && this.#acks.has(this.#firstInvite)) {
      await this.#firstAck.promise
      if (this.#hasEnded()) return
    }
    await this.#client.send('BYE', { headers })
    this.#end()
  }

  #hasEnded(): boolean {
    return this.#phase === 'over'
  }

  #end(): void {
    if (this.#phase === 'over') return
    this.#phase = 'over'
    this.#offers.drop()
    this.#acks.stop()
    this.#firstAck.resolve()
    this.#core.dialogs.delete(this.#state, this)
  }

  async #send(method: string, options: RequestOptions): Promise<SipResponse> {
    const response = await this.#client.send(method, options)
    // RFC 3261 §12.2.1.2: the peer has no such dialog, or is gone.
    if (response.status === 481 || response.status === 408) this.#fail('transport-error')
    return response
  }

  #respond(transaction: ServerTransaction, reply: Reply): void {
    transaction.respond(this.#complete(transaction, reply))
  }

  #complete({ remote }: ServerTransaction, reply: Reply): Reply {
    return withHeaders(cleanReply(reply), capabilityHeaders(this.#core, remote, this.#contactUser))
  }

  async #ask(question: (listener: DialogListener) => Promise<Reply>): Promise<Reply> {
    try {
      return await question(await this.#listening.promise)
    } catch (error) {
      this.#core.log.error({ err: error, callId: this.callId }, 'dialog listener failed')
      return { status: 500 }
    }
  }

  #tell(news: (listener: DialogListener) => void): void {
    this.#listening.promise.then(news).catch((error: unknown) => {
      this.#core.log.error({ err: error, callId: this.callId }, 'dialog listener failed')
    })
  }
}
