// The public face of the SIP stack: what a call engine sees of it. `createSip` in create-sip.ts makes one.
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

/** A message that crossed the wire, for those who keep a record. `raw` is the exact bytes. */
export interface WireEvent {
  readonly direction: 'received' | 'sent'
  readonly callId: string
  readonly message: SipMessage
  readonly raw: Uint8Array
  readonly remote: Remote
}

/** An INVITE outside a dialog that waits for its final answer (UAS side, RFC 3261 §13.3). 100 Trying goes out by itself. */
export interface IncomingInvite {
  readonly request: SipRequest
  readonly raw: Uint8Array
  readonly remote: Remote
  readonly callId: string
  /**
   * What it takes the place of, where `SipOptions.serves` says so. The stack proves nothing of the right to do so (RFC 3891 §5) and
   * ends nothing: the owner accepts this INVITE, then sends BYE to that dialog or CANCEL to that INVITE.
   */
  readonly replaces?: Replaced | undefined
  /** It has no offer, and its caller takes one before the answer: RFC 3262 §5. */
  readonly takesEarlyOffer: boolean
  /**
   * Whether requests within the dialog may go to a place, where the caller's Contact or Record-Route leads away from
   * where the INVITE came from; to any until this is called. What may not be reached is sent to that source instead.
   */
  restrict(mayReach: (place: Remote) => boolean): void
  /** From now on requests within the dialog, its ACK and its CANCEL are taken from the user alone. */
  holdTo(user: DialogUser): void
  /** From now on our Contact has this host, by which the far end knows us; or this feature tag (RFC 3840 §9). */
  nameContact(host: string): void
  tagContact(feature: string): void
  /** Who takes what the caller offers and answers before the call is answered. */
  listen(listener: EarlyListener): void
  /**
   * A provisional response 101..199; with a body it is early media. To an INVITE without an offer the body is one: it goes out
   * once where `takesEarlyOffer` says so, its answer comes to the listener, and that of `accept` is left out.
   */
  progress(reply: Reply): void
  /** The final refusal 300..699. Does nothing once a final response went out. */
  reject(reply: Reply): void
  /**
   * Sends 200 and resends it until the ACK (RFC 3261 §13.3.1.4). The dialog exists at once, before the ACK. After a
   * CANCEL it is one that is over already: its requests are answered 481, its BYE does nothing.
   */
  accept(reply: Omit<Reply, 'status'>): Dialog
  /**
   * Called once when the caller gave up before a final response: a CANCEL, a BYE within the early dialog, or (with the
   * INVITE itself) a transaction that its client has given up. The stack has sent 487; or `unconfirmed`, for want of a PRACK.
   */
  onCancel(listener: CancelListener): void
}

export type CancelListener = (cancel: SipRequest, unconfirmed?: Reply) => void

/** Whose dialog it is: what comes from another address than the phone signals from must prove to be this user's. */
export interface DialogUser extends Pick<SipUser, 'username' | 'realm'> {
  /** Where it signals from, where that is known beforehand. */
  readonly place?: string | undefined
  /** Whether a proxy of the operator is there: what it sends is believed. */
  readonly isTrusted: (address: string) => boolean
  /** Something that the record of the call should say of a sender from elsewhere. A few times at most. */
  readonly noted: (sentence: string) => void
}

/** What an INVITE with Replaces takes the place of: a dialog that is up, or an INVITE of this side that still rings (RFC 3891 §3). */
export type Replaced =
  | {
      readonly kind: 'confirmed'
      readonly dialog: Dialog
      /** It was not to be answered yet: to be refused with 486 by whose call it is, and with 481 by all others. */
      readonly isEarlyOnly?: boolean
    }
  | { readonly kind: 'ringing'; readonly invite: OutgoingInvite }

