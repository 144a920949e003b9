// The public face of the call engine: what the API sees of it. `createCalls` in engine.ts makes one.
import type { CallStatus } from './journal/call-status.ts'
import type { CallCommand } from './application/call-command.ts'
import type { JournalEvent } from './journal/journal.ts'
import type { CallRequest } from './outbound/call-order.ts'

/** The live-call record (spec "Call (live call)"), plus what clients of this API are used to (rest.md §5.5). */
export interface LiveCall {
  readonly account_sid: string
  readonly service_provider_sid: string
  readonly application_sid?: string
  readonly call_id: string
  readonly call_sid: string
  readonly call_status: CallStatus
  readonly direction: 'inbound' | 'outbound'
  readonly from: string
  readonly to: string
  readonly caller_name: string
  readonly service_url: string
  readonly sip_status: number
  readonly sip_reason: string
  readonly duration?: number
  readonly originating_sip_ip?: string
  readonly originating_sip_trunk_name?: string
  readonly parent_call_sid?: string
  readonly trace_id: string
  readonly local_sip_address: string
}

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
  /** The journal of a live call; those of ended ones are in storage. */
  journal(account_sid: string, call_sid: string): readonly JournalEvent[] | undefined
  /**
   * Readies a call: what becomes of it once it has begun is for its status hook and its record. Throws AppError when the
   * request cannot be served as it is.
   */
  prepare(request: CallRequest): Promise<PreparedCall>
  /** Hangs up; resolves when the call has ended. False when there is no such live call. */
  hangUp(account_sid: string, call_sid: string): Promise<boolean>
  /** Begins what is asked of a live call; false when there is no such one. Throws AppError call_state. */
  command(account_sid: string, call_sid: string, asked: CallCommand): boolean
  /** Refuses new calls with 503 and resolves when the last running call has ended. */
  drain(): Promise<void>
  /** Hangs up every call and resolves when their records are written. */
  hangUpAll(reason: string): Promise<void>
  readonly liveCount: number
}
