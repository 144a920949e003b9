// The batches of a call merged into one, for one write.
import type { CallBatch, LaterFact, Notification, RecentCall } from '../../contracts/call-record.ts'
import type { StoredEvent } from '../../contracts/journal.ts'
import type { RecordingChange } from '../../contracts/recording.ts'

/** The batches of one call that are written together. */
export interface MergedBatch {
  readonly call_sid: string
  readonly account_sid: string
  readonly events: StoredEvent[]
  readonly notifications: Notification[]
  readonly recordings: RecordingChange[]
  readonly later: LaterFact[]
  record: RecentCall | undefined
  dialog: string | undefined
  hasEnded: boolean
}

/** One batch per call, in the order in which the calls first appear. */
export function mergeBatches(batches: readonly CallBatch[]): MergedBatch[] {
  const merged = new Map<string, MergedBatch>()
  for (const batch of batches) {
    let whole = merged.get(batch.call_sid)
    if (whole === undefined) {
      const { call_sid, account_sid } = batch
      whole = {
        ...{ call_sid, account_sid, events: [], notifications: [], recordings: [], later: [] },
        ...{ record: undefined, dialog: undefined, hasEnded: false },
      }
      merged.set(call_sid, whole)
    }
    whole.events.push(...batch.events)
    whole.notifications.push(...batch.notifications)
    whole.recordings.push(...(batch.recordings ?? []))
    whole.later.push(...(batch.later ?? []))
    whole.dialog = batch.dialog ?? whole.dialog
    // The first record counts: there is exactly one per leg.
    whole.record ??= batch.record
    whole.hasEnded ||= batch.record !== undefined || batch.ended === true
  }
  return [...merged.values()]
}
