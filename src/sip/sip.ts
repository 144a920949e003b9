// The public interface of the SIP stack, for a call engine. `createSip` in create-sip.ts makes one.
import type { Clock } from '../lib/clock.ts'
import type { ErrorCode } from '../lib/errors.ts'
import type { Logger } from '../lib/log.ts'
import type { ResolvedAddress } from '../network/names.ts'
import type { Dialog, EarlyListener } from './dialogs.ts'
import type { DigestAlgorithm } from './digest.ts'
import type { SipDirectory, SipUser } from './directory.ts'
import type { HeaderField, SipMessage, SipRequest, SipResponse } from './message/message.ts'
import type { RedirectTarget } from './message/redirect.ts'
import type { OutsideOutcome, OutsideRequest } from './outside-request.ts'
import type { Reply } from './reply.ts'
import type { Resolved, UriResolverOptions } from './resolve.ts'
import type { Timers } from './timers.ts'
import type { Binding, BindingArchive, BindingStore } from './registrar/binding-store.ts'
import type { WebSocketOptions } from './transport/api-web-sockets.ts'
import type { SecureTransports } from './transport/tls.ts'
import type { Listening, Remote } from './transport/transports.ts'

export type { Binding, BindingArchive, BindingStore } from './registrar/binding-store.ts'
export type { Dialog, DialogFailure, DialogListener, EarlyListener, OfferWish } from './dialogs.ts'
export type { IncomingReferral, ReferReport, ReferSubscription, ReferWish, ReplacesId } from './dialogs.ts'
export type { RedirectTarget } from './message/redirect.ts'
export type { OutsideOutcome, OutsideRequest } from './outside-request.ts'
export type { Reply } from './reply.ts'
export type {
  DigestQuestion,
  Judge,
  JudgedUser,
  Judgement,
  RealmState,
  SipDirectory,
  SipUser,
} from './directory.ts'
export type { Resolved } from './resolve.ts'
export type { Remote } from './transport/transports.ts'

/** A message that was sent or received, for those who keep a record. `raw` is its exact bytes. */
export interface WireEvent {
  readonly direction: 'received' | 'sent'
  readonly callId: string
  readonly message: SipMessage
  readonly raw: Uint8Array
  readonly remote: Remote
}

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
  readonly from: string
  readonly to: string
  readonly headers?: readonly HeaderField[]
  /** The most further hops: RFC 3261 §20.22. 70 when left out. */
  readonly maxForwards?: number
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
  /**
   * Sends CANCEL once a provisional response has arrived (RFC 3261 §9.1). The outcome is then always `refused`, with
   * 487: should a 200 cross the CANCEL, the stack sends ACK and BYE.
   */
  cancel(headers?: readonly HeaderField[]): void
}

/** The verdict of digest authentication (RFC 3261 §22) on an out-of-dialog request. */
export type Authentication =
  | {
      readonly verdict: 'accepted'
      readonly user: SipUser
      /** Something unusual about the credentials that is worth keeping with the call. */
      readonly note?: string
    }
  | { readonly verdict: 'challenge'; readonly reply: Reply }
  | {
      readonly verdict: 'refused'
      readonly reply: Reply
      readonly code: ErrorCode
      /** False if strangers could cause records without limit. */
      readonly isWorthRecord: boolean
    }

export interface HostPort {
  readonly host: string
  readonly port: number
}

/** A far end, as far as our address depends on it: each transport may have its own port. */
export type Peer = Pick<Remote, 'address'> & Partial<Pick<Remote, 'transport'>>

