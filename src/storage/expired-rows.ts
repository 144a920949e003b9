// Removes what has outlived its time, a few rows at a time: each batch is a short transaction, so no writer waits long.
import { sql } from 'kysely'
import type { Kysely } from 'kysely'
import type { Clock } from '../lib/clock.ts'
import type { Database, Session } from './database/database.ts'
import { prepare, slot } from './database/prepared.ts'
import type { Prepared } from './database/prepared.ts'
import type { Schema } from './tables.ts'

/** Removes up to `limit` rows, the oldest first, and returns how many it has removed. */
export interface ExpiredRows {
  /** Entries of the delivery log settled before `before`. */
  deliveries(before: number, limit: number): Promise<number>
  sessions(limit: number): Promise<number>
  idempotencyKeys(limit: number): Promise<number>
  /** Names that no carrier has called since `before`. */
  carrierHosts(before: number, limit: number): Promise<number>
  /** Of every node, those included that do not come back. */
  registrations(limit: number): Promise<number>
  alerts(before: number, limit: number): Promise<number>
  /** Calls before `before`: records and journals. */
  calls(before: number, limit: number): Promise<number>
}

export function createExpiredRows(database: Database, clock: Clock): ExpiredRows {
  const queries = createQueries(database.builder)
  const remove = async (query: Prepared, before: number, limit: number): Promise<number> =>
    (await database.commitBeside((session) => query.all(session, { before, limit }))).length
  // What expires at this moment has expired.
  const now = (): number => clock.now() + 1
  return {
    deliveries: (before, limit) => remove(queries.deliveries, before, limit),
    sessions: (limit) => remove(queries.sessions, now(), limit),
    idempotencyKeys: (limit) => remove(queries.idempotencyKeys, now(), limit),
    carrierHosts: (before, limit) => remove(queries.carrierHosts, before, limit),
    registrations: (limit) => remove(queries.registrations, now(), limit),
    alerts: (before, limit) => remove(queries.alerts, before, limit),
    calls: (before, limit) =>
      database.commitBeside((session) => removeCalls(session, queries, before, limit)),
  }
}

async function removeCalls(
  session: Session,
  queries: ReturnType<typeof createQueries>,
  before: number,
  limit: number,
): Promise<number> {
  const recorded = await queries.recorded.all(session, { before, limit })
  const unrecorded = await queries.unrecorded.all(session, { before, limit: limit - recorded.length })
  const removed = [...recorded, ...unrecorded]
  for (const row of removed) await queries.journal.all(session, { call_sid: String(row['call_sid']) })
  return removed.length
}

function createQueries(db: Kysely<Schema>) {
  return {
    deliveries: oldest(db, 'delivery_log', ['id'], 'settled_at'),
    sessions: oldest(db, 'user_sessions', ['user_session_sid'], 'expires_at'),
    carrierHosts: oldest(db, 'carrier_hosts', ['carrier_host_sid'], 'called_at'),
    idempotencyKeys: oldest(db, 'idempotency_keys', ['principal', 'key'], 'expires_at'),
    registrations: oldest(db, 'registrations', ['node', 'aor', 'key'], 'expires_at'),
    alerts: oldest(db, 'alerts', ['alert_sid'], 'time'),
    // In one statement, as records are written: the counts that it locks are locked in order.
    recorded: oldest(db, 'recent_calls', ['call_sid'], 'attempted_at'),
    unrecorded: oldest(db, 'unrecorded_calls', ['call_sid'], 'ended_at'),
    journal: prepare(db.deleteFrom('call_journal').where('call_sid', '=', slot('call_sid'))),
  }
}

// The tables differ only by name and columns, which are checked above.
type AnyTable = Record<string, Record<string, never>>

function oldest<T extends keyof Schema>(
  db: Kysely<Schema>,
  table: T,
  key: readonly (keyof Schema[T] & string)[],
  time: keyof Schema[T] & string,
): Prepared {
  const any = db as unknown as Kysely<AnyTable>
  const name: string = table
  const old = any
    .selectFrom(`${name} as old`)
    .select(key.map((column) => `old.${column}`))
    .where(`old.${time}`, '<', slot('before'))
    .orderBy(`old.${time}`)
    .limit(slot('limit'))
  return prepare(
    any
      .deleteFrom(name)
      .where((eb) => eb(sql`(${sql.join(key.map((column) => sql.ref(column)))})`, 'in', old as never))
      .returning([...key]),
  )
}
