// Removes what nobody may use any more, a few rows at a time: each batch is a short transaction, so no writer waits.
import type { Clock } from '../lib/clock.ts'
import type { Database } from './database.ts'
import { prepare, slot } from './prepared.ts'
import type { Prepared } from './prepared.ts'

export interface ExpiredRows {
  /** Entries of the delivery log settled before `before`. These answer how many rows they have removed. */
  deliveries(before: number, limit: number): Promise<number>
  sessions(limit: number): Promise<number>
  idempotencyKeys(limit: number): Promise<number>
  /** Names that no carrier has called since `before`. */
  carrierHosts(before: number, limit: number): Promise<number>
  /** Of every node, those included that do not come back. */
  registrations(limit: number): Promise<number>
}

export function createExpiredRows(database: Database, clock: Clock): ExpiredRows {
  const queries = createQueries(database)
  const remove = async (query: Prepared, before: number, limit: number): Promise<number> =>
    (await database.commitBeside((session) => query.all(session, { before, limit }))).length
  return {
    deliveries: (before, limit) => remove(queries.deliveries, before, limit),
    sessions: (limit) => remove(queries.sessions, clock.now(), limit),
    idempotencyKeys: (limit) => remove(queries.idempotencyKeys, clock.now(), limit),
    carrierHosts: (before, limit) => remove(queries.carrierHosts, before, limit),
    registrations: (limit) => remove(queries.registrations, clock.now(), limit),
  }
}

function createQueries({ builder: db }: Database) {
  return {
    deliveries: prepare(
      db
        .deleteFrom('delivery_log')
        .where('id', 'in', (eb) =>
          eb
            .selectFrom('delivery_log as old')
            .select('old.id')
            .where('old.settled_at', '<', slot('before'))
            .orderBy('old.settled_at')
            .limit(slot('limit')),
        )
        .returning('id'),
    ),
    sessions: prepare(
      db
        .deleteFrom('user_sessions')
        .where('user_session_sid', 'in', (eb) =>
          eb
            .selectFrom('user_sessions as old')
            .select('old.user_session_sid')
            .where('old.expires_at', '<=', slot('before'))
            .orderBy('old.expires_at')
            .limit(slot('limit')),
        )
        .returning('user_session_sid'),
    ),
    carrierHosts: prepare(
      db
        .deleteFrom('carrier_hosts')
        .where('carrier_host_sid', 'in', (eb) =>
          eb
            .selectFrom('carrier_hosts as old')
            .select('old.carrier_host_sid')
            .where('old.called_at', '<', slot('before'))
            .orderBy('old.called_at')
            .limit(slot('limit')),
        )
        .returning('carrier_host_sid'),
    ),
    idempotencyKeys: prepare(
      db
        .deleteFrom('idempotency_keys')
        .where((eb) =>
          eb(
            eb.refTuple('principal', 'key'),
            'in',
            eb
              .selectFrom('idempotency_keys as old')
              .select(['old.principal', 'old.key'])
              .where('old.expires_at', '<=', slot('before'))
              .orderBy('old.expires_at')
              .limit(slot('limit'))
              .$asTuple('principal', 'key'),
          ),
        )
        .returning('key'),
    ),
    registrations: prepare(
      db
        .deleteFrom('registrations')
        .where((eb) =>
          eb(
            eb.refTuple('node', 'aor', 'key'),
            'in',
            eb
              .selectFrom('registrations as old')
              .select(['old.node', 'old.aor', 'old.key'])
              .where('old.expires_at', '<=', slot('before'))
              .orderBy('old.expires_at')
              .limit(slot('limit'))
              .$asTuple('node', 'aor', 'key'),
          ),
        )
        .returning('key'),
    ),
  }
}
