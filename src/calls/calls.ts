// The public interface of the call engine, as the API uses it. `createCalls` in create-calls.ts makes one.
import type { ThreadTime } from '../lib/bounds/thread-time.ts'
import type { IncomingInvite, Owed, WireEvent } from '../sip/sip.ts'
import type { JournalEvent } from './journal/journal.ts'
import type { LiveCall } from './journal/live-call.ts'
import type { CallRequest } from './call-request.ts'
import type { AskedCommands, ReadCommands, ReadOrder } from './script/command.ts'
import type { CommandReply } from './session/session.ts'
import type { DryQuestion, DryRun } from './dry-run/dry-question.ts'
import type { LiveConference } from './rooms/live-conference.ts'
import type { Alerts } from '../contracts/alert.ts'
import type { OutdialUsageStore } from '../contracts/outdial-usage.ts'
import type { DefenceLimit } from './defence-settings.ts'
import type { ArrivalNeeds } from './arrivals/needs.ts'

export { noScript } from './application/no-script.ts'
export { parseProxyUri, parseTargetUri } from './outbound/target-uri.ts'
export type { HookForm } from './verb/hook-form.ts'
export type { CallRequest, CallWishes } from './call-request.ts'
export { toMachineDetection, usualDetection } from './verb/machine-detection.ts'
export type { MachineDetection } from './verb/machine-detection.ts'
export type { RecognizerForm } from './verb/recognition.ts'
export type { DryQuestion, DryRun } from './dry-run/dry-question.ts'
export type { LiveCall } from './journal/live-call.ts'
export type { LiveConference } from './rooms/live-conference.ts'
export type { Credentials, Target, TargetOf } from './verb/target.ts'

/** A call that has been checked and can be made. */
export interface PreparedCall extends Pick<LiveCall, 'call_sid' | 'call_id'> {
  /** Makes the call. Resolves when its INVITE is sent, or the call has failed before that. Must be called only once. */
  readonly begin: () => Promise<void>
}

export interface Calls {
  readonly name: string
  start(): Promise<void>
  stop(): Promise<void>
  /** Returns the calls of the account that have not ended, oldest first. */
  list(account_sid: string): LiveCall[]
  /** Returns the same for all accounts of a service provider. */
  listOfProvider(service_provider_sid: string): LiveCall[]
  /** Returns a live call, or one that ended within the last hour. */
  find(account_sid: string, call_sid: string): LiveCall | undefined
  count(account_sid: string): { inbound: number; outbound: number }
  /** Returns how much of each limit of its CallDefence the account uses. */
  outboundUsage(account_sid: string): Readonly<Record<DefenceLimit, number>>
  /** Returns the queues of the account in which callers wait, by name. */
  queues(account_sid: string): readonly { readonly name: string; readonly length: number }[]
  /** Returns the account's conferences that have members, or calls that wait for them to begin; oldest first. */
  conferences(account_sid: string): LiveConference[]
  /** Returns the journal of a live call. Journals of ended calls are in storage. */
  journal(account_sid: string, call_sid: string): readonly JournalEvent[] | undefined
  /**
   * Prepares a call. Later failures are reported by its status hook and its record. Throws AppError when the request
   * cannot be served as it is.
   */
  prepare(request: CallRequest): Promise<PreparedCall>
  /** Returns what a call of the account would do now. Sends and counts nothing, and calls no hook. */
  dryRun(account_sid: string, question: DryQuestion): Promise<DryRun>
  /** Hangs up. Resolves when the call has ended, with false when there is no such live call. */
  hangUp(account_sid: string, call_sid: string): Promise<boolean>
  /**
   * Begins the commands on a live call. Resolves with undefined when there is no such call. Throws AppError call_state,
   * overloaded or bad_request, and then nothing has changed.
   */
  command(account_sid: string, call_sid: string, asked: AskedCommands): Promise<CommandReply | undefined>
  /** Refuses new calls with 503 and resolves when the last running call has ended. */
  drain(): Promise<void>
  /** Hangs up every call and resolves when their records are written. */
  hangUpAll(reason: string): Promise<void>
  readonly liveCount: number
}

/** The functions that the SIP stack calls. */
export interface CallHandlers {
  invited(invite: IncomingInvite): void
  refused(invite: IncomingInvite, owed: Owed): void
  wire(event: WireEvent): void
}

/** The needs that the engine itself makes, for all of its calls. */
type OwnNeeds =
  | 'registry'
  | 'tap'
  | 'admission'
  | 'pace'
  | 'guard'
  | 'queues'
  | 'conferences'
  | 'heardPaces'
  | 'logStranger'
  | 'logLost'
  | 'order'
  | 'unserved'
  | 'node'

export interface EngineNeeds extends Omit<ArrivalNeeds, OwnNeeds> {
  readonly commands: ReadCommands
  readonly orders: ReadOrder
}

export interface CallsOptions extends Omit<EngineNeeds, 'alerts' | 'maxCallMs' | 'ringingMs' | 'pool'> {
  /** The address that the operator named: `fs_public_ip` in hooks. */
  readonly publicAddress: string | undefined
  /** The base of the REST API, undefined until it listens: `service_url` and `api_base_url` in hooks. */
  readonly apiBaseUrl?: () => string | undefined
  /** The receiver of alerts, if there is one. */
  readonly alerts?: Alerts
  /** Stores how much each account calls. */
  readonly usage?: OutdialUsageStore
  /** The most calls at one time. Further ones are refused with 503. */
  readonly maxCalls?: number
  /** The most calls that can have media at one time. */
  readonly maxMedia?: number
  /** The share of the calls that one account may have while no other account has any, in percent. */
  readonly sharePercent?: number
  /** Returns the share of time that the main thread has worked since the last call of this function, from 0 to 1. */
  readonly mainThreadLoad?: () => number
  /** The time of the main thread that answers and messages of applications take. */
  readonly threadTime?: ThreadTime
  /** The longest time that an answered call may last. After it the call is hung up. */
  readonly maxCallMs?: number
  /** Used for accounts that do not choose their own value; 0: callers never hear ringing. */
  readonly ringingMs?: number
}
