// The store of running calls: it accepts their writes immediately and commits them soon, many calls in one transaction.
import type { Clock, Timer } from '../../lib/clock.ts'
import type { Logger } from '../../lib/log.ts'
import { createOutageLog } from '../../lib/outage-log.ts'
import { AppError } from '../../lib/errors.ts'
import { lowDisk } from '../../lib/full-disk.ts'
import { createAdoption } from './adoption.ts'
import type { CallBatch, CallStore, CallStoreListener } from '../../contracts/call-record.ts'
import type { StoredEvent } from '../../contracts/journal.ts'
import { createCallWriter, type WrittenBatches } from './call-writer.ts'
import type { Database } from '../database/database.ts'
import type { DiskReserve } from '../database/disk-reserve.ts'
import { LeaseLostError, type NodeLease } from '../nodes/node-lease.ts'
import type { Vault } from '../secrets.ts'

export interface StoredCalls extends CallStore<StoredEvent, AppError> {
  /** Commits the waiting batches of one call, as far as the database accepts them. */
  settle(call_sid: string): Promise<void>
  /** Sets the listener that runs when calls are refused because nothing of them could be kept. */
  onTrouble(listener: (reason: AppError) => void): void
  /** Sets the listener that runs after notifications were committed. */
  onEnqueued(listener: () => void): void
  stop(): Promise<void>
}

export interface CallStoreOptions {
  readonly database: Database
  readonly lease: NodeLease
  readonly reserve: Pick<DiskReserve, 'refusal' | 'holdsCalls'>
  readonly vault: Vault
  readonly clock: Clock
  readonly log: Logger
}

// One transaction holds the thread for some 5 ms at this size.
const maxPerTransaction = 64

const soonMs = 200

// A commit costs the same for one call as for ten: under load `now` waits for other calls, but no longer than this.
const spacingMs = 25

// No client is shown a call's events before they are on the disk, so their sync may wait for others: a sync for each
// commit of a busy node would cost more than the commits.
const syncMs = 50

const retryMs = 500

// A commit that takes longer is not expected to come: the disk or the connection hangs. Its time is counted in steps, so
// that a main thread that is held up, and could not have seen the end of the commit, is not taken for a database that
// does not respond.
const lateMs = 3000
const stepMs = 100

// A minute of a busy node whose events come faster than they are written. No new call begins beyond it.
const behindBytes = 64 * 1024 * 1024

// Running calls go on for as long as memory lasts. Beyond this their journals have gaps; records and hooks are kept.
const maxWaitingBytes = 256 * 1024 * 1024

// The number of remembered calls that another node has closed: their last batches arrive within seconds.
const maxLost = 10_000

interface Flush {
  /** All batches that were waiting when it began. */
  readonly batches: ReadonlySet<CallBatch>
  readonly done: () => void
}

