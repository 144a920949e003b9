// Takes what calls write at once and commits it soon, many calls in one transaction.
import type { Clock, Timer } from '../lib/clock.ts'
import type { Logger } from '../lib/log.ts'
import type { CallBatch, JournalEvent } from './call-batch.ts'
import { createCallWriter } from './call-writer.ts'
import type { Database } from './database.ts'
import { prepare } from './prepared.ts'
import type { Vault } from './secrets.ts'

export interface UnfinishedCall {
  readonly call_sid: string
  readonly account_sid: string
  readonly events: readonly JournalEvent[]
}

export interface CallStore {
  write(batch: CallBatch, urgency: 'now' | 'soon'): void
  flush(): Promise<void>
  unfinished(): Promise<readonly UnfinishedCall[]>
  /** Called after notifications were committed. */
  onEnqueued(listener: () => void): void
  stop(): Promise<void>
}

export interface CallStoreOptions {
  readonly database: Database
  readonly vault: Vault
  readonly clock: Clock
  readonly log: Logger
}

// One transaction holds the thread for some 5 ms at this size.
const maxPerTransaction = 64

const soonMs = 200

// A commit costs the same for one call as for ten. So under load `now` waits for company, but never longer than this.
const spacingMs = 25

// Nobody is told of a call's events before they are on the disk, so their sync may wait for company: a sync for each
// commit of a busy node would cost more than the commits.
const syncMs = 50

const retryMs = 500

// Some minutes of a full node while the disk is gone. Beyond it the journal has gaps; records and hooks are kept.
const maxWaiting = 50_000

export function createCallStore({ database, vault, clock, log }: CallStoreOptions): CallStore {
  const writer = createCallWriter({ database, vault, clock, log })
  const unfinishedQuery = prepare(
    database.builder
      .selectFrom('open_calls as open')
      .leftJoin('call_journal as journal', 'journal.call_sid', 'open.call_sid')
      .select(['open.call_sid', 'open.account_sid', 'journal.events'])
      .orderBy('open.created_at')
      .orderBy('open.call_sid')
      .orderBy('journal.first_seq'),
  )
  let enqueued: () => void = () => undefined
  let waiting: CallBatch[] = []
  let dropped = 0
  let timer: Timer | undefined
  let nowTimer: Timer | undefined
  let syncTimer: Timer | undefined
  let lastCommitAt = Number.NEGATIVE_INFINITY
  let immediate: NodeJS.Immediate | undefined
  let running: Promise<void> | undefined

  function begin(): void {
    timer?.cancel()
    nowTimer?.cancel()
    timer = undefined
    nowTimer = undefined
    clearImmediate(immediate)
    immediate = undefined
    running ??= drain().finally(() => {
      running = undefined
    })
  }

  function beginNow(): void {
    if (immediate !== undefined || nowTimer !== undefined) return
    const waitMs = lastCommitAt + spacingMs - clock.monotonic()
    if (waitMs <= 0 || waiting.length >= maxPerTransaction) immediate = setImmediate(begin)
    else nowTimer = clock.after(waitMs, begin)
  }

  async function drain(): Promise<void> {
    while (waiting.length > 0) {
      const batches = waiting.slice(0, maxPerTransaction)
      try {
        await commit(batches)
        waiting = waiting.slice(batches.length)
      } catch (error) {
        if (!isOurMistake(error)) {
          log.error({ err: error, waiting: waiting.length }, 'call records could not be written')
          writer.forget(batches)
          timer ??= clock.after(retryMs, begin)
          return
        }
        await commitOneByOne(batches)
        waiting = waiting.slice(batches.length)
      }
    }
    if (dropped > 0) {
      log.error({ dropped }, 'journal events were dropped while the database did not answer')
      dropped = 0
    }
  }

  /** Will fail however often it is tried: a rule of the database, or a value that no column can hold. */
  function isOurMistake(error: unknown): boolean {
    return database.brokenRule(error) !== undefined || error instanceof TypeError
  }

  async function commit(batches: readonly CallBatch[]): Promise<void> {
    const written = await database.commitBeside((session) => writer.write(session, batches))
    writer.keep(written)
    lastCommitAt = clock.monotonic()
    syncTimer ??= clock.after(syncMs, syncInBackground)
    if (written.notifications > 0) enqueued()
  }

  function syncInBackground(): void {
    syncTimer = undefined
    database
      .durable()
      .catch((error: unknown) => log.error({ err: error }, 'call records are not on the disk'))
  }

  /** One batch cannot be written: that is a mistake of ours, and no other call may pay for it. */
  async function commitOneByOne(batches: readonly CallBatch[]): Promise<void> {
    for (const batch of batches) {
      try {
        await commit([batch])
      } catch (error) {
        if (!isOurMistake(error)) throw error
        log.error({ err: error, call_sid: batch.call_sid }, 'call batch was refused by the database')
      }
    }
  }

  async function flush(): Promise<void> {
    begin()
    await running
    if (waiting.length > 0) throw new Error('call records could not be written')
    await database.durable()
  }

  return {
    write(batch, urgency) {
      const isPlain =
        batch.record === undefined && batch.isClosed !== true && batch.notifications.length === 0
      if (waiting.length >= maxWaiting && isPlain) {
        dropped++
        return
      }
      waiting.push(batch)
      if (running !== undefined) return
      if (urgency === 'now' || waiting.length >= maxPerTransaction) beginNow()
      else timer ??= clock.after(soonMs, begin)
    },
    flush,
    async unfinished() {
      await flush()
      const calls = new Map<string, UnfinishedCall & { events: JournalEvent[] }>()
      for (const row of await unfinishedQuery.all(database.reader, {})) {
        const call_sid = String(row['call_sid'])
        const call = calls.get(call_sid) ?? { call_sid, account_sid: String(row['account_sid']), events: [] }
        calls.set(call_sid, call)
        call.events.push(...parseEvents(row['events']))
      }
      return [...calls.values()]
    },
    onEnqueued(listener) {
      enqueued = listener
    },
    async stop() {
      await flush().catch((error: unknown) =>
        log.error({ err: error, lost: waiting.length }, 'call records were lost at the stop'),
      )
      for (const pending of [timer, nowTimer, syncTimer]) pending?.cancel()
    },
  }
}

export function parseEvents(cell: unknown): JournalEvent[] {
  return typeof cell === 'string' ? (JSON.parse(cell) as JournalEvent[]) : []
}
