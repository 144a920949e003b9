// A confirmed dialog, from either side: RFC 3261 §12 to §15, RFC 3311.
import { cseqOf } from '../message/cseq.ts'
import type { HeaderField, SipRequest, SipResponse } from '../message/message.ts'
import { timerExpired, withReason } from '../refusal.ts'
import type { LeftDialog, Dialog, DialogFailure, DialogListener, OfferWish, ReferWish } from '../dialogs.ts'
import type { Remote } from '../transport/transports.ts'
import type { Reply } from '../message/reply.ts'
import type { ServerTransaction } from '../transaction/transaction.ts'
import {
  capabilityHeaders,
  cleanReply,
  optionsReply,
  refuse,
  withHeaders,
  type ContactName,
  type Core,
} from './core.ts'
import { noteSequence, type DialogState } from './dialog-state.ts'
import { DialogClient, type RequestOptions } from './dialog-client.ts'
import type { DialogGuard } from './dialog-guard.ts'
import { DialogOwner } from './dialog-owner.ts'
import { DialogRoute } from './dialog-route.ts'
import { leftDialogOf } from './left-dialog.ts'
import type { DialogEntry, Standing } from './dialog-table.ts'
import type { Flow } from './flow.ts'
import { Negotiation } from './negotiation.ts'
import { Referrals } from './referrals.ts'
import type { HeldAnswer } from './reliable-provisionals.ts'
import { standingOf } from './replaces.ts'
import type { Credentials } from './send-request.ts'
import { SessionTimer } from './session-timer.ts'

export interface DialogOptions {
  readonly core: Core
  readonly state: DialogState
  readonly flow: Flow
  readonly contact: ContactName
  /** Requests over UDP stay on UDP, however large they are. */
  readonly keepsTransport?: boolean
  readonly credentials?: Credentials | undefined
  /** Reports whether requests may go to an address that the peer names; all are allowed when left out. */
  readonly mayReach?: ((place: Remote) => boolean) | undefined
  readonly guard?: DialogGuard | undefined
  /** The last description that this side sent. */
  readonly description?: Reply['body']
  /** Handles a PRACK for a response from before this dialog. */
  readonly receivePrack?: ((transaction: ServerTransaction) => void) | undefined
}

/** The text of the Reason (RFC 3326) of the BYE after each failure. */
const failureTexts: Readonly<Record<DialogFailure, string>> = {
  'ack-timeout': 'ACK Timeout',
  'prack-timeout': 'PRACK Timeout',
  'session-expired': 'Session Timeout',
  'transport-error': 'No Response',
}

/** `ending`: our BYE is in progress, or waits for the ACK. `over`: the dialog has ended. */
type Phase = 'live' | 'ending' | 'over'

export class EstablishedDialog implements Dialog, DialogEntry {
  readonly guard: DialogGuard | undefined
  readonly #core: Core
  readonly #state: DialogState
  readonly #contact: ContactName
  readonly #route: DialogRoute
  readonly #client: DialogClient
  readonly #owner: DialogOwner
  readonly #session: SessionTimer
  readonly #negotiation: Negotiation
  readonly #referrals: Referrals
  readonly #firstAck = Promise.withResolvers<void>()
  #firstInvite: number | undefined
  #held: HeldAnswer | undefined
  readonly #receivePrack: NonNullable<DialogOptions['receivePrack']>
  #phase: Phase = 'live'
  #bye: Promise<void> | undefined