export function createCallStore({
  database,
  lease,
  reserve,
  vault,
  clock,
  log,
}: CallStoreOptions): StoredCalls {
  const writer = createCallWriter({ database, lease, vault, clock, log })
  const adoption = createAdoption({ database, lease, vault, log })
  const outage = createOutageLog(log, clock)
  const lost = new Set<string>()
  let enqueued: () => void = () => undefined
  let troubled: (reason: AppError) => void = () => undefined
  let told: AppError | undefined
  let listener: CallStoreListener | undefined
  let waiting: CallBatch[] = []
  const sizes = new WeakMap<CallBatch, number>()
  let waitingBytes = 0
  /** The first of the waiting batches, if their last write failed at its end: it may have been committed all the same. */
  let doubtful: { readonly batches: readonly CallBatch[]; readonly written: WrittenBatches } | undefined
  /** The calls that the last rejoin has kept, until all others are given up. */
  let kept: ReadonlySet<string> | undefined
  const timers: { retry?: Timer | undefined; now?: Timer | undefined; sync?: Timer | undefined } = {}
  const flushes = new Set<Flush>()
  let [dropped, lastCommitAt] = [0, Number.NEGATIVE_INFINITY]
  /** Why the last write failed, until one succeeds. */
  let failure: AppError | undefined
  /** The time that the commit under way has taken while this thread could see its end. */
  let committingMs = 0
  let immediate: NodeJS.Immediate | undefined
  let running: Promise<void> | undefined

  function refusal(): AppError | undefined {
    if (waiting.length === 0 && running === undefined) failure = undefined
    const isLate = committingMs > lateMs
    const isBehind = waitingBytes > behindBytes
    return reserve.refusal() ?? failure ?? lease.refusal() ?? (isLate || isBehind ? away() : undefined)
  }

  function dropFirst(count: number): void {
    for (const batch of waiting.slice(0, count)) waitingBytes -= sizes.get(batch) ?? 0
    waiting = waiting.slice(count)
  }

  function begin(): void {
    timers.retry?.cancel()
    timers.now?.cancel()
    timers.retry = undefined
    timers.now = undefined
    clearImmediate(immediate)
    immediate = undefined
    running ??= drain().finally(() => {
      running = undefined
    })
  }

  function beginNow(): void {
    if (immediate !== undefined || timers.now !== undefined) return
    const waitMs = lastCommitAt + spacingMs - clock.monotonic()
    if (waitMs <= 0 || waiting.length >= maxPerTransaction) immediate = setImmediate(begin)
    else timers.now = clock.after(waitMs, begin)
  }

  async function drain(): Promise<void> {
    // The number of batches still to be written one by one, in the search for the one that cannot be written.
    let singly = 0
    while (waiting.length > 0 || lease.isLost || kept !== undefined) {
      let batches: readonly CallBatch[] = []
      for (const one of flushes) if (!areWaiting(one.batches)) one.done()
      try {
        if (reserve.holdsCalls) throw lowDisk()
        await dropWritten()
        if (lease.isLost) kept = await lease.rejoin()
        if (kept !== undefined) await giveUpOthers(kept)
        batches = waiting.slice(0, singly > 0 ? 1 : maxPerTransaction)
        if (batches.length === 0) break
        await commit(batches)
        dropFirst(batches.length)
        singly--
      } catch (error) {
        if (error instanceof LeaseLostError) continue
        if (batches.length === 0 || !isHopeless(error)) return tryLater(error, batches)
        if (batches.length === 1) {
          log.error({ err: error, call_sid: batches[0]?.call_sid }, 'call batch was refused by the database')
          dropFirst(1)
          singly--
        } else {
          singly = batches.length
        }
      }
    }
    if (dropped > 0) {
      log.error({ dropped }, 'journal events were dropped while the database did not respond')
      dropped = 0
    }
  }

  /** Drops the doubtful batches that were committed: a second write would repeat their notifications. */
  async function dropWritten(): Promise<void> {
    if (doubtful === undefined) return
    const { batches, written } = doubtful
    if (await writer.isWritten(batches)) {
      dropFirst(batches.length)
      // Without this state, these calls would not count as open here when another node has closed them.
      keep(batches, written)
    }
    doubtful = undefined
  }

  function tryLater(error: unknown, batches: readonly CallBatch[]): void {
    outage({ err: error, waiting: waiting.length }, 'call records could not be written')
    failure = error instanceof AppError ? error : away(error)
    writer.forget(batches.map(({ call_sid }) => call_sid))
    timers.retry ??= clock.after(retryMs, begin)
  }

  /**
   * Follows on a rejoin after another node has declared this one dead. Calls that another node has begun to close
   * belong to it; this node has taken the others back. If this fails, it is done again.
   */
  async function giveUpOthers(own: ReadonlySet<string>): Promise<void> {
    const gone = new Set([...writer.open()].filter((call_sid) => !own.has(call_sid)))
    for (const { call_sid } of waiting) {
      // No other node can take a call that is not in the database yet.
      if (!own.has(call_sid) && !gone.has(call_sid) && (await writer.isForeign(call_sid))) gone.add(call_sid)
    }
    kept = undefined
    waiting = waiting.filter((batch) => !gone.has(batch.call_sid) || isBeside(batch))
    waitingBytes = waiting.reduce((bytes, batch) => bytes + (sizes.get(batch) ?? 0), 0)
    writer.forget(gone)
    for (const call_sid of gone) lost.add(call_sid)
    for (const call_sid of lost) {
      if (lost.size <= maxLost) break
      lost.delete(call_sid)
    }
    log.error(
      { calls: gone.size, kept: own.size },
      'another node declared this one dead and closed its calls',
    )
    listener?.lost([...gone])
  }

  /** Reports whether a write can never succeed: it breaks a rule of the database, or a value fits no column. */
  function isHopeless(error: unknown): boolean {
    return (
      database.brokenRule(error) !== undefined || error instanceof TypeError || error instanceof RangeError
    )
  }

  async function commit(batches: readonly CallBatch[]): Promise<void> {
    const step = (): Timer =>
      clock.after(stepMs, () => {
        committingMs += stepMs
        timer = step()
      })
    let timer = step()
    try {
      const written = await database.commitBeside(async (session) => {
        doubtful = undefined
        const changed = await writer.write(session, batches)
        doubtful = { batches, written: changed }
        return changed
      })
      doubtful = undefined
      keep(batches, written)
    } finally {
      timer.cancel()
      committingMs = 0
    }
  }

  function keep(batches: readonly CallBatch[], written: WrittenBatches): void {
    failure = undefined
    writer.keep(written)
    // The node that closes a lost call writes to it too, so its state here is soon out of date.
    writer.forget(batches.map(({ call_sid }) => call_sid).filter((call_sid) => lost.has(call_sid)))
    lastCommitAt = clock.monotonic()
    timers.sync ??= clock.after(syncMs, syncInBackground)
    if (written.notifications > 0) enqueued()
  }

  function syncInBackground(): void {
    timers.sync = undefined
    database.durable().catch((error: unknown) => outage({ err: error }, 'call records are not on the disk'))
  }

  /** Reports whether any of these batches still waits, which were all that waited at one moment. */
  function areWaiting(batches: ReadonlySet<CallBatch>): boolean {
    const [first] = waiting
    return first !== undefined && batches.has(first)
  }

  /** Does not wait for batches that are written later: under load there are always some. */
  async function flush(): Promise<void> {
    const batches = new Set(waiting)
    begin()
    const { promise, resolve: done } = Promise.withResolvers<void>()
    const own = { batches, done }
    flushes.add(own)
    await Promise.race([running, promise])
    flushes.delete(own)
    if (areWaiting(batches)) throw new Error('call records could not be written')
    await database.durable()
  }

  async function flushAll(): Promise<void> {
    do await flush()
    while (waiting.length > 0)
  }

  lease.watch({
    beaten: () => listener?.abandoned(),
    cutOff: () => listener?.cutOff?.(),
    lost: begin,
    hasCalls: () => !writer.open().next().done,
  })

  return {
    write(batch, urgency) {
      if (lost.has(batch.call_sid) && !isBeside(batch)) return
      const changes = batch.notifications.length + (batch.recordings?.length ?? 0)
      const isPlain = batch.record === undefined && batch.ended !== true && changes === 0
      const bytes = sizeOf(batch)
      if (isPlain && waitingBytes + bytes > maxWaitingBytes) {
        dropped += batch.events.length
        return
      }
      waitingBytes += bytes
      sizes.set(batch, bytes)
      waiting.push(batch)
      if (running !== undefined) return
      if (urgency === 'now' || waiting.length >= maxPerTransaction) beginNow()
      else timers.retry ??= clock.after(soonMs, begin)
    },
    refusal() {
      const reason = refusal()
      if (reason !== undefined && reason.code !== told?.code) troubled(reason)
      told = reason
      return reason
    },
    flush,
    async settle(call_sid) {
      if (waiting.some((batch) => batch.call_sid === call_sid)) await flush().catch(() => undefined)
    },
    async adopt() {
      try {
        return await adoption.adopt()
      } catch (error) {
        // This node has to rejoin first; then adoption is tried again.
        if (error instanceof LeaseLostError) return []
        throw error
      }
    },
    watch(given) {
      listener = given
    },
    onTrouble(given) {
      troubled = given
    },
    onEnqueued(given) {
      enqueued = given
    },
    async stop() {
      await flushAll().catch((error: unknown) =>
        log.error({ err: error, lost: waiting.length }, 'call records were lost at the stop'),
      )
      for (const pending of [timers.retry, timers.now, timers.sync]) pending?.cancel()
    },
  }
}

function away(cause?: unknown): AppError {
  return new AppError('database_unavailable', 'the database does not take what must be kept of calls', {
    cause,
  })
}

// Objects take more memory than their text: names, and the list that a batch is.
const bytesOfBatch = 500
const bytesOfFact = 50

/** Returns about as many bytes as the batch takes while it waits. */
function sizeOf({ events, notifications }: CallBatch): number {
  let bytes = bytesOfBatch
  for (const one of [...events, ...notifications.map(({ payload }) => payload)])
    for (const value of Object.values(one))
      bytes += bytesOfFact + (typeof value === 'string' ? value.length : 0)
  return bytes
}

/**
 * Reports whether a batch comes from code beside the call. Only the node that has the file of a recording can write
 * what becomes of it, also after another node has closed the call.
 */
function isBeside({ later }: CallBatch): boolean {
  return later !== undefined
}
