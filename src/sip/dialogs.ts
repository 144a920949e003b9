// The public interface of a dialog: what its owner can do with it, and the callbacks it gets. Import it through sip.ts.
import type { Transport } from './transport/transports.ts'
import type { HeaderField, SipMessage, SipRequest, SipResponse } from './message/message.ts'
import type { ReplacesId } from './message/replaces.ts'
import type { Reply } from './message/reply.ts'

export type { ReplacesId } from './message/replaces.ts'

export type DialogFailure = 'ack-timeout' | 'prack-timeout' | 'transport-error' | 'session-expired'

export interface DialogListener {
  /** BYE from the far end; the stack has already responded 200. */
  ended(bye: SipRequest): void
  /**
   * The ACK for the 200 arrived; it carries SDP when the INVITE had none. Called again for a re-INVITE whose ACK
   * carries SDP.
   */
  confirmed(ack: SipRequest): void
  /**
   * The dialog failed: no ACK within 64*T1, no PRACK for a provisional response before the 2xx (RFC 3262 §3), a peer
   * that does not know the dialog or does not respond within it (RFC 3261 §12.2.1.2), or no refresh of the session in
   * time (RFC 4028 §10). The stack sends BYE itself, unless the listener does so during this call. The listener is not
   * called afterwards.
   */
  failed(reason: DialogFailure, contact?: string): void
  /**
   * A re-INVITE, or an UPDATE with an offer. `offer` is undefined when it carries none. The returned SDP is the answer
   * (or a fresh offer). The stack refuses overlapping offers, and bodies that are not SDP, by itself.
   */
  offered(offer: string | undefined, request: SipRequest): Promise<Reply>
  /**
   * The far end's answer to our last description, which the stack sent again to refresh the session (RFC 4028 §7.4).
   */
  refreshed?(answer: string): void
  /**
   * A REFER (RFC 3515), if `SipOptions.serves` enables it; to be accepted or rejected within 30 s. Without this
   * callback each is refused with 405.
   */
  referred?(referral: IncomingReferral): void
  /**
   * Any other request within the dialog that Allow lists (INFO), and MESSAGE if `SipOptions.serves` enables it.
   * Returns the response. A 405 gets Allow.
   */
  requested(request: SipRequest): Promise<Reply>
  /** A sentence for the record of the call: requests of the dialog go to another place than the far end named. */
  noted?(sentence: string): void
  /** The WebSocket to the far end has closed; the phone may come back over another one. */
  disconnected?(): void
}

/**
 * Callbacks for messages of the far end before its final response to an INVITE. If we sent the INVITE, they come in
 * any of its early dialogs.
 */
export interface EarlyListener {
  /**
   * An offer: in an UPDATE (RFC 3311), or in a reliable provisional response if the INVITE had none (RFC 3262 §5).
   * Without this callback an offer is refused with 488.
   */
  offered?(offer: string, message: SipMessage): Promise<Reply>
  /** The PRACK for our offer arrived. It must carry the answer (RFC 3262 §5); undefined if it does not. */
  answered?(answer: string | undefined): void
  /** INFO (RFC 6086). Returns the response. Without this callback it is refused until the call is answered. */
  requested?(request: SipRequest): Promise<Reply>
}

export interface OfferWish {
  /** INVITE when left out. */
  readonly method?: 'INVITE' | 'UPDATE'
  /** Called each time the offer is about to be sent. */
  readonly offer: () => NonNullable<Reply['body']>
  readonly headers?: readonly HeaderField[]
}

/** All that a BYE needs, without credentials. Texts are as they were in the messages. */
export interface LeftDialog {
  readonly callId: string
  readonly local: string
  readonly remote: string
  readonly routeSet: readonly string[]
  readonly remoteTarget: string
  readonly localSequence: number
  readonly to: { readonly transport: Transport; readonly address: string; readonly port: number }
}

