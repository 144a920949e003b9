// Retention: once an hour, expired rows are removed in batches, with a pause after each.
import { sleep, type Clock } from '../lib/clock.ts'
import type { Part } from '../lib/lifecycle.ts'
import type { Logger } from '../lib/log.ts'
import type { ExpiredRows, ExpiringTable } from './expired-rows.ts'

export interface RetentionOptions {
  readonly expired: ExpiredRows
  /** In days; 0 keeps rows for ever. */
  readonly deliveryLogDays: number
  readonly callRecordDays: number
  /** For inbound calls that the platform refused. */
  readonly refusedCallDays: number
  readonly clock: Clock
  readonly log: Logger
}

const sweepEveryMs = 3_600_000
// The first sweep waits, because the start needs the database for itself.
const firstSweepMs = 60_000
// A batch holds the thread for a millisecond or two.
const batchSize = 200
// Removing a call record also removes its journal and changes its counts and several indexes.
const callBatchSize = 25
// The pause leaves nine tenths of the time to others, even while millions of rows are due.
const pauseMs = 25
const dayMs = 86_400_000
const alertDays = 30
// A host name that no carrier of an account has called for this long no longer belongs to the account.
const carrierHostDays = 90

export function createRetention(options: RetentionOptions): Part {
  const { expired, clock, log } = options
  const ended = new AbortController()
  let running: Promise<void> | undefined

  async function sweep({ of, days, size = batchSize }: Job): Promise<void> {
    let total = 0
    while (!ended.signal.aborted) {
      // A row with its own expiry time has expired when that time is now or past.
      const before = days === undefined ? clock.now() + 1 : clock.now() - days * dayMs
      const removed = await expired.remove(of, before, size)
      total += removed
      if (removed < size) break
      await sleep(pauseMs, clock, ended.signal)
    }
    if (total > 0) log.info({ rows: total, of }, 'expired rows removed')
  }

  async function run(): Promise<void> {
    await sleep(firstSweepMs, clock, ended.signal)
    while (!ended.signal.aborted) {
      for (const job of jobsOf(options)) {
        await sweep(job).catch((error: unknown) =>
          log.warn({ err: error, of: job.of }, 'expired rows could not be removed'),
        )
      }
      await sleep(sweepEveryMs, clock, ended.signal)
    }
  }

  return {
    name: 'retention',
    async start() {
      running ??= run()
    },
    async stop() {
      ended.abort()
      await running
    },
  }
}

interface Job {
  readonly of: ExpiringTable
  /** The days that rows are kept. Undefined if each row has its own expiry time; 0 keeps them for ever. */
  readonly days?: number
  readonly size?: number
}

function jobsOf({ deliveryLogDays, callRecordDays, refusedCallDays }: RetentionOptions): readonly Job[] {
  const jobs: readonly Job[] = [
    { of: 'idempotency_keys' },
    { of: 'user_sessions' },
    { of: 'registrations' },
    { of: 'carrier_hosts', days: carrierHostDays },
    { of: 'alerts', days: alertDays },
    { of: 'delivery_log', days: deliveryLogDays },
    { of: 'refused_calls', days: refusedCallDays, size: callBatchSize },
    { of: 'recent_calls', days: callRecordDays, size: callBatchSize },
    // A recording begins after its call, so it expires later.
    { of: 'recordings', days: callRecordDays },
  ]
  return jobs.filter(({ days }) => days !== 0)
}
