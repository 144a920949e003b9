// The store of running calls: it accepts their writes immediately and commits them soon, many calls in one transaction.
import type { Clock, Timer } from '../../lib/clock.ts'
import type { Logger } from '../../lib/log.ts'
import { createOutageLog } from '../../lib/outage-log.ts'
import { AppError } from '../../lib/errors.ts'
import { lowDisk } from '../../lib/full-disk.ts'
import { createAdoption, type Adoption } from './adoption.ts'
import type { CallBatch, CallStore, CallStoreListener, UnfinishedCall } from '../../contracts/call-record.ts'
import type { StoredEvent } from '../../contracts/journal.ts'
import { createCallWriter, type CallWriter, type WrittenBatches } from './call-writer.ts'
import { sizeOf, WaitingBatches } from './waiting-batches.ts'
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

// A commit that takes longer is not expected to come: the disk or the connection hangs.
const lateMs = 3000
const stepMs = 100

// A minute of a busy node whose events come faster than they are written. No new call begins beyond it.
const behindBytes = 64 * 1024 * 1024

// Running calls go on for as long as memory lasts. Beyond this their journals have gaps; records and hooks are kept.
const maxWaitingBytes = 256 * 1024 * 1024

// The number of remembered calls that another node has closed: their last batches arrive within seconds.
const maxLost = 10_000

export function createCallStore(options: CallStoreOptions): StoredCalls {
  return new CallBatches(options)
}

interface Flush {
  /** All batches that were waiting when it began. */
  readonly batches: ReadonlySet<CallBatch>
  readonly done: () => void
}

class CallBatches implements StoredCalls {
  readonly #options: CallStoreOptions
  readonly #writer: CallWriter
  readonly #adoption: Adoption
  readonly #outage: (fields: object, message: string) => void
  readonly #commitTime: CommitTime
  readonly #waiting = new WaitingBatches()
  /** The number of events that found no room among the waiting. */
  #dropped = 0
  /** The number of batches still to be written one by one, in the search for the one that cannot be written. */
  #singly = 0
  /** The first of the waiting batches, if their last write failed at its end: it may have been committed all the same. */
  #doubtful: { readonly batches: readonly CallBatch[]; readonly written: WrittenBatches } | undefined
  /** The calls that other nodes have closed. */
  readonly #lost = new Set<string>()
  /** The calls that the last rejoin has kept, until all others are given up. */
  #kept: ReadonlySet<string> | undefined
  /** Why the last write failed, until one succeeds. */
  #failure: AppError | undefined
  #lastCommitAt = Number.NEGATIVE_INFINITY

  #running: Promise<void> | undefined
  /** Three ways to begin: after a while, when the last commit is long enough ago, in this turn of the event loop. */
  #later: Timer | undefined
  #spaced: Timer | undefined
  #immediate: NodeJS.Immediate | undefined
  #sync: Timer | undefined
  readonly #flushes = new Set<Flush>()

  #listener: CallStoreListener | undefined
  #enqueued: () => void = () => undefined
  #troubled: (reason: AppError) => void = () => undefined
  /** The last reason that `#troubled` was called with. */
  #told: AppError | undefined

  constructor(options: CallStoreOptions) {
    const { log, clock, lease } = options
    this.#options = options
    this.#writer = createCallWriter(options)
    this.#adoption = createAdoption(options)
    this.#outage = createOutageLog(log, clock)
    this.#commitTime = new CommitTime(clock)
    lease.watch({
      beaten: () => this.#listener?.abandoned(),
      cutOff: () => this.#listener?.cutOff?.(),
      lost: () => this.#begin(),
      hasCalls: () => !this.#writer.open().next().done,
    })
  }

  watch(listener: CallStoreListener): void {
    this.#listener = listener
  }

  onTrouble(listener: (reason: AppError) => void): void {
    this.#troubled = listener
  }

  onEnqueued(listener: () => void): void {
    this.#enqueued = listener
  }

