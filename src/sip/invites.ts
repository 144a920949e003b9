// The public interface of INVITE outside a dialog, from both sides. Import it through sip.ts.
import type { Dialog, EarlyListener } from './dialogs.ts'
import type { SipUser } from './auth/directory.ts'
import type { HeaderField, SipRequest, SipResponse } from './message/message.ts'
import type { RedirectTarget } from './message/redirect.ts'
import type { Reply } from './message/reply.ts'
import type { Remote } from './transport/transports.ts'

/**
 * An INVITE outside a dialog that waits for its final response (UAS side, RFC 3261 §13.3). The stack sends 100 Trying
 * by itself.
 */
export interface IncomingInvite {
  readonly request: SipRequest
  readonly raw: Uint8Array
  readonly remote: Remote
  readonly callId: string
  /** The tag of the platform in its responses, and in all messages of its dialog. */
  readonly localTag: string
  /**
   * The dialog or INVITE that this one replaces, if `SipOptions.serves` enables it. The stack does not check the right
   * to do so (RFC 3891 §5) and ends nothing: the owner accepts this INVITE, then sends BYE to that dialog or CANCEL to
   * that INVITE.
   */
  readonly replaces?: Replaced | undefined
  /** The INVITE has no offer, and its caller accepts one before the answer: RFC 3262 §5. */
  readonly takesEarlyOffer: boolean
  /** How often the call has passed through this platform before, as far as the systems between show it. */
  readonly passages: number
  /**
   * Limits where requests within the dialog may go when the caller's Contact or Record-Route leads away from the
   * source of the INVITE. A request for any other place goes to that source. Until this is called, all are allowed.
   */
  restrict(mayReach: (place: Remote) => boolean): void
  /** From now on requests within the dialog, its ACK and its CANCEL are accepted only from this user. */
  holdTo(user: DialogUser): void
  /** Sets the host of our Contact, by which the far end knows us, or a feature tag in it (RFC 3840 §9), from now on. */
  nameContact(host: string): void
  tagContact(feature: string): void
  /** Sets the receiver of the caller's offers and answers before the call is answered. */
  listen(listener: EarlyListener): void
  /**
   * Sends a provisional response 101..199; with a body it is early media. If the INVITE has no offer, the body is one:
   * it is sent once, if `takesEarlyOffer` is true; its answer goes to the listener, and the body of `accept` is left
   * out.
   */
  progress(reply: Reply): void
  /** Refuses with 300..699. Does nothing once a final response was sent. */
  reject(reply: Reply): void
  /**
   * Sends 200 and resends it until the ACK (RFC 3261 §13.3.1.4). The dialog exists immediately, before the ACK. After
   * a CANCEL the dialog is already over: its requests resolve with 481 and its BYE does nothing.
   */
  accept(reply: Omit<Reply, 'status'>): Dialog
  /**
   * Called once when the caller gave up before a final response: a CANCEL, a BYE within the early dialog, or (with the
   * INVITE itself) a transaction that its client has given up. The stack has sent 487, or `unconfirmed` if a PRACK was
   * missing.
   */
  onCancel(listener: CancelListener): void
}

export type CancelListener = (cancel: SipRequest, unconfirmed?: Reply) => void

/** The user of a dialog: a request from another address than the phone signals from must prove to be this user's. */
export interface DialogUser extends Pick<SipUser, 'username' | 'realm'> {
  /** The place that the phone signals from, if it is known beforehand. */
  readonly place?: string | undefined
  /** Reports whether a proxy of the operator is at the address: its requests need no proof. */
  readonly isTrusted: (address: string) => boolean
  /** Called, a few times at most, with a sentence for the record of the call about a sender from elsewhere. */
  readonly noted: (sentence: string) => void
}

/**
 * The call that an INVITE with Replaces replaces: an established dialog, or an INVITE of this side that still rings
 * (RFC 3891 §3).
 */
export type Replaced =
  | {
      readonly kind: 'confirmed'
      readonly dialog: Dialog
      /**
       * The INVITE is early-only and the dialog is confirmed: its own call refuses it with 486, all others with 481.
       */
      readonly isEarlyOnly?: boolean
    }
  | { readonly kind: 'ringing'; readonly invite: OutgoingInvite }

export interface OutgoingInviteOptions {
  /** Request-URI. */
  readonly uri: string
  /** A fresh one when left out. Tries of one call at several places share one (RFC 3261 §8.1.3.4). */
  readonly callId?: string
  /** The user part of our Contact; none when left out. */
  readonly contactUser?: string
  /**
   * The host of our Contact, for a far end that knows us by another name, which is the one in the certificate that it
   * is shown; our usual host when left out.
   */
  readonly contactHost?: string
  /** A feature tag of our Contact in each message of the dialog (RFC 3840 §9): `+sip.src`. */
  readonly contactFeature?: string
  readonly from: string
  readonly to: string
  readonly headers?: readonly HeaderField[]
  /** The most further hops: RFC 3261 §20.22. 70 when left out. */
  readonly maxForwards?: number | undefined
  /** How often the call has passed through this platform, with this INVITE. The INVITE carries it; none if left out. */
  readonly passages?: number
  /** Every node of this platform that receives the INVITE directly refuses it as a loop. */
  readonly mustLeave?: boolean
  readonly body?: Reply['body']
  /** The pre-loaded route set; the request is sent to its first entry. */
  readonly routes?: readonly string[]
  /** Overrides the destination that the URI and routes give, e.g. with the source address of a registration. */
  readonly destination?: Remote
  /**
   * Reports whether Contact or Record-Route may lead there (any place when left out). If not, requests of the dialog
   * go to the destination.
   */
  readonly mayReach?: (place: Remote) => boolean
  /**
   * Accepts a 200 without a tag in To, as peers of RFC 2543 send it (RFC 3261 §12.1.2). Left out, one is accepted if
   * there is no `mayReach`.
   */
  readonly takesUntagged?: boolean
  /** Requests within the dialog are accepted only from this user; from anywhere when left out. */
  readonly user?: DialogUser
  readonly credentials?: { readonly username: string; readonly password: string }
  /** Called when the far end sends any response: 100, a challenge, and all later ones. */
  readonly onHeard?: () => void
  /** Called for each provisional response; for a reliable one (RFC 3262) once, in order. */
  readonly onProvisional?: (response: SipResponse) => void
  readonly early?: EarlyListener
}

export type InviteOutcome =
  | { readonly kind: 'answered'; readonly response: SipResponse; readonly dialog: Dialog }
  | {
      readonly kind: 'refused'
      readonly response: SipResponse
      /** The targets of a 3xx, the best first (RFC 3261 §8.1.3.4); the stack follows none of them. */
      readonly redirects?: readonly RedirectTarget[]
    }

/** An INVITE we sent (UAC side, RFC 3261 §13.2). The ACK for a 200 is sent by the stack. */
export interface OutgoingInvite {
  readonly callId: string
  readonly outcome: Promise<InviteOutcome>
  /** Whether an INVITE was handed to the network. It is not while a connection is opened, or if none can be. */
  readonly wasSent: boolean
  /**
   * Sends CANCEL once a provisional response has arrived (RFC 3261 §9.1). The outcome is then always `refused`, with
   * 487: should a 200 cross the CANCEL, the stack sends ACK and BYE.
   */
  cancel(headers?: readonly HeaderField[]): void
}