/** A confirmed dialog (RFC 3261 §12), from either side. */
export interface Dialog {
  readonly callId: string
  readonly localTag: string
  readonly remoteTag: string
  listen(listener: DialogListener): void
  /**
   * Sends a request within the dialog and resolves with its final response. The stack itself makes 408 on timeout, 503
   * when it cannot be sent, 491 for an INVITE or an offer while another is open, and 481 once the dialog is ending. It
   * sends the ACK of an INVITE.
   */
  request(
    method: string,
    options?: { readonly headers?: readonly HeaderField[]; readonly body?: Reply['body'] },
  ): Promise<SipResponse>
  /**
   * Sends an offer as soon as no other is open in either direction, and resolves with its final response. Repeats it,
   * a few times at most, after a collision (491) when RFC 3261 §14.1 says, and after a 500 or 503 when its Retry-After
   * says. One more may wait behind it. If a newer one replaces that, it resolves with 491; an offer that the end of
   * the dialog overtakes resolves with 481.
   */
  reoffer(wish: OfferWish): Promise<SipResponse>
  /**
   * Returns how long an offer that `request` sent must wait before it may be sent again, by the same rules; undefined
   * if its response is final. Each call draws a random delay.
   */
  retryDelayMs(response: SipResponse): number | undefined
  /**
   * Sends a REFER and resolves with its final response, as `request` does; the NOTIFYs go to `wish.notified`. Throws
   * AppError bad_request when `referTo` or `referredBy` is not an address.
   */
  refer(wish: ReferWish): Promise<SipResponse>
  /** Returns what another process needs to send a BYE in this dialog. */
  left(): LeftDialog
  /** Sends BYE once; later calls do nothing. Waits for the ACK first if it must (RFC 3261 §15.1.1). */
  bye(headers?: readonly HeaderField[]): Promise<void>
}

/** A REFER from the far end: a request that this side make a call, mostly in the far end's place (RFC 3515 §2.4). */
export interface IncomingReferral {
  readonly request: SipRequest
  /** The URI to call, without the header fields embedded in it. */
  readonly referTo: string
  readonly displayName: string | undefined
  /** The dialog that the new call replaces, in an attended transfer (RFC 3891). */
  readonly replaces: ReplacesId | undefined
  /** That dialog, if it belongs to this stack: its far end can be joined without an INVITE. */
  readonly replaced?: Dialog | undefined
  /** The other header fields for the new INVITE (RFC 3261 §19.1.5). */
  readonly headers: readonly HeaderField[]
  /** The party that asks for the transfer: the value of Referred-By (RFC 3892), which proves nothing by itself. */
  readonly referredBy: string | undefined
  /** Responds 202, and reports 100 Trying. */
  accept(): ReferSubscription
  /** Refuses with 300..699. Does nothing once the REFER has its response. */
  reject(reply: Reply): void
}

/**
 * The reports to the far end about the call that it requested, until the last status or for three minutes (RFC 3515
 * §2.4.4).
 */
export interface ReferSubscription {
  /**
   * Reports the newest status of that call; a status of 200 or more is the last. It still reaches a far end that has
   * hung up (RFC 5057 §4). Does nothing if the far end wants no reports (RFC 4488).
   */
  notify(status: number, reason?: string): void
  /** Resolves when no more reports are sent. */
  readonly done: Promise<void>
}

/** A REFER sent by this side. */
export interface ReferWish {
  /** A URI or an address. */
  readonly referTo: string
  /** For an attended transfer: the dialog at `referTo` that the far end's new call replaces. */
  readonly replaces?: ReplacesId
  /** A URI or an address. */
  readonly referredBy?: string
  readonly headers?: readonly HeaderField[]
  /** Called for each NOTIFY, also after the end of the dialog. */
  readonly notified?: (report: ReferReport) => void
}

export interface ReferReport {
  /** The status of the call that the far end makes; undefined if a NOTIFY has none. */
  readonly status?: number
  readonly reason?: string
  /** No other report follows: the call has its final status, or the subscription has ended. */
  readonly isLast: boolean
}

/** Optional services of the owner; Allow and Supported name them only if they are enabled (RFC 3261 §20.5, §20.37). */
export interface Serves {
  /** REFER within a dialog: RFC 3515. */
  readonly referrals?: boolean
  /** INVITE with Replaces: RFC 3891. */
  readonly replaces?: boolean
  /**
   * MESSAGE within a dialog, as its listener decides: RFC 3428 §4. Most calls do not accept it, so Allow does not name
   * it.
   */
  readonly messages?: boolean
  /** Recording sessions: an INVITE may require `siprec`, which is not named in Supported (RFC 7866 §11.1). */
  readonly recordings?: boolean
}
