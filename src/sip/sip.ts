// The public interface of the SIP stack, for a call engine. `createSip` in create-sip.ts makes one.
import type { Clock } from '../lib/clock.ts'
import type { Logger } from '../lib/log.ts'
import type { ResolvedAddress } from '../network/names.ts'
import type { DigestAlgorithm } from './auth/digest.ts'
import type { Authentication, SipDirectory } from './auth/directory.ts'
import type { IncomingInvite, OutgoingInvite, OutgoingInviteOptions } from './invites.ts'
import type { HeaderField, SipRequest } from './message/message.ts'
import type { LeftDialog, Serves } from './dialogs.ts'
import type { OutsideOutcome, OutsideRequest } from './outside-request.ts'
import type { Owed } from './message/reply.ts'
import type { Resolved, UriResolverOptions } from './transport/resolve.ts'
import type { Timers } from './timers.ts'
import type { Binding, BindingArchive, BindingStore } from './registrar/binding-store.ts'
import type { InvitePace } from './transport/sources.ts'
import type { WebSocketOptions } from './transport/api-web-sockets.ts'
import type { SecureTransports } from './transport/tls.ts'
import type { HostPort, Listening, Peer, Remote } from './transport/transports.ts'
import type { WireEvent } from './transport/wire-event.ts'

export type { Binding, BindingArchive, BindingStore } from './registrar/binding-store.ts'
export type {
  Dialog,
  DialogFailure,
  DialogListener,
  EarlyListener,
  LeftDialog,
  OfferWish,
  Serves,
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
export type { Owed, Reply } from './message/reply.ts'
export type {
  Authentication,
  DigestQuestion,
  Judge,
  JudgedUser,
  Judgement,
  RealmState,
  SipDirectory,
  SipUser,
} from './auth/directory.ts'
export type { Resolved } from './transport/resolve.ts'
export type { HostPort, Peer, Remote } from './transport/transports.ts'
export type { WireEvent } from './transport/wire-event.ts'

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
  /**
   * For a second, INVITEs of this caller are read at this rate. Others get no response over UDP, whose far end sends them
   * again, and 503 over other transports. The caller is the owner, where no other has a gateway at the source; without a
   * gateway, it is each phone that calls from there to the same host.
   */
  slow(invite: Pick<IncomingInvite, 'raw' | 'remote'>, to: InvitePace): void
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
