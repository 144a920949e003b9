// Recordings of calls: the rows that calls write, in the transaction of their events, and the queries for storing.
import type { Kysely } from 'kysely'
import type {
  RecordingChange,
  RecordingNotice,
  RecordingStore,
  StoredRecording,
} from '../../contracts/recording.ts'
import type { Clock } from '../../lib/clock.ts'
import type { Logger } from '../../lib/log.ts'
import type { Database, Session } from '../database/database.ts'
import { createPreparedCache, prepare, prepareInsert, rowSlot, slot } from '../database/prepared.ts'
import type { Vault } from '../secrets.ts'
import type { Schema } from '../tables.ts'
import { createExpiredRecordings } from './expired-recordings.ts'
import { createLostRecordings } from './lost-recordings.ts'

/**
 * The delay before a recording is stored. The rest of the call is written a moment after its end, and must precede the
 * events that follow from the recording.
 */
const storeAfterMs = 1000

export type WriteRecording = (
  session: Session,
  call: { readonly call_sid: string; readonly account_sid: string },
  change: RecordingChange,
) => Promise<void>

const placeOf = (call_sid: string) => ({ table: 'recordings', row: call_sid, column: 'notice' })

export function createRecordingWriter(db: Kysely<Schema>, vault: Vault): WriteRecording {
  const queries = createWriteQueries(db)
  return async (session, { call_sid, account_sid }, change) => {
    if (change.change === 'begun') {
      const { key, format, spool, at, notice } = change
      await queries.begin(session, {
        ...{ call_sid, account_sid, key, format, spool, state: 'recording', place: null, bytes: 0 },
        ...{ duration_ms: 0, attempts: 0, next_attempt_at: null, started_at: at, ended_at: null },
        ...{ stored_at: null, reason: null },
        notice: notice === undefined ? null : vault.seal(JSON.stringify(notice), placeOf(call_sid)),
      })
    } else if (change.change === 'ended') {
      const { bytes, durationMs, reason = null, at } = change
      const due = at + storeAfterMs
      await queries.end.all(session, { call_sid, bytes, duration_ms: durationMs, reason, at, due })
    } else if (change.change === 'stored') {
      const { place, bytes, at } = change
      await queries.store.all(session, { call_sid, place, bytes, at })
    } else {
      await queries.fail.all(session, { call_sid, reason: change.reason })
    }
  }
}

function createWriteQueries(db: Kysely<Schema>) {
  const update = db.updateTable('recordings').where('call_sid', '=', slot('call_sid'))
  return {
    begin: prepareInsert(db, 'recordings', (query) => query.onConflict((conflict) => conflict.doNothing())),
    end: prepare(
      update.where('state', '=', 'recording').set({
        state: 'waiting',
        bytes: slot('bytes'),
        duration_ms: slot('duration_ms'),
        reason: slot('reason'),
        ended_at: slot('at'),
        next_attempt_at: slot('due'),
      }),
    ),
    store: prepare(
      update.set({
        state: 'stored',
        place: slot('place'),
        bytes: slot('bytes'),
        stored_at: slot('at'),
        next_attempt_at: null,
        notice: null,
      }),
    ),
    // A node that was away for long may have stored the recording while another one reported it as lost.
    fail: prepare(
      update
        .where('state', 'in', ['recording', 'waiting'])
        .set({ state: 'failed', reason: slot('reason'), next_attempt_at: null, notice: null }),
    ),
  }
}

export interface RecordingStoreOptions {
  readonly database: Database
  readonly vault: Vault
  readonly clock: Clock
  readonly log: Logger
}

export function createRecordingStore(options: RecordingStoreOptions): RecordingStore {
  const { database, clock } = options
  const queries = createQueries(database)
  const expired = createExpiredRecordings(database)
  const lost = createLostRecordings(database)
  const read = (rows: readonly object[]): readonly StoredRecording[] =>
    rows.map((row) => toRecording(row as Schema['recordings'], options))
  const change = (work: (session: Session) => Promise<unknown>): Promise<void> =>
    database.commitBeside(async (session) => void (await work(session)))

  return {
    async find(call_sid) {
      const [found] = read(await queries.find.all(database.reader, { call_sid }))
      return found
    },
    async claim(spool, { limit, leaseMs, except }) {
      const now = clock.now()
      const named = Object.fromEntries(except.map((account, index) => [`except_${index}`, account]))
      const values = { spool, limit, now, until: now + leaseMs, ...named }
      const claim = queries.claim(except.length)
      return read(await database.commitBeside((session) => claim.all(session, values)))
    },
    renew: (call_sid, leaseMs) =>
      change((session) => queries.renew.all(session, { call_sid, until: clock.now() + leaseMs })),
    retry: (call_sid, at, reason) =>
      change((session) => queries.retry.all(session, { call_sid, at, reason: reason.slice(0, 500) })),
    hasten: (spool, account_sid) =>
      change((session) =>
        account_sid === undefined
          ? queries.hastenAll.all(session, { spool, now: clock.now() })
          : queries.hasten.all(session, { spool, account_sid, now: clock.now() }),
      ),
    async keptBytes(account_sid) {
      const [row] = await queries.kept.all(database.reader, { account_sid })
      return Number(row?.['bytes'] ?? 0)
    },
    async waitingBytes(spool, account_sid) {
      const [row] = await queries.waiting.all(database.reader, { spool, account_sid })
      return Number(row?.['bytes'] ?? 0)
    },
    unfinished: async (spool) => read(await queries.unfinished.all(database.reader, { spool })),
    expired: async (spool, before, page) =>
      read(await queries.expired.all(database.reader, { spool, before, ...page })),
    async claimLost(spool, claim) {
      const now = clock.now()
      return read(await database.commitBeside((session) => lost.claim(session, { ...claim, spool, now })))[0]
    },
    remove: (call_sid) => change((session) => queries.remove.all(session, { call_sid })),
    async claimExpired(spool, claim) {
      const rows = await database.commitBeside((session) =>
        expired.claim(session, { ...claim, spool, now: clock.now() }),
      )
      return read(rows)[0]
    },
    postponeExpired: (recording, wait) =>
      database.commitBeside((session) => expired.postpone(session, recording, { ...wait, now: clock.now() })),
  }
}

