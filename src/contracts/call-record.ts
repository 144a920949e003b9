// What is kept of a call, and the store that keeps it.
import type { Hook } from './hook.ts'
import type { StoredEvent } from './journal.ts'
import type { IdentityFinding } from './number-trust.ts'
import type { RecordingChange } from './recording.ts'

/** One place that an outbound leg was sent to, and what came of it. An alias: the journal has it as a plain record. */
export type CallAttempt = {
  /** A carrier's name, `user` or `sipUri`. */
  readonly trunk: string
  /** The gateway, the phone or the URI. */
  readonly place: string
  readonly sip_gateway_sid?: string
  /** Absent where no request could be sent. */
  readonly remote_host?: string
  /** `withdrawn`: the leg ended before the place had decided. */
  readonly outcome: 'answered' | 'refused' | 'silent' | 'unreachable' | 'withdrawn'
  /** The line of the final response, or what failed. */
  readonly cause: string
  readonly sip_status?: number
  /** From the INVITE until it rang, or its final response; absent for a place that was withdrawn before it rang. */
  readonly post_dial_delay_ms?: number
}

/** Why the platform refused a call, gave it up or ended it. The code is one of the catalogue of errors. */
export type CallFailure = { readonly code: string; readonly sentence: string; readonly cure: string }

/** The record of a leg that has ended, by the names of the API. Times in epoch ms, duration in whole seconds. */
export interface RecentCall {
  readonly account_sid: string
  readonly service_provider_sid: string
  readonly application_sid: string | null
  readonly call_sid: string
  readonly sip_call_id: string
  readonly sip_parent_call_id: string | null
  /** Of a leg that a call has dialled. */
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
  /** In the order in which they ended; null for a leg that was sent nowhere. */
  readonly attempts: readonly CallAttempt[] | null
  /** What the Identity header of an inbound call proves; null where it has none. */
  readonly stir_shaken: IdentityFinding | null
  /** Null where the far end or the application has ended it. */
  readonly failure: CallFailure | null
}

/** Written to the outbox in the transaction that writes the event it reports; delivered in order per call and URL. */
export interface Notification {
  readonly account_sid: string
  readonly call_sid: string
  readonly hook: Hook
  readonly payload: object
}

/** Everything that one step of a call changes, committed in one transaction. */
export interface CallBatch<E extends StoredEvent = StoredEvent> {
  readonly call_sid: string
  readonly account_sid: string
  readonly events: readonly E[]
  readonly notifications: readonly Notification[]
  /** What becomes of its recording, in this order. */
  readonly recordings?: readonly RecordingChange[]
  /** Facts of what follows from the call after its end, by those who do not have its journal: storage numbers the events. */
  readonly later?: readonly LaterFact[]
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
  /** The last sign of life of the node that carried it, by the clock that dates its events; absent where none is known. */
  readonly alive_at?: number
}

export interface CallStore<E extends StoredEvent = StoredEvent> {
  /** Takes the batch at once. `now` is committed before the next turn of the event loop, `soon` within 200 ms. */
  write(batch: CallBatch<E>, urgency: 'now' | 'soon'): void
  /** Resolves when everything written so far is committed. */
  flush(): Promise<void>
  /**
   * Takes over some calls that a node which is gone has left open, so that no other node does. To be called until it
   * returns none.
   */
  adopt(): Promise<readonly UnfinishedCall[]>
  watch(listener: CallStoreListener): void
}

export interface CallStoreListener {
  /** There may be calls to adopt. */
  abandoned(): void
  /** Other nodes have closed these calls, because this one gave no sign of life: nothing more is written of them. */
  lost(calls: readonly string[]): void
}
