// An INVITE from outside until its final response: the UAS side of RFC 3261 §13.3.
import { passagesOf } from '../passages.ts'
import type { Timer } from '../../lib/clock.ts'
import { responseTo } from '../message/build.ts'
import { sdpOf } from '../message/body.ts'
import { headerOf, type SipRequest, type SipResponse } from '../message/message.ts'
import { requires, supports } from '../message/session-expires.ts'
import { tryParseUri, unescapeUri } from '../message/uri.ts'
import type { CancelListener, DialogUser, IncomingInvite, Replaced } from '../invites.ts'
import type { Dialog, EarlyListener } from '../dialogs.ts'
import type { Remote } from '../transport/transports.ts'
import type { Reply } from '../message/reply.ts'
import type { ServerTransaction } from '../transaction/transaction.ts'
import { hasSips } from '../contact.ts'
import { capabilityHeaders, cleanReply, refuse, withHeaders, type ContactName, type Core } from './core.ts'
import { DialogGuard } from './dialog-guard.ts'
import {
  contactUriOf,
  noteSequence,
  recordedBy,
  refreshTarget,
  uasDialogState,
  type DialogState,
} from './dialog-state.ts'
import type { DialogEntry, Standing } from './dialog-table.ts'
import { EarlyOffers } from './early-offers.ts'
import { replyEarly } from './early-requests.ts'
import { EstablishedDialog } from './established-dialog.ts'
import { flowOf } from './flow.ts'
import { ReliableProvisionals } from './reliable-provisionals.ts'
import { withReason } from '../refusal.ts'

// RFC 3261 §13.3.1.1: proxies give up an INVITE without a response for three minutes.
const provisionalRepeatMs = 60_000
// A longer value cannot be a number or a name, and it would be repeated in every message of the call.
const maxContactUserChars = 128

export class PendingInvite implements IncomingInvite, DialogEntry {
  readonly replaces: Replaced | undefined
  readonly takesEarlyOffer: boolean
  readonly passages: number
  readonly #core: Core
  readonly #transaction: ServerTransaction
  readonly #state: DialogState
  #phase: 'waiting' | 'cancelled' | 'decided' = 'waiting'
  /** Undefined if the caller neither requires reliable responses nor can get an offer in one: RFC 3262 §3. */
  readonly #reliable: ReliableProvisionals | undefined
  /** Accepted, but the 200 waits for a PRACK. */
  #held: EstablishedDialog | undefined
  #cancel: SipRequest | undefined
  #unconfirmedBy: Reply | undefined
  #cancelListener: CancelListener | undefined
  #repetition: Timer | undefined
  /** The last description that was sent. */
  #description: Reply['body']
  readonly #offers: EarlyOffers
  #listener: EarlyListener | undefined
  /** Our offer is sent before the answer, or has been sent. */
  #hasOffered = false
  #mayReach: ((place: Remote) => boolean) | undefined
  #guard: DialogGuard | undefined
  #contactHost: string | undefined
  #contactFeature: string | undefined

