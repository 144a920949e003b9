// The writes when a recording is stored or has failed: its state, the fact in the journal, and the notification.
import type { CallStore, LaterFact, Notification } from '../contracts/call-record.ts'
import type { RecordingChange, StoredRecording } from '../contracts/recording.ts'

export type Settled = RecordingChange & { change: 'stored' | 'failed' }

/** Writes all in one transaction. */
export async function reportSettled(
  recording: StoredRecording,
  change: Settled,
  calls: Pick<CallStore, 'write' | 'flush'>,
): Promise<void> {
  const { call_sid, account_sid } = recording
  const later = [toFact(change)]
  const notifications = toNotifications(recording, change)
  calls.write({ call_sid, account_sid, events: [], notifications, recordings: [change], later }, 'now')
  await calls.flush()
}

function toFact(change: Settled): LaterFact {
  const { at } = change
  return change.change === 'stored'
    ? { at, type: 'recording-stored', place: change.place, bytes: change.bytes }
    : { at, type: 'recording-failed', because: change.reason }
}

function toNotifications(recording: StoredRecording, change: Settled): readonly Notification[] {
  const { call_sid, account_sid, notice, format, duration_ms } = recording
  if (notice === undefined) return []
  const payload = {
    ...notice.payload,
    event: 'recording',
    recording_status: change.change,
    recording_format: format,
    recording_duration: duration_ms / 1000,
    ...(change.change === 'stored'
      ? { recording_bytes: change.bytes, ...reasonIn(recording.attempts === 0 ? recording.reason : null) }
      : reasonIn(change.reason)),
  }
  return [{ account_sid, call_sid, hook: notice.hook, payload }]
}

const reasonIn = (reason: string | null) => (reason === null ? {} : { recording_reason: reason })
