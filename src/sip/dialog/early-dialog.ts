// An early dialog of our INVITE, one for each tag in a provisional response: the requests of the far end within it,
// and the PRACKs for its reliable responses. RFC 3261 §12, RFC 3262 §4, RFC 3311 §5.
import { responseTo } from '../message/build.ts'
import { sdpOf } from '../message/body.ts'
import type { SipRequest, SipResponse } from '../message/message.ts'
import { rackFor, rseqOf } from '../message/reliable.ts'
import { withReason } from '../refusal.ts'
import type { DialogUser, OutgoingInvite } from '../invites.ts'
import type { EarlyListener } from '../dialogs.ts'
import type { Remote } from '../transport/transports.ts'
import type { Reply } from '../message/reply.ts'
import type { ServerTransaction } from '../transaction/transaction.ts'
import { capabilityHeaders, cleanReply, refuse, withHeaders, type ContactName, type Core } from './core.ts'
import { DialogClient } from './dialog-client.ts'
import { DialogGuard } from './dialog-guard.ts'
import { DialogRoute } from './dialog-route.ts'
import { noteSequence, refreshTarget, uacDialogState, type DialogState } from './dialog-state.ts'
import type { DialogEntry, Standing } from './dialog-table.ts'
import { EarlyOffers } from './early-offers.ts'
import { replyEarly } from './early-requests.ts'
import type { Credentials } from './send-request.ts'

export interface EarlyDialogOptions {
  readonly core: Core
  readonly call: OutgoingInvite
  readonly invite: SipRequest
  /** The first response with this tag. */
  readonly response: SipResponse
  /** The destination of the INVITE. */
  readonly source: Remote
  readonly contact: ContactName
  readonly keepsTransport: boolean
  readonly credentials: Credentials | undefined
  readonly mayReach: ((place: Remote) => boolean) | undefined
  readonly listener: EarlyListener | undefined
  /** Only requests of this user are accepted within it; anyone's when left out. */
  readonly user: DialogUser | undefined
  /** Called when the far end has ended it with BYE. */
  readonly ended: () => void
}

export class EarlyDialog implements DialogEntry {
  readonly guard: DialogGuard | undefined
  readonly #options: EarlyDialogOptions
  readonly #state: DialogState
  readonly #client: DialogClient
  readonly #route: DialogRoute
  /** The RSeq of the last response that was accepted. */
  #lastRseq: number | undefined
  /** The offer of the INVITE has been answered reliably. */
  #isAnswered = false
  readonly #offers: EarlyOffers

  constructor(options: EarlyDialogOptions) {
    const { core, invite, response, source, keepsTransport, mayReach, contact, credentials } = options
    this.#options = options
    this.guard = options.user && new DialogGuard(options.user, response, source)
    const state = uacDialogState(invite, response)
    this.#state = state
    const flow = { source, isDirect: true, isOurs: true }
    const noted = (fault: string): void => core.log.debug({ callId: state.callId, fault }, 'early dialog')
    this.#route = new DialogRoute({ core, state, flow, contact, keepsTransport, mayReach, noted })
    this.#client = new DialogClient({ core, state, route: this.#route, contact, credentials })
    this.#offers = new EarlyOffers({ core, callId: state.callId, listener: () => options.listener })
    core.dialogs.set(state, this)
  }

  /**
   * Returns its state with the facts of the 2xx, for the established dialog (RFC 3261 §13.2.2.4). Both use the same CSeq
   * numbers, since a PRACK may be sent after the 2xx.
   */
  confirmed(response: SipResponse): DialogState {
    const { localSequence, remoteSequence } = this.#state
    const confirmed = uacDialogState(this.#options.invite, response)
    return Object.assign(this.#state, confirmed, { localSequence, remoteSequence })
  }

  get standing(): Standing {
    return { kind: 'ringing', invite: this.#options.call }
  }

  /** Returns false for a copy, or a response that overtook another: RFC 3262 §4. */
  provisional(response: SipResponse): boolean {
    const rseq = rseqOf(response)
    if (rseq !== undefined) {
      if (this.#lastRseq !== undefined && rseq !== this.#lastRseq + 1) return false
      this.#lastRseq = rseq
    }
    refreshTarget(this.#state, response)
    if (rseq !== undefined) void this.#confirm(response, rseq)
    return true
  }

  receive(transaction: ServerTransaction): void {
    const { request, remote } = transaction
    if (!noteSequence(this.#state, request)) return refuse(transaction, 500)
    if (request.method === 'BYE') {
      // The callee should wait for its final response, RFC 3261 §15; some do not.
      transaction.respond({ status: 200 })
      this.stop()
      return this.#options.ended()
    }
    this.#route.follow(request, remote)
    void this.#serve(request).then((reply) => {
      if (request.method === 'UPDATE' && reply.status < 300) refreshTarget(this.#state, request)
      transaction.respond(this.#complete(transaction, withReason(reply)))
    })
  }

  receiveAck(): void {
    // No response sent in an early dialog is acknowledged with ACK.
  }

  stop(): void {
    this.#options.core.dialogs.delete(this.#state, this)
  }

  /** Sends the PRACK, with the answer if the response carried an offer: RFC 3262 §5. */
  async #confirm(response: SipResponse, rseq: number): Promise<void> {
    const sdp = sdpOf(response)
    const isOffer = this.#options.invite.body.byteLength === 0 && !this.#isAnswered
    const reply = sdp === undefined || !isOffer ? undefined : await this.#offers.ask(sdp, response)
    if (sdp !== undefined) this.#isAnswered = true
    await this.#client.send('PRACK', {
      headers: [{ name: 'rack', value: rackFor(response, rseq) }],
      body: reply?.status === 200 ? reply.body : undefined,
    })
  }

  async #serve(request: SipRequest): Promise<Reply> {
    const { listener } = this.#options
    // RFC 3261 §14.2: our INVITE of this dialog is in progress.
    if (request.method === 'INVITE') return { status: 491 }
    if (request.method !== 'UPDATE') return replyEarly(request, listener, this.#offers)
    return this.#offers.take(request, this.#isAnswered ? undefined : { status: 491 })
  }

  #complete({ request, remote }: ServerTransaction, reply: Reply): SipResponse {
    const { core, contact } = this.#options
    return responseTo(request, withHeaders(cleanReply(reply), capabilityHeaders(core, remote, contact)))
  }
}
