// The stored data of a call, and the store that keeps them.
import type { Hook } from './hook.ts'
import type { StoredEvent } from './journal.ts'
import type { IdentityFinding } from './number-trust.ts'
import type { RecordingChange } from './recording.ts'

/** One place that an outbound leg was sent to, and the result. An alias, since the journal has it as a plain record. */
export type CallAttempt = {
  /** A carrier's name, `user` or `sipUri`. */
  readonly trunk: string
  /** The gateway, the phone or the URI. */
  readonly place: string
  readonly sip_gateway_sid?: string
  /** Absent if no request could be sent. */
  readonly remote_host?: string
  /** `withdrawn`: the leg ended before the place had responded. */
  readonly outcome: 'answered' | 'refused' | 'silent' | 'unreachable' | 'withdrawn'
  /** The status line of the final response, or the failure. */
  readonly cause: string
  readonly sip_status?: number
  /**
   * The time from the INVITE until it rang, or until its final response. Absent for a place that was withdrawn before
   * it rang.
   */
  readonly post_dial_delay_ms?: number
}

/** The reason why the platform refused, gave up or ended a call. The code is one of the catalogue of errors. */
export type CallFailure = { readonly code: string; readonly sentence: string; readonly cure: string }

/**
 * The record of a leg that has ended, with the names of the API. Times are in epoch ms, the duration in whole seconds.
 */
export interface RecentCall {
  readonly account_sid: string
  readonly service_provider_sid: string
  readonly application_sid: string | null
  readonly call_sid: string
  readonly sip_call_id: string
  readonly sip_parent_call_id: string | null
  /** Set for a leg that a call has dialled. */
  readonly parent_call_sid: string | null
  readonly from: string
  readonly to: string
  readonly direction: 'inbound' | 'outbound'
  readonly answered: boolean
  readonly sip_status: number
  readonly duration: number
  readonly attempted_at: number
  readonly answered_at: number | null
  readonly terminated_at: number
  readonly termination_reason: string
  readonly host: string
  readonly remote_host: string
  readonly trunk: string
  readonly trace_id: string
  /** A path below the API; null for a call that was not recorded. */
  readonly recording_url: string | null
  /** The attempts in the order in which they ended, or null for a leg that was sent nowhere. */
  readonly attempts: readonly CallAttempt[] | null
  /** The result of checking the Identity header of an inbound call, or null if it has none. */
  readonly stir_shaken: IdentityFinding | null
  /** Null if the far end or the application ended the call. */
  readonly failure: CallFailure | null
  /** Why an answered call had no sound in one direction, or null. Such a call continues. */
  readonly media_failure: CallFailure | null
}

/** Written to the outbox in the transaction of its event, and delivered in order per call and URL. */
export interface Notification {
  readonly account_sid: string
  readonly call_sid: string
  readonly hook: Hook
  readonly payload: object
}

/** All changes of one step of a call, committed in one transaction. */
export interface CallBatch<E extends StoredEvent = StoredEvent> {
  readonly call_sid: string
  readonly account_sid: string
  readonly events: readonly E[]
  readonly notifications: readonly Notification[]
  /** The changes of its recording, in this order. */
  readonly recordings?: readonly RecordingChange[]
  /**
   * Facts that follow after the end of the call, from code that does not have its journal. Storage numbers these
   * events.
   */
  readonly later?: readonly LaterFact[]
  /** The dialog in the form that another node needs to hang up, as JSON. It is kept while the call is open. */
  readonly dialog?: string
  /** Closes the leg. A second record for the same call_sid is ignored: exactly one per leg. */
  readonly record?: RecentCall
  /** Closes a leg that gets no record: its account has call records disabled. Later batches may still add events. */
  readonly ended?: true
}

export interface LaterFact {
  readonly at: number
  readonly type: string
  readonly [fact: string]: unknown
}

export interface UnfinishedCall {
  readonly call_sid: string
  readonly account_sid: string
  readonly events: readonly StoredEvent[]
  /** The last `dialog` of its batches. Absent for a call that was not answered. */
  readonly dialog?: string
  /** The last sign of life of the node that carried the call, by the clock of its events. Absent if none is known. */
  readonly alive_at?: number
}

/** `R` is the shape of a refusal. */
export interface CallStore<E extends StoredEvent = StoredEvent, R extends Error = Error> {
  /** Accepts the batch immediately. `now` is committed before the next turn of the event loop, `soon` within 200 ms. */
  write(batch: CallBatch<E>, urgency: 'now' | 'soon'): void
  /** Returns why a new call could get no record now, or undefined. A call is neither begun nor answered then. */
  refusal(): R | undefined
  /** Resolves when everything written so far is committed. */
  flush(): Promise<void>
  /**
   * Takes over some calls that a dead node has left open, so that no other node does. To be called until it returns
   * none.
   */
  adopt(): Promise<readonly UnfinishedCall[]>
  watch(listener: CallStoreListener): void
}

export interface CallStoreListener {
  /** Called when there may be calls to adopt. */
  abandoned(): void
  /**
   * Called when this node has not reached the shared database for a minute. Other nodes may have closed its calls, and
   * what they cost is counted nowhere.
   */
  cutOff?(): void
  /** Called when other nodes have closed calls of this node as dead. Nothing more is written about them. */
  lost(calls: readonly string[]): void
}
