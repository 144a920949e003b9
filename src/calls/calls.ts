// The public face of the call engine: what the API sees of it. `createCalls` in create-calls.ts makes one.
import type { IncomingInvite, Owed, WireEvent } from '../sip/sip.ts'
import type { JournalEvent } from './journal/journal.ts'
import type { LiveCall } from './journal/live-call.ts'
import type { CallRequest } from './call-request.ts'
import type { CallServices } from './call-services.ts'
import type { AskedCommands } from './command.ts'
import type { CommandReply } from './session/session.ts'
import type { DryQuestion, DryRun } from './dry-run/dry-question.ts'
import type { LiveConference } from './rooms/live-conference.ts'
import type { Alerts } from '../contracts/alert.ts'
import type { OutdialUsageStore } from '../contracts/outdial-usage.ts'
import type { DefenceLimit } from './defence/defence-settings.ts'

export type { CallRequest, CallWishes } from './call-request.ts'
export type { DryQuestion, DryRun } from './dry-run/dry-question.ts'
export type { LiveCall } from './journal/live-call.ts'
export type { LiveConference } from './rooms/live-conference.ts'
export type { Credentials, Target, TargetOf } from './outbound/target.ts'

/** A call that can be made, and is not yet. */
export interface PreparedCall extends Pick<LiveCall, 'call_sid' | 'call_id'> {
  /** Makes it: resolves when its INVITE is out, or when it has failed before. To be called once. */
  readonly begin: () => Promise<void>
}

export interface Calls {
  readonly name: string
  start(): Promise<void>
  stop(): Promise<void>
  /** Calls of the account that have not ended, oldest first. */
  list(account_sid: string): LiveCall[]
  /** The same, of all accounts of a service provider. */
  listOfProvider(service_provider_sid: string): LiveCall[]
  /** Also calls that ended within the last hour. */
  find(account_sid: string, call_sid: string): LiveCall | undefined
  count(account_sid: string): { inbound: number; outbound: number }
  /** How much of each limit of its CallDefence the account uses. */
  outboundUsage(account_sid: string): Readonly<Record<DefenceLimit, number>>
  /** The queues of the account in which callers wait, by name. */
  queues(account_sid: string): readonly { readonly name: string; readonly length: number }[]
  /** Those of the account that have members, or calls that wait for them to begin; oldest first. */
  conferences(account_sid: string): LiveConference[]
  /** The journal of a live call; those of ended ones are in storage. */
  journal(account_sid: string, call_sid: string): readonly JournalEvent[] | undefined
  /**
   * Readies a call: what becomes of it once it has begun is for its status hook and its record. Throws AppError when the
   * request cannot be served as it is.
   */
  prepare(request: CallRequest): Promise<PreparedCall>
  /** What would become of a call of the account now. Nothing is sent, asked or counted. */
  dryRun(account_sid: string, question: DryQuestion): Promise<DryRun>
  /** Hangs up; resolves when the call has ended. False when there is no such live call. */
  hangUp(account_sid: string, call_sid: string): Promise<boolean>
  /**
   * Begins what is asked of a live call; undefined when there is no such one. Throws AppError call_state, overloaded or
   * bad_request, and then nothing has changed.
   */
  command(account_sid: string, call_sid: string, asked: AskedCommands): Promise<CommandReply | undefined>
  /** Refuses new calls with 503 and resolves when the last running call has ended. */
  drain(): Promise<void>
  /** Hangs up every call and resolves when their records are written. */
  hangUpAll(reason: string): Promise<void>
  readonly liveCount: number
}

/** What the SIP stack calls. */
export interface CallHandlers {
  invited(invite: IncomingInvite): void
  refused(invite: IncomingInvite, owed: Owed): void
  wire(event: WireEvent): void
}

export interface CallsOptions extends Omit<CallServices, 'node' | 'maxCallMs' | 'ringingMs' | 'pool'> {
  /** The address that the operator named: `fs_public_ip` in hooks. */
  readonly publicAddress: string | undefined
  /** The base of the REST API, undefined until it listens: `service_url` and `api_base_url` in hooks. */
  readonly apiBaseUrl?: () => string | undefined
  /** Where alerts go, if they go anywhere. */
  readonly alerts?: Alerts
  /** Where it is kept how much accounts call. */
  readonly usage?: OutdialUsageStore
  /** More at one time are refused with 503. */
  readonly maxCalls?: number
  /** How many calls can have media at one time. */
  readonly maxMedia?: number
  /** The most of the calls that one account may have while no other has any, in percent. */
  readonly sharePercent?: number
  /** How much of its time the main thread has worked since it was asked last, from 0 to 1. */
  readonly mainThreadLoad?: () => number
  /** An answered call is hung up after this long. */
  readonly maxCallMs?: number
  /** For accounts that do not choose their own; 0: callers never hear ringing. */
  readonly ringingMs?: number
}
