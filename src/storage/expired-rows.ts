// The removal of expired rows, a few at a time: each batch is a short transaction, so no writer waits long.
import { sql, type Kysely } from 'kysely'
import type { Database, Session } from './database/database.ts'
import { createPreparedCache, prepare, rowSlot, slot } from './database/prepared.ts'
import type { Schema } from './tables.ts'

/**
 * Tables with expiring rows, and their time column. With `recent_calls` journals go too; `recordings` are only marked.
 */
const expiring = {
  idempotency_keys: { key: ['principal', 'key'], time: 'expires_at' },
  user_sessions: { key: ['user_session_sid'], time: 'expires_at' },
  // Registrations of every node, also of nodes that do not come back.
  registrations: { key: ['node', 'aor', 'key'], time: 'expires_at' },
  // Host names that no carrier has called since.
  carrier_hosts: { key: ['carrier_host_sid'], time: 'called_at' },
  alerts: { key: ['alert_sid'], time: 'time' },
  delivery_log: { key: ['id'], time: 'settled_at' },
  recent_calls: { key: ['call_sid'], time: 'attempted_at' },
  unrecorded_calls: { key: ['call_sid'], time: 'ended_at' },
  recordings: { key: ['call_sid'], time: 'started_at' },
} as const satisfies { readonly [T in keyof Schema]?: Expiring<T> }

interface Expiring<T extends keyof Schema> {
  readonly key: readonly (keyof Schema[T])[]
  readonly time: keyof Schema[T]
}

/** `refused_calls`: the records of inbound calls that the platform refused before an answer, with their journals. */
export type ExpiringTable = keyof typeof expiring | 'refused_calls'

export interface ExpiredRows {
  /** Removes up to `limit` rows from before `before`, the oldest first, and returns the number removed. */
  remove(table: ExpiringTable, before: number, limit: number): Promise<number>
}

export function createExpiredRows(database: Database): ExpiredRows {
  const { builder } = database
  const once = createPreparedCache()
  const removeFrom = (session: Session, table: keyof typeof expiring, before: number, limit: number) =>
    once(table, () => oldest(builder, table, expiring[table])).all(session, { before, limit })
  const journal = prepare(builder.deleteFrom('call_journal').where('call_sid', '=', slot('call_sid')))

  /** Removes call records in one statement, as they are written, so that the counts they lock are locked in order. */
  async function removeCalls(session: Session, before: number, limit: number): Promise<number> {
    const recorded = await removeFrom(session, 'recent_calls', before, limit)
    const unrecorded = await removeFrom(session, 'unrecorded_calls', before, limit - recorded.length)
    return removeJournals(session, [...recorded, ...unrecorded])
  }

  async function removeJournals(
    session: Session,
    calls: readonly Readonly<Record<string, unknown>>[],
  ): Promise<number> {
    for (const { call_sid } of calls) await journal.all(session, { call_sid: String(call_sid) })
    return calls.length
  }

  const refused = prepare(oldestRefused(builder))
  const recordings = recordingQueries(builder)

  /**
   * Marks stored recordings as expired, for removal by a process that reaches them. Others expire once they are stored.
   */
  async function expireRecordings(session: Session, before: number, limit: number): Promise<number> {
    const failed = await recordings.forget.all(session, { before, limit })
    const stored = await recordings.expire.all(session, { before, limit: limit - failed.length })
    return failed.length + stored.length
  }

  return {
    remove: (table, before, limit) =>
      database.commitBeside(async (session) => {
        if (table === 'recent_calls') return removeCalls(session, before, limit)
        if (table === 'refused_calls')
          return removeJournals(session, await refused.all(session, { before, limit }))
        if (table === 'recordings') return expireRecordings(session, before, limit)
        return (await removeFrom(session, table, before, limit)).length
      }),
  }
}

function recordingQueries(db: Kysely<Schema>) {
  const old = (state: 'failed' | 'stored') =>
    db
      .selectFrom('recordings')
      .select('call_sid')
      .where('state', '=', state)
      .where('started_at', '<', slot('before'))
      .orderBy('started_at')
      .limit(rowSlot('limit'))
  return {
    forget: prepare(db.deleteFrom('recordings').where('call_sid', 'in', old('failed')).returning('call_sid')),
    expire: prepare(
      db
        .updateTable('recordings')
        .set({ state: 'expired', attempts: 0, next_attempt_at: 0, reason: null })
        .where('call_sid', 'in', old('stored'))
        .returning('call_sid'),
    ),
  }
}

// Literals: with values in their place, SQLite would not use the index `recent_calls_refused`.
function oldestRefused(db: Kysely<Schema>) {
  const old = db
    .selectFrom('recent_calls')
    .select('call_sid')
    .where(sql<boolean>`direction = 'inbound' and answered = 0 and failure is not null`)
    .where('attempted_at', '<', slot('before'))
    .orderBy('attempted_at')
    .limit(rowSlot('limit'))
  return db.deleteFrom('recent_calls').where('call_sid', 'in', old).returning('call_sid')
}

// The tables differ only by name and columns, which are checked above.
type AnyTable = Record<string, Record<string, never>>

function oldest(
  db: Kysely<Schema>,
  table: string,
  { key, time }: { readonly key: readonly string[]; readonly time: string },
) {
  const any = db as unknown as Kysely<AnyTable>
  const old = any
    .selectFrom(`${table} as old`)
    .select(key.map((column) => `old.${column}`))
    .where(`old.${time}`, '<', slot('before'))
    .orderBy(`old.${time}`)
    .limit(slot('limit'))
  return any
    .deleteFrom(table)
    .where((eb) => eb(sql`(${sql.join(key.map((column) => sql.ref(column)))})`, 'in', old as never))
    .returning([...key])
}
