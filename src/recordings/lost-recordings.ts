// Recordings whose files are on the disk of a node that never came back. Three days after the time in which it would
// have stored them, any other node reports them as lost, once.
import type { StoredRecording } from '../contracts/recording.ts'
import type { RecordingsOptions } from './recordings.ts'
import { reportSettled } from './report-settled.ts'
import type { Spool } from './spool.ts'
import { maxAgeMs } from './store-recordings.ts'

const hour = 3_600_000
/**
 * A node that is running retries for `maxAgeMs`, and up to a quarter of an hour more. The rest allows for different
 * clocks.
 */
export const lostAfterMs = maxAgeMs + hour
/** The longest call. A recording without an end may have begun this long before it. */
const maxCallMs = 24 * hour
/** The time without a sign of a node at work; a running node renews its claims within two minutes. */
const silentMs = hour
/** Longer than it takes to write the report. */
const leaseMs = hour
const maxAtOnce = 1000

export type LostOptions = Pick<RecordingsOptions, 'store' | 'calls' | 'clock' | 'log' | 'alerts'> & {
  readonly spool: Pick<Spool, 'id'>
}

/** Reports lost recordings, and returns their number. */
export async function reportLost(options: LostOptions): Promise<number> {
  const { store, clock, spool } = options
  for (let reported = 0; ; reported += 1) {
    const now = clock.now()
    const claim = {
      leaseMs,
      endedBefore: now - lostAfterMs,
      begunBefore: now - lostAfterMs - maxCallMs,
      silentSince: now - silentMs,
    }
    const lost = reported < maxAtOnce ? await store.claimLost(spool.id, claim) : undefined
    if (lost === undefined) return reported
    await report(lost, options)
  }
}

async function report(recording: StoredRecording, { calls, clock, log, alerts }: LostOptions): Promise<void> {
  const { call_sid, account_sid } = recording
  const reason = 'the node that has its file did not come back'
  alerts.raise({
    account_sid,
    call_sid,
    alert_type: 'recording-failure',
    message: `a recording is lost: ${reason}`,
  })
  await reportSettled(recording, { change: 'failed', reason, at: clock.now() }, calls)
  log.warn(
    { call_sid, account_sid, spool: recording.spool },
    'recording of a node that did not come back is lost',
  )
}
