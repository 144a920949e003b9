// The writer of the batches of many calls in one transaction: journal, open calls, outbox, call records.
import type { Kysely } from 'kysely'
import type { Clock } from '../../lib/clock.ts'
import { destinationOf } from '../../lib/destination.ts'
import type { Logger } from '../../lib/log.ts'
import { createCallWriteQueries } from './call-write-queries.ts'
import { encodeEvents, encodePayload } from './call-encoding.ts'
import { mergeBatches, type MergedBatch } from './call-batch.ts'
import type { CallBatch, Notification } from '../../contracts/call-record.ts'
import { createCallRecordWriter } from './call-record-writer.ts'
import { createLaterEvents } from './later-events.ts'
import { createRecordingWriter } from './recordings.ts'
import type { Cells, Database, RowLocks, Session } from '../database/database.ts'
import type { NodeLease } from '../nodes/node-lease.ts'
import { createPreparedCache, slot } from '../database/prepared.ts'
import type { Vault } from '../secrets.ts'
import type { Schema } from '../tables.ts'

export interface CallWriter {
  /** Returns the changes of the transaction to the state in memory, to be kept once it is committed. */
  write(session: Session, batches: readonly CallBatch[]): Promise<WrittenBatches>
  keep(written: WrittenBatches): void
  /** Drops the state of these calls, to be read from the database again: after a write of unknown outcome, say. */
  forget(calls: Iterable<string>): void
  /** Returns the calls that were written here and have not ended. */
  open(): Iterator<string> & Iterable<string>
  /** Reports whether the database holds something of the call that was not written here. */
  isForeign(call_sid: string): Promise<boolean>
  /** Reports whether a write of these batches, whose outcome was unknown, was committed. */
  isWritten(batches: readonly CallBatch[]): Promise<boolean>
}

export interface WrittenBatches {
  readonly calls: ReadonlyMap<string, CallState>
  readonly notifications: number
}

export interface CallWriterOptions {
  readonly database: Pick<Database, 'builder' | 'nextIds' | 'rowLocks' | 'reader'>
  readonly lease: Pick<NodeLease, 'nodeId' | 'demand'>
  readonly vault: Vault
  readonly clock: Clock
  readonly log: Logger
}

interface CallState {
  /** The sequence number of the last notification. */
  readonly sequence: number
  readonly isClosed: boolean
  /** The number of events numbered here and not by the call's own journal; undefined until that continues. */
  readonly shift: number | undefined
}

/** Returns the place of a stored dialog, to which its encryption is bound. */
export function dialogPlace(call_sid: string) {
  return { table: 'open_calls', row: call_sid, column: 'dialog' }
}

// A call that ended may still send a late notification. After this many others, its state is read from the database.
const maxEndedInMemory = 10_000

