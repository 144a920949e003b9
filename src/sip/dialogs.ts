// The public face of a dialog: what an owner does with it, and is asked of it. Read it through sip.ts.
import type { HeaderField, SipMessage, SipRequest, SipResponse } from './message/message.ts'
import type { ReplacesId } from './message/replaces.ts'
import type { Reply } from './reply.ts'

export type { ReplacesId } from './message/replaces.ts'

export type DialogFailure = 'ack-timeout' | 'prack-timeout' | 'transport-error' | 'session-expired'

export interface DialogListener {
  /** BYE from the far end; already answered 200. */
  ended(bye: SipRequest): void
  /** The ACK for the 200 arrived; carries SDP when the INVITE had none. Again for a re-INVITE, if its ACK carries SDP. */
  confirmed(ack: SipRequest): void
  /**
   * No ACK within 64*T1, no PRACK for what comes before the 2xx (RFC 3262 §3), or the peer does not know the dialog or does not answer within it (RFC 3261 §12.2.1.2): the
   * stack sends BYE itself, unless the listener does so in this call. So it does where no refresh of the session came in
   * time (RFC 4028 §10). The listener hears nothing afterwards.
   */
  failed(reason: DialogFailure): void
  /**
   * A re-INVITE, or an UPDATE with an offer. `offer` is undefined when it carries none. The returned SDP is the answer
   * (or fresh offer). Overlapping ones, and bodies that are no SDP, never come so far.
   */
  offered(offer: string | undefined, request: SipRequest): Promise<Reply>
  /** What the far end answered when the stack sent our last description again, to refresh the session (RFC 4028 §7.4). */
  refreshed?(answer: string): void
  /**
   * A REFER (RFC 3515), where `SipOptions.serves` says so; to be answered within 30 s. A listener without this refuses
   * each with 405.
   */
  referred?(referral: IncomingReferral): void
  /**
   * Any other request within the dialog that Allow lists (INFO), and MESSAGE where `SipOptions.serves` says so: its answer. A 405
   * gets Allow.
   */
  requested(request: SipRequest): Promise<Reply>
  /** Something about the dialog that its record should say: where its requests go, when that is not where they should. */
  noted?(sentence: string): void
  /** The WebSocket that the far end is reached by has closed; its phone may come back over another one. */
  disconnected?(): void
}

/** What the far end of an INVITE sends before its final response; of one that we sent, in any of the early dialogs that it opens. */
export interface EarlyListener {
  /**
   * An offer: of an UPDATE (RFC 3311), or of a reliable provisional response where the INVITE had none (RFC 3262 §5). Left
   * out, it is refused with 488.
   */
  offered?(offer: string, message: SipMessage): Promise<Reply>
  /** The PRACK for our offer has come, which must bring the answer (RFC 3262 §5); undefined where it does not. */
  answered?(answer: string | undefined): void
  /** INFO (RFC 6086); left out, it is refused with 500 until the call is answered. */
  requested?(request: SipRequest): Promise<Reply>
}

export interface OfferWish {
  /** INVITE when left out. */
  readonly method?: 'INVITE' | 'UPDATE'
  /** Asked each time that the offer is about to be sent. */
  readonly offer: () => NonNullable<Reply['body']>
  readonly headers?: readonly HeaderField[]
}

/** A confirmed dialog (RFC 3261 §12), from either side. */
export interface Dialog {
  readonly callId: string
  readonly localTag: string
  readonly remoteTag: string
  listen(listener: DialogListener): void
  /**
   * Sends a request within the dialog and resolves with its final response. Made here: 408 on timeout, 503 when it cannot
   * be sent, 491 for an INVITE or an offer while another is open, 481 once the dialog is ending. The ACK of an INVITE is sent.
   */
  request(
    method: string,
    options?: { readonly headers?: readonly HeaderField[]; readonly body?: Reply['body'] },
  ): Promise<SipResponse>
  /**
   * Sends an offer as soon as no other one is open in either direction, and resolves with its final response. After a
   * collision (491) it is sent again when RFC 3261 §14.1 says, after a 500 or 503 when its Retry-After says, a few times
   * at most. One more may wait behind it: an older one that still waited resolves with 491, what the end of the dialog
   * overtakes with 481.
   */
  reoffer(wish: OfferWish): Promise<SipResponse>
  /**
   * How long an offer that `request` sent waits before it may be sent again, by the same rules; undefined where its response is
   * final. Each call draws by chance.
   */
  retryDelayMs(response: SipResponse): number | undefined
  /**
   * Sends a REFER, whose NOTIFYs go to the wish, and resolves with its final response as `request` does. Throws AppError
   * bad_request when `referTo` or `referredBy` is no address.
   */
  refer(wish: ReferWish): Promise<SipResponse>
  /** Sends BYE once; later calls do nothing. Waits for the ACK first when it must (RFC 3261 §15.1.1). */
  bye(headers?: readonly HeaderField[]): Promise<void>
}

/** A REFER of the far end: this side is to make a call, mostly in its place (RFC 3515 §2.4). */
export interface IncomingReferral {
  readonly request: SipRequest
  /** The URI that is to be called, without the header fields that it embeds. */
  readonly referTo: string
  readonly displayName: string | undefined
  /** The dialog that the new call takes the place of, where the transfer is attended (RFC 3891). */
  readonly replaces: ReplacesId | undefined
  /** That dialog, where it is one of this stack: its far end can be joined without an INVITE. */
  readonly replaced?: Dialog | undefined
  /** The other header fields that the new INVITE should carry (RFC 3261 §19.1.5). */
  readonly headers: readonly HeaderField[]
  /** On whose behalf: the value of Referred-By (RFC 3892), which proves nothing by itself. */
  readonly referredBy: string | undefined
  /** Answers 202, and reports 100 Trying. */
  accept(): ReferSubscription
  /** A refusal 300..699. Does nothing once the REFER is answered. */
  reject(reply: Reply): void
}

/** What the far end hears of the call that it asked for, until its last status or for three minutes (RFC 3515 §2.4.4). */
export interface ReferSubscription {
  /**
   * The newest status of that call; one of 200 or more is the last. It still reaches a far end that has hung up (RFC 5057 §4).
   * Does nothing for one that wants no reports (RFC 4488).
   */
  notify(status: number, reason?: string): void
  /** Resolves when the far end hears no more of it. */
  readonly done: Promise<void>
}

/** A REFER of this side. */
export interface ReferWish {
  /** A URI or an address. */
  readonly referTo: string
  /** For an attended transfer: the dialog at `referTo` that the far end's new call takes the place of. */
  readonly replaces?: ReplacesId
  /** A URI or an address. */
  readonly referredBy?: string
  readonly headers?: readonly HeaderField[]
  /** Called for each NOTIFY, also after the end of the dialog. */
  readonly notified?: (report: ReferReport) => void
}

export interface ReferReport {
  /** The status of the call that the far end makes; undefined where a NOTIFY says none. */
  readonly status?: number
  readonly reason?: string
  /** No other report follows: the call has its final status, or the subscription ended. */
  readonly isLast: boolean
}