export interface OutgoingInviteOptions {
  /** Request-URI. */
  readonly uri: string
  /** A fresh one when left out. Tries of one call at several places share theirs (RFC 3261 §8.1.3.4). */
  readonly callId?: string
  /** The user part of our Contact; none when left out. */
  readonly contactUser?: string
  /** The host of our Contact, for a far end that knows us by a name of its own, which the certificate that it is shown has; our usual one when left out. */
  readonly contactHost?: string
  readonly from: string
  readonly to: string
  readonly headers?: readonly HeaderField[]
  /** How many more places may pass it on: RFC 3261 §20.22. 70 when left out. */
  readonly maxForwards?: number
  /** Refused as a loop by every node of this platform that it reaches straight. */
  readonly mustLeave?: boolean
  readonly body?: Reply['body']
  /** Pre-loaded Route set; the first one is where the request is sent. */
  readonly routes?: readonly string[]
  /** Overrides the destination that URI and routes give, e.g. the source address of a registration. */
  readonly destination?: Remote
  /** Whether Contact or Record-Route may lead there (any when left out): if not, requests of the dialog go to the destination. */
  readonly mayReach?: (place: Remote) => boolean
  /** Takes a 200 without a tag in To, as peers of RFC 2543 send it (RFC 3261 §12.1.2); left out, where there is no `mayReach`. */
  readonly takesUntagged?: boolean
  /** Requests within the dialog are taken from this user alone; from anywhere when left out. */
  readonly user?: DialogUser
  readonly credentials?: { readonly username: string; readonly password: string }
  /** Called when the far end has said anything: 100, a challenge, and all that follows. */
  readonly onHeard?: () => void
  /** Of those that are sent reliably (RFC 3262) each once, and in their order. */
  readonly onProvisional?: (response: SipResponse) => void
  readonly early?: EarlyListener
}

export type InviteOutcome =
  | { readonly kind: 'answered'; readonly response: SipResponse; readonly dialog: Dialog }
  | {
      readonly kind: 'refused'
      readonly response: SipResponse
      /** Where a 3xx sends the caller, the best first (RFC 3261 §8.1.3.4); the stack follows none of them. */
      readonly redirects?: readonly RedirectTarget[]
    }

/** An INVITE we sent (UAC side, RFC 3261 §13.2). The ACK for a 200 is sent by the stack. */
export interface OutgoingInvite {
  readonly callId: string
  readonly outcome: Promise<InviteOutcome>
  /**
   * Sends CANCEL when a provisional response came, waits for one otherwise (RFC 3261 §9.1). The outcome is then always
   * `refused`, with 487: should a 200 cross the CANCEL, the stack sends ACK and BYE.
   */
  cancel(headers?: readonly HeaderField[]): void
}

/** The verdict of digest authentication (RFC 3261 §22) on an out-of-dialog request. */
export type Authentication =
  | {
      readonly verdict: 'accepted'
      readonly user: SipUser
      /** What was unusual about it and is worth keeping with the call. */
      readonly note?: string
    }
  | { readonly verdict: 'challenge'; readonly reply: Reply }
  | {
      readonly verdict: 'refused'
      readonly reply: Reply
      readonly code: ErrorCode
      /** False where strangers could have records written without end. */
      readonly isWorthRecord: boolean
    }

export interface HostPort {
  readonly host: string
  readonly port: number
}

/** A far end, as far as our address depends on it: each transport may have a port of its own. */
export type Peer = Pick<Remote, 'address'> & Partial<Pick<Remote, 'transport'>>

