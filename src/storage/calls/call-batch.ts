// What the call engine hands over: the shapes of calls/ports.ts, repeated here because storage knows no other part.
// TypeScript compares them in app.ts.

export interface JournalEvent {
  readonly seq: number
  readonly at: number
  readonly type: string
  readonly [fact: string]: unknown
}

export interface Notification {
  readonly account_sid: string
  readonly call_sid: string
  readonly hook: {
    readonly url: string
    readonly method: 'GET' | 'POST'
    readonly username: string | null
    readonly password: string | null
  }
  readonly payload: object
}

export interface RecentCall {
  readonly account_sid: string
  readonly service_provider_sid: string
  readonly application_sid: string | null
  readonly call_sid: string
  readonly sip_call_id: string
  readonly sip_parent_call_id: string | null
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
}

export interface CallBatch {
  readonly call_sid: string
  readonly account_sid: string
  readonly events: readonly JournalEvent[]
  readonly notifications: readonly Notification[]
  /** Closes the leg. The first one counts. */
  readonly record?: RecentCall
  /** Closes a leg that gets no record, as its account wants it. */
  readonly ended?: true
}

/** The batches of one call that are written together. */
export interface MergedBatch {
  readonly call_sid: string
  readonly account_sid: string
  readonly events: JournalEvent[]
  readonly notifications: Notification[]
  record: RecentCall | undefined
  hasEnded: boolean
}

/** One batch per call, in the order in which the calls first appear. */
export function mergeBatches(batches: readonly CallBatch[]): MergedBatch[] {
  const merged = new Map<string, MergedBatch>()
  for (const batch of batches) {
    let whole = merged.get(batch.call_sid)
    if (whole === undefined) {
      const { call_sid, account_sid } = batch
      whole = { call_sid, account_sid, events: [], notifications: [], record: undefined, hasEnded: false }
      merged.set(call_sid, whole)
    }
    whole.events.push(...batch.events)
    whole.notifications.push(...batch.notifications)
    // The first one counts: exactly one record per leg.
    whole.record ??= batch.record
    whole.hasEnded ||= batch.record !== undefined || batch.ended === true
  }
  return [...merged.values()]
}
