// Looks every hour for rows that have outlived their time and has them removed in batches, with a pause after each.
import { sleep } from '../lib/clock.ts'
import type { Clock } from '../lib/clock.ts'
import type { Part } from '../lib/lifecycle.ts'
import type { Logger } from '../lib/log.ts'
import type { ExpiredRows } from './expired-rows.ts'

export interface RetentionOptions {
  readonly storage: {
    readonly expired: ExpiredRows
    pruneRecentCalls(before: number, limit: number): Promise<number>
  }
  /** 0 = for ever. */
  readonly deliveryLogDays: number
  readonly callRecordDays: number
  readonly clock: Clock
  readonly log: Logger
}

const sweepEveryMs = 3_600_000
// A start has better things to do.
const firstSweepMs = 60_000
// A batch holds the thread for a millisecond or two.
const batchSize = 200
// A call record takes its journal along, its counts and what the index knows of its numbers.
const callBatchSize = 25
// Leaves the database nine tenths of its time, also while millions of rows are due.
const pauseMs = 25
const dayMs = 86_400_000
// A name that no carrier of an account has called for so long is not theirs any more.
const carrierHostDays = 90

type RemoveBatch = (limit: number) => Promise<number>

export function createRetention(options: RetentionOptions): Part {
  const { clock, log } = options
  const ended = new AbortController()
  let running: Promise<void> | undefined

  async function sweep(name: string, size: number, remove: RemoveBatch): Promise<void> {
    let total = 0
    while (!ended.signal.aborted) {
      const removed = await remove(size)
      total += removed
      if (removed < size) break
      await sleep(pauseMs, clock, ended.signal)
    }
    if (total > 0) log.info({ rows: total, of: name }, 'expired rows removed')
  }

  async function run(): Promise<void> {
    await sleep(firstSweepMs, clock, ended.signal)
    while (!ended.signal.aborted) {
      for (const [name, size, remove] of jobsOf(options)) {
        await sweep(name, size, remove).catch((error: unknown) =>
          log.warn({ err: error, of: name }, 'expired rows could not be removed'),
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

function jobsOf({
  storage,
  deliveryLogDays,
  callRecordDays,
  clock,
}: RetentionOptions): (readonly [string, number, RemoveBatch])[] {
  const { expired } = storage
  const before = (days: number): number => clock.now() - days * dayMs
  return [
    ['idempotency_keys', batchSize, (limit) => expired.idempotencyKeys(limit)],
    ['user_sessions', batchSize, (limit) => expired.sessions(limit)],
    ['carrier_hosts', batchSize, (limit) => expired.carrierHosts(before(carrierHostDays), limit)],
    ['registrations', batchSize, (limit) => expired.registrations(limit)],
    ...(deliveryLogDays === 0
      ? []
      : [
          [
            'delivery_log',
            batchSize,
            (limit: number) => expired.deliveries(before(deliveryLogDays), limit),
          ] as const,
        ]),
    ...(callRecordDays === 0
      ? []
      : [
          [
            'recent_calls',
            callBatchSize,
            (limit: number) => storage.pruneRecentCalls(before(callRecordDays), limit),
          ] as const,
        ]),
  ]
}
