// How long everything is kept: once an hour, what has outlived its time is removed in batches, with a pause after each.
import { sleep } from '../lib/clock.ts'
import type { Clock } from '../lib/clock.ts'
import type { Part } from '../lib/lifecycle.ts'
import type { Logger } from '../lib/log.ts'
import type { ExpiredRows } from './expired-rows.ts'

export interface RetentionOptions {
  readonly expired: ExpiredRows
  /** 0 = for ever. */
  readonly deliveryLogDays: number
  readonly callRecordDays: number
  readonly clock: Clock
  readonly log: Logger
}

const sweepEveryMs = 3_600_000
// A start needs the database for itself.
const firstSweepMs = 60_000
// A batch holds the thread for a millisecond or two.
const batchSize = 200
// A call record takes along its journal, its counts and its place in several indexes.
const callBatchSize = 25
// Leaves the database nine tenths of its time, also while millions of rows are due.
const pauseMs = 25
const dayMs = 86_400_000
const alertDays = 30
// A name that no carrier of an account has called for this long is not theirs any more.
const carrierHostDays = 90

type RemoveBatch = (limit: number) => Promise<number>

export function createRetention(options: RetentionOptions): Part {
  const { clock, log } = options
  const ended = new AbortController()
  let running: Promise<void> | undefined

  async function sweep({ of, size, remove }: Job): Promise<void> {
    let total = 0
    while (!ended.signal.aborted) {
      const removed = await remove(size)
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
  readonly of: string
  readonly size: number
  readonly remove: RemoveBatch
}

function jobsOf({ expired, deliveryLogDays, callRecordDays, clock }: RetentionOptions): readonly Job[] {
  const before = (days: number): number => clock.now() - days * dayMs
  const jobs: readonly (Job & { readonly days?: number })[] = [
    { of: 'idempotency_keys', size: batchSize, remove: (limit) => expired.idempotencyKeys(limit) },
    { of: 'user_sessions', size: batchSize, remove: (limit) => expired.sessions(limit) },
    { of: 'registrations', size: batchSize, remove: (limit) => expired.registrations(limit) },
    {
      of: 'carrier_hosts',
      size: batchSize,
      remove: (limit) => expired.carrierHosts(before(carrierHostDays), limit),
    },
    { of: 'alerts', size: batchSize, remove: (limit) => expired.alerts(before(alertDays), limit) },
    {
      of: 'delivery_log',
      size: batchSize,
      days: deliveryLogDays,
      remove: (limit) => expired.deliveries(before(deliveryLogDays), limit),
    },
    {
      of: 'recent_calls',
      size: callBatchSize,
      days: callRecordDays,
      remove: (limit) => expired.calls(before(callRecordDays), limit),
    },
  ]
  return jobs.filter(({ days }) => days !== 0)
}