export function createCallWriter({ database, lease, vault, clock, log }: CallWriterOptions): CallWriter {
  const queries = createCallWriteQueries(database.builder)
  const writeRecords = createCallRecordWriter(database.builder)
  const writeRecording = createRecordingWriter(database.builder, vault)
  const laterEvents = createLaterEvents(database.builder)
  const lockLast = createLastLock(database)
  const known = new Map<string, CallState>()
  const ended = new Set<string>()
  let lastId: number | undefined

  async function stateOf(session: Session, batch: MergedBatch): Promise<CallState & { isNew: boolean }> {
    const state = known.get(batch.call_sid)
    if (state !== undefined) return { ...state, isNew: false }
    if (batch.events[0]?.seq === 1) return { sequence: 0, isClosed: false, shift: 0, isNew: true }
    const values = { call_sid: batch.call_sid }
    const [sent] = await queries.lastSequence.all(session, values)
    const [open] = await queries.findOpen.all(session, values)
    const [end] = await queries.findEnd.all(session, values)
    const sequence = Math.max(Number(sent?.['waiting'] ?? 0), Number(sent?.['settled'] ?? 0))
    const isClosed = end !== undefined
    return { sequence, isClosed, shift: undefined, isNew: open === undefined && !isClosed }
  }

  /**
   * Returns ids above all earlier ones, also of earlier runs. No id is reused, so a late settlement hits no other item.
   */
  async function nextOutboxIds(session: Session, count: number): Promise<number[]> {
    if (count === 0) return []
    if (database.nextIds !== undefined) return database.nextIds(session, count)
    if (lastId === undefined) {
      const [used] = await queries.lastId.all(session, {})
      lastId = Math.max(clock.now() * 1000, Number(used?.['waiting'] ?? 0), Number(used?.['settled'] ?? 0))
    }
    const first = lastId + 1
    lastId += count
    return Array.from({ length: count }, (_, index) => first + index)
  }

  async function writeOne(session: Session, batch: MergedBatch, ids: number[]): Promise<CallState> {
    const { call_sid, account_sid, notifications } = batch
    const before = await stateOf(session, batch)
    const created_at = clock.now()
    const shift = before.shift ?? (await laterEvents.shiftOf(session, batch))
    const events = await laterEvents.numbered(session, batch, shift ?? 0)
    // Events after the end of a call do not open it again.
    if (before.isNew && !batch.hasEnded && batch.events.length > 0)
      await queries.open(session, {
        call_sid,
        account_sid,
        created_at,
        node_id: lease.nodeId,
        alive_at: null,
        dialog: null,
      })
    if (batch.dialog !== undefined && !batch.hasEnded)
      await queries.keepDialog.all(session, {
        call_sid,
        dialog: vault.seal(batch.dialog, dialogPlace(call_sid)),
      })
    const [first] = events
    if (first !== undefined) {
      const values = {
        call_sid,
        account_sid,
        first_seq: first.seq,
        events: encodeEvents(events, (event, err) =>
          log.error({ err, call_sid, seq: event.seq, type: event.type }, 'journal event cannot be encoded'),
        ),
        created_at,
      }
      const written = await queries.journal(session, values)
      // A number that was used twice is a mistake of the engine; it must not cost the call its record.
      if (written.length === 0)
        log.error({ call_sid, first_seq: first.seq }, 'journal events were numbered twice')
    }
    for (const change of batch.recordings) await writeRecording(session, batch, change)
    let { sequence } = before
    for (const notification of notifications) {
      sequence++
      const id = ids.shift()
      if (id === undefined) throw new Error('a notification was given no id')
      await queries.enqueue.all(session, outboxValues(notification, id, sequence, created_at))
    }
    if (batch.hasEnded && !before.isNew) await queries.close.all(session, { call_sid })
    if (batch.hasEnded && batch.record === undefined)
      await queries.endUnrecorded(session, { call_sid, ended_at: created_at })
    return {
      sequence,
      isClosed: before.isClosed || batch.hasEnded,
      shift: shift === undefined ? undefined : shift + batch.later.length,
    }
  }

  function outboxValues(
    { account_sid, call_sid, hook, payload }: Notification,
    id: number,
    sequence: number,
    created_at: number,
  ): Cells {
    const { url, method, username } = hook
    const place = { table: 'outbox', row: String(id), column: 'password' }
    const password = hook.password === null ? null : vault.seal(hook.password, place)
    const common = { id, account_sid, call_sid, sequence, url, method, username, password, created_at }
    return { ...common, destination: destinationOf(url), payload: encodePayload(payload) }
  }

  return {
    async write(session, batches) {
      await lease.demand(session)
      const calls = new Map<string, CallState>()
      const merged = mergeBatches(batches)
      const notifying = merged.filter(({ notifications }) => notifications.length > 0)
      const notifications = notifying.reduce((sum, batch) => sum + batch.notifications.length, 0)
      await lockLast(
        session,
        notifying.map(({ call_sid }) => call_sid),
      )
      const ids = await nextOutboxIds(session, notifications)
      for (const batch of merged) calls.set(batch.call_sid, await writeOne(session, batch, ids))
      // Records come last, because the rows they lock are shared with other nodes until the commit.
      await writeRecords(
        session,
        merged.flatMap(({ record }) => record ?? []),
      )
      return { calls, notifications }
    },
    forget(calls) {
      for (const call_sid of calls) {
        known.delete(call_sid)
        ended.delete(call_sid)
      }
    },
    *open() {
      for (const [call_sid, { isClosed }] of known) if (!isClosed) yield call_sid
    },
    async isForeign(call_sid) {
      if (known.has(call_sid)) return false
      return (await queries.hasJournal.all(database.reader, { call_sid })).length > 0
    },
    async isWritten(batches) {
      // The transaction wrote all of them or none.
      const sign = batches.find(({ events, later = [] }) => events.length + later.length > 0)
      return sign !== undefined && (await laterEvents.isStored(database.reader, sign))
    },
    keep({ calls }) {
      for (const [call_sid, state] of calls) {
        known.set(call_sid, state)
        if (state.isClosed) ended.add(call_sid)
      }
      for (const call_sid of ended) {
        if (ended.size <= maxEndedInMemory) break
        ended.delete(call_sid)
        known.delete(call_sid)
      }
    },
  }
}

/**
 * Returns a function that locks the last waiting notification of each call and URL. A new notification is due
 * immediately unless another of its call waits for the same URL; settling that one makes the new one due. With
 * concurrent transactions, the lock holds that settling back until the new notification is there for it to find.
 */
function createLastLock({ builder, rowLocks }: Pick<Database, 'builder' | 'rowLocks'>) {
  if (rowLocks === undefined) return () => Promise.resolve()
  const once = createPreparedCache()
  return async (session: Session, calls: readonly string[]): Promise<void> => {
    if (calls.length === 0) return
    const lock = once(`${calls.length}`, () => lastOf(builder, calls.length, rowLocks))
    await lock.all(session, Object.fromEntries(calls.map((call, index) => [`call_${index}`, call])))
  }
}

/** Selects the rows in the order of ids, which is also the order in which settlements lock. */
function lastOf(builder: Kysely<Schema>, count: number, locks: RowLocks) {
  const calls = Array.from({ length: count }, (_, index) => slot(`call_${index}`))
  return locks.wait(
    builder
      .selectFrom('outbox')
      .select('id')
      .where('id', 'in', (eb) =>
        eb
          .selectFrom('outbox as last')
          .select((inner) => inner.fn.max('last.id').as('id'))
          .where('last.call_sid', 'in', calls)
          .groupBy(['last.call_sid', 'last.url']),
      )
      .orderBy('id'),
  )
}