  constructor(core: Core, transaction: ServerTransaction, replaces?: Replaced) {
    this.replaces = replaces
    this.#core = core
    this.#transaction = transaction
    this.#state = uasDialogState(transaction.request, transaction.localTag)
    this.#offers = new EarlyOffers({ core, callId: this.callId, listener: () => this.#listener })
    // Responses carry our tag, so the caller may send requests in the early dialog from the first response on.
    core.dialogs.set(this.#state, this)
    const { request } = transaction
    this.takesEarlyOffer = sdpOf(request) === undefined && supports(request, '100rel')
    this.passages = core.seal === undefined ? 0 : passagesOf(request, core.seal)
    const described = (prack: SipRequest): void => this.#described(prack)
    const options = {
      core,
      transaction,
      described,
      respond: (prack: ServerTransaction, isDescribed: boolean) => void this.#confirmed(prack, isDescribed),
      timedOut: () => this.#unconfirmed(),
    }
    const isReliable = this.takesEarlyOffer || requires(request, '100rel')
    this.#reliable = isReliable ? new ReliableProvisionals(options) : undefined
    transaction.onCancel((cancel) => this.#abandon(cancel))
    // The answer would not reach the caller: for the owner, the caller hung up.
    transaction.onEnd(() => this.#abandon(transaction.request))
  }

  get standing(): Standing {
    return { kind: 'called' }
  }

  get request(): SipRequest {
    return this.#transaction.request
  }

  get raw(): Uint8Array {
    return this.#transaction.raw
  }

  get remote(): Remote {
    return this.#transaction.remote
  }

  /** Our Contact with the called user: some user agents send no requests to a Contact without one. */
  get #contact(): ContactName {
    const uri = tryParseUri(this.request.uri)
    const user = uri?.scheme === 'tel' ? uri.number : uri?.user
    const isUsable = user !== undefined && user.length <= maxContactUserChars
    const isSips = hasSips(this.request.uri, recordedBy(this.request) ?? contactUriOf(this.request))
    const { host, feature } = { host: this.#contactHost, feature: this.#contactFeature }
    return { user: isUsable ? unescapeUri(user) : undefined, host, feature, isSips }
  }

  get callId(): string {
    return headerOf(this.request, 'call-id') ?? ''
  }

  get localTag(): string {
    return this.#transaction.localTag
  }

  restrict(mayReach: (place: Remote) => boolean): void {
    this.#mayReach = mayReach
  }

  nameContact(host: string): void {
    this.#contactHost = host
  }

  tagContact(feature: string): void {
    this.#contactFeature = feature
  }

  listen(listener: EarlyListener): void {
    this.#listener = listener
  }

  get guard(): DialogGuard | undefined {
    return this.#guard
  }

  holdTo(user: DialogUser): void {
    const guard = new DialogGuard(user, this.request, this.remote)
    this.#guard = guard
    this.#transaction.takeCancelFrom((cancel, remote) => guard.takes(cancel, remote))
  }

  progress(reply: Reply): void {
    if (this.#phase !== 'waiting' || reply.status <= 100 || reply.status >= 200) return
    const { body, ...rest } = reply
    const isOffer = body !== undefined && sdpOf(this.request) === undefined
    // RFC 3261 §13.2.1, RFC 3262 §5: an offer is sent once, and only if it cannot be lost.
    const mayDescribe = !isOffer || (this.takesEarlyOffer && !this.#hasOffered)
    if (mayDescribe) this.#description = body ?? this.#description
    this.#hasOffered ||= isOffer && mayDescribe
    this.#provisional(mayDescribe ? reply : rest)
    this.#repetition?.cancel()
    const repeat = (): void => {
      this.#provisional(this.#reliable === undefined && !isOffer ? reply : rest)
      this.#repetition = this.#core.clock.after(provisionalRepeatMs, repeat)
    }
    this.#repetition = this.#core.clock.after(provisionalRepeatMs, repeat)
  }

  #provisional(reply: Reply): void {
    const response = responseTo(this.request, this.#complete(reply), { toTag: this.#transaction.localTag })
    // A caller that supports reliable responses without requiring them gets unreliable ones, except for an offer.
    const isOwed = requires(this.request, '100rel') || reply.body !== undefined
    if (this.#reliable === undefined || !isOwed) this.#transaction.respond(response)
    else this.#reliable.send(response)
  }

  #described(prack: SipRequest): void {
    if (this.#hasOffered) this.#listener?.answered?.(sdpOf(prack))
  }

  /** RFC 3262 §5: a caller whose offer has its answer may make another in the PRACK. */
  async #confirmed(prack: ServerTransaction, isDescribed: boolean): Promise<void> {
    const isOffer = isDescribed && sdpOf(this.request) !== undefined && sdpOf(prack.request) !== undefined
    // The 200 that waits for this PRACK has its description already.
    if (!isOffer || this.#phase !== 'waiting') return prack.respond({ status: 200 })
    prack.respond(withReason(await this.#offers.take(prack.request, undefined)))
  }

  reject(reply: Reply): void {
    if (this.#phase !== 'waiting') return
    this.#decide('decided')
    this.#reliable?.stop()
    const clean = cleanReply(reply.status >= 300 ? reply : { ...reply, status: 500 })
    this.#transaction.respond(withHeaders(clean, [{ name: 'server', value: this.#core.product }]))
  }

  accept(given: Omit<Reply, 'status'>): Dialog {
    const wasWaiting = this.#phase === 'waiting'
    // RFC 6337 §3.1.1: the first answer must not undo what was agreed since, and an offer is not repeated.
    const { body: _first, ...rest } = given
    const reply: Omit<Reply, 'status'> =
      this.#offers.lastAnswer !== undefined || this.#hasOffered ? rest : given
    if (wasWaiting) this.#decide('decided')
    const flow = flowOf(this.request, this.remote)
    const dialog = new EstablishedDialog({
      core: this.#core,
      state: this.#state,
      flow,
      contact: this.#contact,
      mayReach: this.#mayReach,
      guard: this.#guard,
      description: reply.body ?? this.#offers.lastAnswer ?? this.#description,
      receivePrack: this.#reliable && ((prack) => this.#reliable?.receive(prack)),
    })
    if (wasWaiting) {
      const complete = this.#complete({ ...reply, status: 200 })
      this.#answer(dialog, responseTo(this.request, complete, { toTag: this.#transaction.localTag }))
    } else dialog.stop()
    return dialog
  }

  #answer(dialog: EstablishedDialog, response: SipResponse): void {
    const confirmed = this.#reliable?.finish()
    if (confirmed === undefined || this.#reliable?.isFinishing !== true)
      return dialog.answer(this.#transaction, response)
    this.#held = dialog
    const abandoned = (): void => this.#reliable?.stop()
    void dialog.answerAfter({ confirmed, response, abandoned, transaction: this.#transaction })
  }

  onCancel(listener: CancelListener): void {
    this.#cancelListener = listener
    if (this.#cancel !== undefined) listener(this.#cancel, this.#unconfirmedBy)
  }

  /** Handles a request within the early dialog. */
  receive(transaction: ServerTransaction): void {
    if (transaction.request.method === 'BYE') {
      // RFC 3261 §15: the caller may end an early dialog with BYE in place of CANCEL.
      transaction.respond({ status: 200 })
      this.#abandon(transaction.request)
      return
    }
    if (transaction.request.method === 'PRACK') {
      if (this.#reliable === undefined) refuse(transaction, 481)
      else this.#reliable.receive(transaction)
      return
    }
    void this.#serve(transaction)
  }

  async #serve(transaction: ServerTransaction): Promise<void> {
    const { request } = transaction
    if (!noteSequence(this.#state, request)) return refuse(transaction, 500)
    const isUpdate = request.method === 'UPDATE'
    const reply = await (isUpdate ? this.#update(request) : replyEarly(request, this.#listener, this.#offers))
    if (isUpdate && reply.status < 300) refreshTarget(this.#state, request)
    transaction.respond(responseTo(request, this.#complete(withReason(reply))))
  }

  #update(request: SipRequest): Promise<Reply> {
    // RFC 3311 §5.2: the first offer must have an answer that cannot be lost. Our own unanswered offer collides with
    // theirs.
    const isAnswered = this.#reliable?.isAnswered === true
    const early = this.#hasOffered ? { status: 491 } : this.#offers.later
    return this.#offers.take(request, isAnswered ? undefined : early)
  }

  receiveAck(): void {
    // The transaction handles the ACK of a refusal; there is no 2xx yet.
  }

  stop(): void {
    if (this.#phase === 'waiting') this.#decide('decided')
    this.#reliable?.stop()
  }

  /** RFC 3262 §3: the caller requires a response that does not reach it. */
  #unconfirmed(): void {
    this.#held?.drop(504, (listener) => listener.failed('prack-timeout'))
    this.#abandon(this.request, withReason({ status: 504 }))
  }

  #abandon(cancel: SipRequest, unconfirmed?: Reply): void {
    const reply = unconfirmed ?? withReason({ status: 487 })
    this.#held?.drop(reply.status, (listener) => listener.ended(cancel))
    if (this.#phase !== 'waiting') return
    this.#decide('cancelled')
    this.#reliable?.stop()
    const server = { name: 'server', value: this.#core.product }
    this.#transaction.respond(withHeaders(reply, [server]))
    this.#cancel = cancel
    this.#unconfirmedBy = unconfirmed
    this.#cancelListener?.(cancel, unconfirmed)
  }

  #decide(phase: 'cancelled' | 'decided'): void {
    this.#phase = phase
    this.#repetition?.cancel()
    this.#core.dialogs.delete(this.#state, this)
  }

  #complete(reply: Reply): Reply {
    // RFC 3261 §12.1.1: the response names the proxies that want to stay on the path.
    const recorded = this.request.headers.filter(({ name }) => name === 'record-route')
    const ours = capabilityHeaders(this.#core, this.remote, this.#contact)
    return withHeaders(cleanReply(reply), [...recorded, ...ours])
  }
}