  refusal(): AppError | undefined {
    const reason = this.#findRefusal()
    if (reason !== undefined && reason.code !== this.#told?.code) this.#troubled(reason)
    this.#told = reason
    return reason
  }

  #findRefusal(): AppError | undefined {
    const { reserve, lease } = this.#options
    if (this.#waiting.count === 0 && this.#running === undefined) this.#failure = undefined
    const isBehind = this.#commitTime.isLate || this.#waiting.bytes > behindBytes
    return reserve.refusal() ?? this.#failure ?? lease.refusal() ?? (isBehind ? away() : undefined)
  }

  async adopt(): Promise<readonly UnfinishedCall[]> {
    try {
      return await this.#adoption.adopt()
    } catch (error) {
      // This node has to rejoin first; then adoption is tried again.
      if (error instanceof LeaseLostError) return []
      throw error
    }
  }

  write(batch: CallBatch, urgency: 'now' | 'soon'): void {
    if (this.#lost.has(batch.call_sid) && !isBeside(batch)) return
    const bytes = sizeOf(batch)
    if (hasOnlyEvents(batch) && this.#waiting.bytes + bytes > maxWaitingBytes) {
      this.#dropped += batch.events.length
      return
    }
    this.#waiting.add(batch, bytes)
    if (this.#running !== undefined) return
    if (urgency === 'now' || this.#waiting.count >= maxPerTransaction) this.#beginNow()
    else this.#beginAfter(soonMs)
  }

  async settle(call_sid: string): Promise<void> {
    const isWaiting = [...this.#waiting].some((batch) => batch.call_sid === call_sid)
    if (isWaiting) await this.flush().catch(() => undefined)
  }

  /** Does not wait for batches that are written later: under load there are always some. */
  async flush(): Promise<void> {
    const batches = new Set(this.#waiting)
    this.#begin()
    const { promise, resolve: done } = Promise.withResolvers<void>()
    const own = { batches, done }
    this.#flushes.add(own)
    await Promise.race([this.#running, promise])
    this.#flushes.delete(own)
    if (this.#waiting.hasSomeOf(batches)) throw new Error('call records could not be written')
    await this.#options.database.durable()
  }

  async stop(): Promise<void> {
    try {
      do await this.flush()
      while (this.#waiting.count > 0)
    } catch (error) {
      this.#options.log.error({ err: error, lost: this.#waiting.count }, 'call records were lost at the stop')
    }
    for (const pending of [this.#later, this.#spaced, this.#sync]) pending?.cancel()
  }

  #beginNow(): void {
    if (this.#immediate !== undefined || this.#spaced !== undefined) return
    const { clock } = this.#options
    const waitMs = this.#lastCommitAt + spacingMs - clock.monotonic()
    if (waitMs <= 0 || this.#waiting.count >= maxPerTransaction)
      this.#immediate = setImmediate(() => this.#begin())
    else this.#spaced = clock.after(waitMs, () => this.#begin())
  }

  #beginAfter(delayMs: number): void {
    this.#later ??= this.#options.clock.after(delayMs, () => this.#begin())
  }

  #begin(): void {
    this.#later?.cancel()
    this.#spaced?.cancel()
    this.#later = undefined
    this.#spaced = undefined
    clearImmediate(this.#immediate)
    this.#immediate = undefined
    if (this.#running !== undefined) return
    const { promise, resolve } = Promise.withResolvers<void>()
    this.#running = promise
    void this.#drain(resolve)
  }

  async #drain(done: () => void): Promise<void> {
    try {
      this.#singly = 0
      while (this.#waiting.count > 0 || this.#options.lease.isLost || this.#kept !== undefined) {
        if (await this.#writeFirst()) continue
        return this.#beginAfter(retryMs)
      }
      this.#logDropped()
    } finally {
      // In the step that finds nothing to do: a batch that is written later begins the next one.
      this.#running = undefined
      done()
    }
  }

  /** Writes the first of the waiting batches. Returns false if the database does not take any now. */
  async #writeFirst(): Promise<boolean> {
    for (const one of this.#flushes) if (!this.#waiting.hasSomeOf(one.batches)) one.done()
    let batches: readonly CallBatch[] = []
    try {
      await this.#makeReady()
      batches = this.#waiting.first(this.#singly > 0 ? 1 : maxPerTransaction)
      if (batches.length > 0) await this.#commit(batches)
      this.#waiting.dropFirst(batches.length)
      this.#singly--
      return true
    } catch (error) {
      if (error instanceof LeaseLostError) return true
      const isHopeless = batches.length > 0 && this.#isHopeless(error)
      if (isHopeless) this.#searchHopeless(error, batches)
      else this.#fail(error, batches)
      return isHopeless
    }
  }

  /** Does what must come before the next write. */
  async #makeReady(): Promise<void> {
    const { reserve, lease } = this.#options
    if (reserve.holdsCalls) throw lowDisk()
    await this.#dropWritten()
    if (lease.isLost) this.#kept = await lease.rejoin()
    if (this.#kept !== undefined) await this.#giveUpOthers(this.#kept)
  }

  /** Drops the doubtful batches that were committed: a second write would repeat their notifications. */
  async #dropWritten(): Promise<void> {
    if (this.#doubtful === undefined) return
    const { batches, written } = this.#doubtful
    if (await this.#writer.isWritten(batches)) {
      this.#waiting.dropFirst(batches.length)
      // Without this state, these calls would not count as open here when another node has closed them.
      this.#committed(batches, written)
    }
    this.#doubtful = undefined
  }

  /**
   * Follows on a rejoin after another node has declared this one dead. Calls that another node has begun to close
   * belong to it; this node has taken the others back. If this fails, it is done again.
   */
  async #giveUpOthers(own: ReadonlySet<string>): Promise<void> {
    const gone = new Set([...this.#writer.open()].filter((call_sid) => !own.has(call_sid)))
    for (const { call_sid } of this.#waiting) {
      // No other node can take a call that is not in the database yet.
      if (!own.has(call_sid) && !gone.has(call_sid) && (await this.#writer.isForeign(call_sid)))
        gone.add(call_sid)
    }
    this.#kept = undefined
    this.#waiting.keepOnly((batch) => !gone.has(batch.call_sid) || isBeside(batch))
    this.#writer.forget(gone)
    this.#addLost(gone)
    this.#options.log.error(
      { calls: gone.size, kept: own.size },
      'another node declared this one dead and closed its calls',
    )
    this.#listener?.lost([...gone])
  }

  #addLost(gone: ReadonlySet<string>): void {
    for (const call_sid of gone) this.#lost.add(call_sid)
    for (const call_sid of this.#lost) {
      if (this.#lost.size <= maxLost) break
      this.#lost.delete(call_sid)
    }
  }

  async #commit(batches: readonly CallBatch[]): Promise<void> {
    this.#commitTime.begin()
    try {
      const written = await this.#options.database.commitBeside(async (session) => {
        this.#doubtful = undefined
        const changed = await this.#writer.write(session, batches)
        this.#doubtful = { batches, written: changed }
        return changed
      })
      this.#doubtful = undefined
      this.#committed(batches, written)
    } finally {
      this.#commitTime.end()
    }
  }

  #committed(batches: readonly CallBatch[], written: WrittenBatches): void {
    const { clock } = this.#options
    this.#failure = undefined
    this.#writer.keep(written)
    // The node that closes a lost call writes to it too, so its state here is soon out of date.
    this.#writer.forget(
      batches.map(({ call_sid }) => call_sid).filter((call_sid) => this.#lost.has(call_sid)),
    )
    this.#lastCommitAt = clock.monotonic()
    this.#sync ??= clock.after(syncMs, () => this.#syncInBackground())
    if (written.notifications > 0) this.#enqueued()
  }

  #syncInBackground(): void {
    this.#sync = undefined
    this.#options.database
      .durable()
      .catch((error: unknown) => this.#outage({ err: error }, 'call records are not on the disk'))
  }

  /** Reports whether a write can never succeed: it breaks a rule of the database, or a value fits no column. */
  #isHopeless(error: unknown): boolean {
    const rule = this.#options.database.brokenRule(error)
    return rule !== undefined || error instanceof TypeError || error instanceof RangeError
  }

  #searchHopeless(error: unknown, batches: readonly CallBatch[]): void {
    if (batches.length > 1) {
      this.#singly = batches.length
      return
    }
    const [{ call_sid } = {}] = batches
    this.#options.log.error({ err: error, call_sid }, 'call batch was refused by the database')
    this.#waiting.dropFirst(1)
    this.#singly--
  }

  #fail(error: unknown, batches: readonly CallBatch[]): void {
    this.#outage({ err: error, waiting: this.#waiting.count }, 'call records could not be written')
    this.#failure = error instanceof AppError ? error : away(error)
    this.#writer.forget(batches.map(({ call_sid }) => call_sid))
  }

  #logDropped(): void {
    if (this.#dropped === 0) return
    const fields = { dropped: this.#dropped }
    this.#options.log.error(fields, 'journal events were dropped while the database did not respond')
    this.#dropped = 0
  }
}

/**
 * The time that a commit takes, counted in steps: a main thread that is held up, and could not have seen the end of the
 * commit, is not taken for a database that does not respond.
 */
class CommitTime {
  readonly #clock: Clock
  #step: Timer | undefined
  #countedMs = 0

  constructor(clock: Clock) {
    this.#clock = clock
  }

  get isLate(): boolean {
    return this.#countedMs > lateMs
  }

  begin(): void {
    this.#step = this.#clock.after(stepMs, () => {
      this.#countedMs += stepMs
      this.begin()
    })
  }

  end(): void {
    this.#step?.cancel()
    this.#countedMs = 0
  }
}

function away(cause?: unknown): AppError {
  return new AppError('database_unavailable', 'the database does not take what must be kept of calls', {
    cause,
  })
}

/** Reports whether the batch has nothing but journal events, without which records and hooks are still complete. */
function hasOnlyEvents({ record, ended, notifications, recordings = [] }: CallBatch): boolean {
  return record === undefined && ended !== true && notifications.length + recordings.length === 0
}

/**
 * Reports whether a batch comes from code beside the call. Only the node that has the file of a recording can write
 * what becomes of it, also after another node has closed the call.
 */
function isBeside({ later }: CallBatch): boolean {
  return later !== undefined
}