  constructor(options: DialogOptions) {
    const { core, state, flow, contact, credentials, mayReach, keepsTransport = false } = options
    this.#core = core
    this.guard = options.guard
    this.#owner = new DialogOwner(core.log, state.callId)
    this.#state = state
    this.#contact = contact
    this.#receivePrack = options.receivePrack ?? ((transaction) => refuse(transaction, 481))
    const noted = (sentence: string): void => this.#owner.tell((listener) => listener.noted?.(sentence))
    this.#route = new DialogRoute({ core, state, flow, contact, keepsTransport, mayReach, noted })
    this.#session = new SessionTimer({
      clock: core.clock,
      refresh: () => this.#negotiation.refresh(),
      expired: () => this.#fail('session-expired'),
    })
    const [route, session] = [this.#route, this.#session]
    this.#client = new DialogClient({ core, state, route, contact, credentials, session })
    this.#negotiation = new Negotiation({
      core,
      state,
      session,
      owner: this.#owner,
      isCallIdOurs: flow.isOurs,
      description: options.description,
      send: (method, request) => this.#send(method, request),
      localResponse: (method, status) => this.#client.localResponse(method, status),
      complete: (transaction, reply) => this.#complete(transaction, reply),
      failed: (reason, contact) => this.#fail(reason, contact),
    })
    this.#referrals = new Referrals({
      clock: core.clock,
      owner: this.#owner,
      allow: core.abilities.allow,
      find: (id) => standingOf(id, core.dialogs),
      respond: (transaction, reply) => this.#respond(transaction, reply),
      send: (method, request) => this.#client.send(method, request),
      idle: () => this.#leave(),
    })
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

  left(): LeftDialog {
    return leftDialogOf(this.#state, this.#route.source)
  }

  get standing(): Standing {
    return this.#phase === 'live' ? { kind: 'confirmed', dialog: this } : { kind: 'over' }
  }

  isBy(remote: Remote): boolean {
    return this.#phase !== 'over' && this.#route.isBy(remote)
  }

  connectionLost(remote: Remote): void {
    if (this.#phase === 'live' && this.#route.isByWebSocket(remote))
      this.#owner.tell((listener) => listener.disconnected?.())
  }

  listen(listener: DialogListener): void {
    this.#owner.listen(listener)
  }

  /** UAS: sends the 2xx that made this dialog, repeatedly until the ACK. */
  answer(transaction: ServerTransaction, response: SipResponse): void {
    this.#firstInvite = cseqOf(transaction.request).sequence
    this.#negotiation.answer(transaction, response)
  }

  /** UAS: sends the 2xx, as `answer` does, once the PRACKs that it waits for have arrived: RFC 3262 §3. */
  async answerAfter(waiting: HeldAnswer): Promise<void> {
    this.#held = waiting
    this.#negotiation.hold(true)
    await waiting.confirmed
    if (this.#held === undefined) return
    this.#held = undefined
    this.answer(waiting.transaction, waiting.response)
    this.#negotiation.hold(false)
  }

  /** UAS: refuses the INVITE with this status in place of the 2xx that waits. */
  drop(status: number, news: (listener: DialogListener) => void): void {
    if (this.#held === undefined) return
    this.#refuse(status)
    this.#end()
    this.#owner.tell(news)
  }

  /** UAC: handles the 2xx that made this dialog. */
  established(response: SipResponse): void {
    this.#session.confirmed(response)
  }

  /** UAC: acknowledges a 2xx, each time it arrives: RFC 3261 §13.2.2.4. */
  acknowledge(invite: SipRequest): void {
    void this.#client.acknowledge(invite)
  }

  async request(method: string, options: RequestOptions = {}): Promise<SipResponse> {
    if (this.#phase !== 'live') return this.#client.localResponse(method, 481)
    const isOffer = method === 'INVITE' || (method === 'UPDATE' && options.body !== undefined)
    return isOffer ? this.#negotiation.offer(method, options) : this.#send(method, options)
  }

  reoffer(wish: OfferWish): Promise<SipResponse> {
    return this.#negotiation.reoffer(wish)
  }

  retryDelayMs(response: SipResponse): number | undefined {
    return this.#negotiation.retryDelayMs(response)
  }

  refer(wish: ReferWish): Promise<SipResponse> {
    return this.#referrals.refer(wish, (method, options) => this.request(method, options))
  }

  bye(headers: readonly HeaderField[] = []): Promise<void> {
    return (this.#bye ??= this.#hangUp(headers))
  }

  /** Ends the dialog without sending anything: the stack stops, or the dialog was never established. */
  stop(): void {
    this.#end()
    this.#referrals.stop()
  }

  receive(transaction: ServerTransaction): void {
    const { request, remote } = transaction
    if (!noteSequence(this.#state, request)) return refuse(transaction, 500)
    if (request.method === 'PRACK') return this.#receivePrack(transaction)
    if (request.method === 'NOTIFY') return this.#referrals.receiveNotify(transaction)
    if (this.#phase === 'over') return refuse(transaction, 481)
    if (request.method === 'BYE') return this.#receiveBye(transaction)
    if (this.#phase !== 'live') return refuse(transaction, 481)
    this.#route.follow(request, remote)
    switch (request.method) {
      case 'INVITE':
      case 'UPDATE':
        return this.#negotiation.receive(transaction)
      case 'REFER':
        return this.#referrals.receiveRefer(transaction)
      case 'OPTIONS':
        return this.#respond(transaction, optionsReply)
      default:
        void this.#owner
          .ask((listener) => listener.requested(request))
          .then((reply) =>
            reply.status === 405 ? this.#respond(transaction, reply) : transaction.respond(cleanReply(reply)),
          )
    }
  }

  receiveAck(ack: SipRequest): void {
    if (!this.#negotiation.receiveAck(ack)) return
    const isFirst = cseqOf(ack).sequence === this.#firstInvite
    if (isFirst) this.#firstAck.resolve()
    if (isFirst || ack.body.byteLength > 0) this.#owner.tell((listener) => listener.confirmed(ack))
  }

  /** Refuses the INVITE and returns true, if its 2xx still waits. */
  #refuse(status: number): boolean {
    const held = this.#held
    this.#held = undefined
    if (held !== undefined) refuse(held.transaction, status)
    held?.abandoned()
    return held !== undefined
  }

  #receiveBye(transaction: ServerTransaction): void {
    const wasLive = this.#phase === 'live'
    transaction.respond({ status: 200 })
    this.#end()
    // When both sides hang up at the same time, the owner has ended the call already: RFC 3261 §15.1.2.
    if (wasLive) this.#owner.tell((listener) => listener.ended(transaction.request))
  }

  #fail(reason: DialogFailure, contact?: string): void {
    if (reason === 'ack-timeout') this.#firstAck.resolve()
    if (this.#phase !== 'live') return
    this.#owner.tell((listener) => listener.failed(reason, contact))
    // The owner has sent a BYE of its own if it knows more.
    void this.bye([timerExpired(failureTexts[reason])])
  }

  async #hangUp(headers: readonly HeaderField[]): Promise<void> {
    if (this.#phase !== 'live') return
    // The caller still waits for a final response, so it gets that and no BYE.
    if (this.#refuse(480)) return this.#end()
    this.#phase = 'ending'
    this.#negotiation.close()
    // RFC 3261 §15.1.1: the callee sends no BYE until the ACK has arrived or cannot arrive any more.
    if (this.#firstInvite !== undefined && this.#negotiation.isAckAwaited(this.#firstInvite)) {
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
    this.#refuse(487)
    this.#negotiation.end()
    this.#firstAck.resolve()
    this.#leave()
  }

  /** Removes the dialog from the table once no subscription needs it: RFC 5057 §4. */
  #leave(): void {
    if (this.#phase === 'over' && this.#referrals.isIdle) this.#core.dialogs.delete(this.#state, this)
  }

  async #send(method: string, options: RequestOptions): Promise<SipResponse> {
    const response = await this.#client.send(method, options)
    // RFC 3261 §12.2.1.2: the peer has no such dialog, or does not respond.
    if (response.status === 481 || response.status === 408) this.#fail('transport-error')
    return response
  }

  #respond(transaction: ServerTransaction, reply: Reply): void {
    transaction.respond(this.#complete(transaction, withReason(reply)))
  }

  #complete({ remote }: ServerTransaction, reply: Reply): Reply {
    return withHeaders(cleanReply(reply), capabilityHeaders(this.#core, remote, this.#contact))
  }
}