export interface Sip {
  readonly name: string
  start(): Promise<void>
  stop(): Promise<void>
  /** The addresses it listens on, known after start (port 0 in the settings = any free port). */
  readonly listening: Listening
  /** Returns the address where this peer, or an unknown one, reaches us; never the wildcard. Known after start. */
  addressFor(remote?: Peer): HostPort
  /** From now on OPTIONS gets 503, so that a dispatcher sends no more calls here. */
  drain(): void
  authenticate(request: SipRequest, remote: Remote): Promise<Authentication>
  /** Throws AppError bad_request when `from`, `to`, `uri` or one of `routes` is not an address. */
  invite(options: OutgoingInviteOptions): OutgoingInvite
  /**
   * Sends REGISTER or OPTIONS, answers a challenge, and resolves with the final response, or with a 408 or 503 made
   * here if none arrives.
   */
  request(asked: OutsideRequest): Promise<OutsideOutcome>
  /** Resolves the destination of a request to this URI: RFC 3263. Rejects with AppError sip_unreachable. */
  resolve(uri: string): Promise<Resolved>
  /**
   * Notes that this place did not respond or had no room: for a minute `resolve` sorts it behind the others of the
   * same URI.
   */
  rest(remote: Remote): void
  /**
   * Opens the connection that a request to `remote` will use, so that the reason is known if it cannot be opened.
   * Rejects with AppError sip_unreachable or sip_certificate. Does nothing for UDP.
   */
  open(remote: Remote): Promise<void>
  readonly bindings: BindingStore
  /** Reports whether a user of the realm has proved itself from this address within three days. */
  hasUserAt(realm: string, address: string): boolean
  /**
   * Returns the destination of an INVITE for a registered phone: the flow it registered over or, once that is gone,
   * its Contact, if `mayReach` allows every place that it names. Rejects with AppError sip_unreachable when neither leads to it; the phone
   * is then unregistered.
   */
  reach(binding: Binding, mayReach: (place: Remote) => boolean): Promise<Resolved>
}

/** The refusal of an INVITE, independent of its sender. */
export interface Owed {
  readonly code: ErrorCode
  readonly reply: Reply
}

export interface SipHandlers {
  /** Every INVITE outside a dialog. Must not throw. */
  invited(invite: IncomingInvite): void
  /**
   * A well-formed INVITE that requires something not served. The handler rejects it with `owed`, immediately or once
   * the account of the call is known. Left out, the stack rejects it. Must not throw.
   */
  refused?(invite: IncomingInvite, owed: Owed): void
  /** Called for every message in either direction, including retransmissions. */
  wire?(event: WireEvent): void
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

export interface SecureOptions extends SecureTransports {
  /** The name in our certificates, used in Contact and Via over secure transports; left out, our address. */
  readonly name?: string | undefined
}

export interface SipOptions {
  /** The address to bind; 0.0.0.0 or :: for all. */
  readonly bind: string
  /** The port of UDP and TCP; 0 for any free one. */
  readonly port: number
  /** TLS, and WebSockets over TLS; left out, neither is served. */
  readonly secure?: SecureOptions | undefined
  readonly webSockets?: WebSocketOptions | undefined
  /** The address in Contact and Via, if peers reach us at another address than the bound one. */
  readonly publicAddress?: string | undefined
  readonly directory: SipDirectory
  readonly handlers: SipHandlers
  readonly clock: Clock
  readonly log: Logger
  /** Random numbers from 0 up to 1, for the delays that the RFCs leave to chance. Left out, Math.random. */
  readonly random?: () => number
  readonly serves?: Serves
  /**
   * Returns a MAC that is the same on all nodes of the platform; left out, nodes do not recognize each other's INVITEs.
   */
  readonly seal?: (text: string) => string
  /** The value of Server and User-Agent. */
  readonly userAgent: string
  readonly digestAlgorithms?: readonly DigestAlgorithm[]
  readonly timers?: Timers
  /** Name resolution; by default that of the machine. */
  readonly lookup?: (host: string) => Promise<readonly ResolvedAddress[]>
  /** The lookup of DNS service records (RFC 3263); left out, hosts are looked up only by their addresses. */
  readonly names?: UriResolverOptions['names']
  /**
   * Reports whether our own proxy is there: its responses are accepted wherever a request went. Left out, there are
   * none.
   */
  readonly isProxy?: (address: string) => boolean
  /** Left out, bindings end with the process. */
  readonly bindingArchive?: BindingArchive
}