export interface Sip {
  readonly name: string
  start(): Promise<void>
  stop(): Promise<void>
  /** Where it listens, known after start (port 0 in the settings = any free port). */
  readonly listening: Listening
  /** Where this peer, or one that is not known yet, reaches us: never the wildcard. Known after start. */
  addressFor(remote?: Peer): HostPort
  /** From now on OPTIONS gets 503, so that a dispatcher sends no more calls here. */
  drain(): void
  authenticate(request: SipRequest, remote: Remote): Promise<Authentication>
  /** Throws AppError bad_request when `from`, `to`, `uri` or `routes` are no addresses. */
  invite(options: OutgoingInviteOptions): OutgoingInvite
  /** Sends REGISTER or OPTIONS, meets a challenge, and resolves with the final response; 408 or 503 made here where none comes. */
  request(asked: OutsideRequest): Promise<OutsideOutcome>
  /** Where a request to this URI goes: RFC 3263. Rejects with AppError sip_unreachable. */
  resolve(uri: string): Promise<Resolved>
  /** This place said nothing, or had no room: for a minute `resolve` names it behind the others of the same URI. */
  rest(remote: Remote): void
  /**
   * Opens the connection that a request to `remote` will go by, so that the reason is known where it cannot stand. Rejects
   * with AppError sip_unreachable or sip_certificate. Does nothing for UDP.
   */
  open(remote: Remote): Promise<void>
  readonly bindings: BindingStore
  /** Whether a user of the realm has proved itself from this address within three days. */
  hasUserAt(realm: string, address: string): boolean
  /**
   * Where the INVITE for a registered phone goes: the flow it registered over or, once that is gone, its Contact, where
   * `mayReach` lets it lead. Rejects with AppError sip_unreachable when neither leads to it; it is unregistered then.
   */
  reach(binding: Binding, mayReach: (place: Remote) => boolean): Promise<Remote>
}

/** What an INVITE is refused with, independently of its sender. */
export interface Owed {
  readonly code: ErrorCode
  readonly reply: Reply
}

export interface SipHandlers {
  /** Every INVITE outside a dialog. Must not throw. */
  invited(invite: IncomingInvite): void
  /**
   * An INVITE that is well formed and asks for what is not served: to be rejected so, once it is known whose call it is,
   * or at once. Left out, the stack rejects it. Must not throw.
   */
  refused?(invite: IncomingInvite, owed: Owed): void
  /** Every message in either direction, retransmissions included. */
  wire?(event: WireEvent): void
}

/** What the owner serves beyond calls that come and go; Allow and Supported name it only then (RFC 3261 §20.5, §20.37). */
export interface Serves {
  /** REFER within a dialog: RFC 3515. */
  readonly referrals?: boolean
  /** INVITE with Replaces: RFC 3891. */
  readonly replaces?: boolean
  /** MESSAGE within a dialog, as its listener says: RFC 3428 §4. Some take it and most do not, so Allow does not name it. */
  readonly messages?: boolean
  /** Recording sessions: an INVITE may require `siprec`, which no Supported names (RFC 7866 §11.1). */
  readonly recordings?: boolean
}

export interface SecureOptions extends SecureTransports {
  /** The name in our certificates, which Contact and Via say over secure transports; left out, our address. */
  readonly name?: string | undefined
}

export interface SipOptions {
  /** The address to bind; 0.0.0.0 or :: for every one. */
  readonly bind: string
  /** The port of UDP and TCP; 0 for any free one. */
  readonly port: number
  /** TLS, and WebSockets over it; left out, neither is served. */
  readonly secure?: SecureOptions | undefined
  readonly webSockets?: WebSocketOptions | undefined
  /** Written into Contact and Via, when peers see us under another address than the bound one. */
  readonly publicAddress?: string | undefined
  readonly directory: SipDirectory
  readonly handlers: SipHandlers
  readonly clock: Clock
  readonly log: Logger
  /** Numbers from 0 up to 1 for what the RFCs leave to chance: how long to back off. Left out, Math.random. */
  readonly random?: () => number
  readonly serves?: Serves
  /** A MAC that all nodes of the platform make alike; left out, they do not know each other's INVITEs. */
  readonly seal?: (text: string) => string
  /** Server and User-Agent. */
  readonly userAgent: string
  readonly digestAlgorithms?: readonly DigestAlgorithm[]
  readonly timers?: Timers
  /** Name resolution; by default that of the machine. */
  readonly lookup?: (host: string) => Promise<readonly ResolvedAddress[]>
  /** Records of services (RFC 3263); left out, hosts are looked up by their addresses alone. */
  readonly names?: UriResolverOptions['names']
  /** Proxies of our own: their responses are believed wherever a request went. Left out, there are none. */
  readonly isProxy?: (address: string) => boolean
  /** Left out, bindings end with the process. */
  readonly bindingArchive?: BindingArchive
}