function toRecording(row: Schema['recordings'], options: RecordingStoreOptions): StoredRecording {
  return { ...row, notice: row.notice === null ? undefined : noticeOf(row.call_sid, row.notice, options) }
}

/** A notice that cannot be decrypted is left out: its recording is stored all the same, and holds up no other. */
function noticeOf(
  call_sid: string,
  sealed: string,
  { vault, log }: RecordingStoreOptions,
): RecordingNotice | undefined {
  try {
    return JSON.parse(vault.unseal(sealed, placeOf(call_sid))) as RecordingNotice
  } catch (error) {
    log.error({ err: error, call_sid }, 'the notification of a recording cannot be decrypted')
    return undefined
  }
}

// The most recordings examined in one pass.
const maxUnfinished = 200

function createQueries({ builder: db, rowLocks }: Database) {
  const once = createPreparedCache()
  const one = db.updateTable('recordings').where('call_sid', '=', slot('call_sid'))
  const waiting = db
    .updateTable('recordings')
    .set({ next_attempt_at: slot('now') })
    .where('spool', '=', slot('spool'))
    .where('state', '=', 'waiting')
  return {
    find: prepare(db.selectFrom('recordings').selectAll().where('call_sid', '=', slot('call_sid'))),
    claim: (except: number) =>
      once(`claim ${except}`, () => {
        const others = Array.from({ length: except }, (_, index) => slot(`except_${index}`))
        let due = db
          .selectFrom('recordings')
          .select('call_sid')
          .where('spool', '=', slot('spool'))
          .where('next_attempt_at', '<=', slot('now'))
          .where('state', '=', 'waiting')
          .orderBy('next_attempt_at')
          .limit(rowSlot('limit'))
        if (except > 0) due = due.where('account_sid', 'not in', others)
        return db
          .with('due', () => rowLocks?.skip(due) ?? due)
          .updateTable('recordings')
          .set({ next_attempt_at: slot('until') })
          .where('call_sid', 'in', (eb) => eb.selectFrom('due').select('due.call_sid'))
          .returningAll()
      }),
    renew: prepare(one.set({ next_attempt_at: slot('until') }).where('state', '=', 'waiting')),
    retry: prepare(
      one
        .set((eb) => ({
          next_attempt_at: slot('at'),
          reason: slot('reason'),
          attempts: eb('attempts', '+', 1),
        }))
        .where('state', '=', 'waiting'),
    ),
    hastenAll: prepare(waiting),
    hasten: prepare(waiting.where('account_sid', '=', slot('account_sid'))),
    kept: prepare(
      db
        .selectFrom('recordings')
        .select((eb) => eb.fn.sum('bytes').as('bytes'))
        .where('account_sid', '=', slot('account_sid'))
        .where('place', '=', 'disk'),
    ),
    waiting: prepare(
      db
        .selectFrom('recordings')
        .select((eb) => eb.fn.sum('bytes').as('bytes'))
        .where('account_sid', '=', slot('account_sid'))
        .where('spool', '=', slot('spool'))
        .where('state', '=', 'waiting'),
    ),
    unfinished: prepare(
      db
        .selectFrom('recordings')
        .selectAll()
        .where('spool', '=', slot('spool'))
        .where('state', '=', 'recording')
        .orderBy('started_at')
        .orderBy('call_sid')
        .limit(maxUnfinished),
    ),
    expired: prepare(
      db
        .selectFrom('recordings')
        .selectAll()
        .where('spool', '=', slot('spool'))
        .where('state', '=', 'stored')
        .where('place', '=', 'disk')
        .where('started_at', '<', slot('before'))
        .orderBy('started_at')
        .orderBy('call_sid')
        .limit(rowSlot('limit'))
        .offset(rowSlot('skip')),
    ),
    remove: prepare(db.deleteFrom('recordings').where('call_sid', '=', slot('call_sid'))),
  }
}
