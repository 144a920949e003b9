// The public interface of the SIP stack, for a call engine. `createSip` in create-sip.ts makes one.
import type { Clock } from '../lib/clock.ts'
import type { ErrorCode } from '../lib/errors.ts'
import type { Logger } from '../lib/log.ts'
import type { ResolvedAddress } from '../network/names.ts'
import type { DigestAlgorithm } from './digest.ts'
import type { SipDirectory, SipUser } from './directory.ts'
import type { IncomingInvite, OutgoingInvite, OutgoingInviteOptions } from './invites.ts'
import type { SipMessage, SipRequest } from './message/message.ts'
import type { HeaderField } from './message/message.ts'
import type { LeftDialog } from './dialogs.ts'
import type { OutsideOutcome, OutsideRequest } from './outside-request.ts'
import type { Reply } from './reply.ts'
import type { Resolved, UriResolverOptions } from './resolve.ts'
import type { Timers } from './timers.ts'
import type { Binding, BindingArchive, BindingStore } from './registrar/binding-store.ts'
import type { WebSocketOptions } from './transport/api-web-sockets.ts'
import type { SecureTransports } from './transport/tls.ts'
import type { Listening, Remote } from './transport/transports.ts'

export type { Binding, BindingArchive, BindingStore } from './registrar/binding-store.ts'
export type {
  Dialog,
  DialogFailure,
  DialogListener,
  EarlyListener,
  LeftDialog,
  OfferWish,
} from './dialogs.ts'
export type { IncomingReferral, ReferReport, ReferSubscription, ReferWish, ReplacesId } from './dialogs.ts'
export type {
  CancelListener,
  DialogUser,
  IncomingInvite,
  InviteOutcome,
  OutgoingInvite,
  OutgoingInviteOptions,
  Replaced,
} from './invites.ts'
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
  /** Sends a BYE in a dialog whose process has ended. Resolves with the status of the response, or 408 or 503. */
  byeIn(left: LeftDialog, headers: readonly HeaderField[]): Promise<number>
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
   * its Contact, if `mayReach` allows every place that it names. Rejects with AppError sip_unreachable when neither
   * leads to it; the phone is then unregistered.
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
