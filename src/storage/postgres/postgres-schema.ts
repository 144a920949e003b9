// The migration of a PostgreSQL database to this version, with the extension and index that the user's rights allow.
import {
  Kysely,
  PostgresAdapter,
  PostgresDialect,
  type Dialect,
  type PostgresPool as KyselyPool,
} from 'kysely'
import { DatabaseError, type PoolClient } from 'pg'
import type { Logger } from '../../lib/log.ts'
import { StartError } from '../../lib/start-error.ts'
import type { PostgresPool } from './postgres-pool.ts'
import type { Schema } from '../tables.ts'

export interface SchemaOptions {
  readonly pool: Pick<PostgresPool, 'connect'>
  /** The SQL that takes the migration lock, which one node at a time holds. */
  readonly lock: string
  readonly migrate: (db: Kysely<Schema>) => Promise<void>
  readonly log: Logger
}

export async function bringToVersion({ pool, lock, migrate, log }: SchemaOptions): Promise<void> {
  const client = await pool.connect()
  try {
    // Another node that starts at the same time waits here until the schema is ready.
    await client.query(`BEGIN; SET LOCAL statement_timeout = 0; SET LOCAL lock_timeout = 0; SELECT ${lock}`)
    await demandRights(client)
    await migrate(new Kysely<Schema>({ dialect: dialectOn(client) }))
    await indexNumbers(client, log)
    await client.query('COMMIT')
    client.release()
  } catch (error) {
    client.release(true)
    throw error
  }
}

/** Throws if the user may not create tables: since PostgreSQL 15, public requires owning the database or a grant. */
async function demandRights(client: PoolClient): Promise<void> {
  const { rows } = await client.query<{
    readonly role: string
    readonly schema: string
    readonly may: boolean
  }>(
    `SELECT current_user AS role, coalesce(current_schema(), 'public') AS schema,
      to_regclass('kysely_migration') IS NOT NULL
      OR has_schema_privilege(coalesce(current_schema(), 'public'), 'CREATE') AS may`,
  )
  const [rights] = rows
  if (rights === undefined || rights.may) return
  throw new StartError(
    `The user of SWITCHHOOK_DATABASE_URL may not create tables. Let an administrator of the database run: ` +
      `GRANT CREATE ON SCHEMA ${rights.schema} TO ${rights.role}`,
  )
}

// The codes for: no right to create it; not installed; installed in a schema where its operators are not found.
const unavailable = new Set(['42501', '0A000', '58P01', '42704'])

/**
 * Creates the index that finds parts of numbers among millions of call records. Without the extension they are
 * searched in the index that gives the order of a page, entry by entry. Every start tries this, since an administrator
 * may have created the extension since.
 */
async function indexNumbers(client: PoolClient, log: Logger): Promise<void> {
  await client.query('SAVEPOINT numbers')
  try {
    await client.query('CREATE EXTENSION IF NOT EXISTS pg_trgm')
    // In kilobytes. New entries wait in a list, and the writer that fills it sorts them into the index while others
    // wait. A short list takes milliseconds.
    await client.query(`CREATE INDEX IF NOT EXISTS recent_calls_by_number ON recent_calls
      USING gin (lower("from") gin_trgm_ops, lower("to") gin_trgm_ops)
      WITH (gin_pending_list_limit = 256)`)
  } catch (error) {
    if (!(error instanceof DatabaseError && unavailable.has(error.code ?? ''))) throw error
    await client.query('ROLLBACK TO SAVEPOINT numbers')
    log.warn(
      { err: error },
      'call records are searched by number without an index: let an administrator of the database run ' +
        'CREATE EXTENSION pg_trgm, then start again',
    )
  }
}

/** Returns a dialect over one connection that is already in a transaction and holds the lock. */
function dialectOn(client: PoolClient): Dialect {
  const only: KyselyPool = {
    connect: async () => ({
      query: client.query.bind(client) as Awaited<ReturnType<KyselyPool['connect']>>['query'],
      release: () => undefined,
    }),
    end: () => Promise.resolve(),
    options: {},
  }
  const dialect = new PostgresDialect({ pool: only })
  const adapter = Object.assign(new PostgresAdapter(), {
    acquireMigrationLock: () => Promise.resolve(),
    releaseMigrationLock: () => Promise.resolve(),
  })
  return {
    createAdapter: () => adapter,
    createDriver: () => dialect.createDriver(),
    createIntrospector: (db) => dialect.createIntrospector(db),
    createQueryCompiler: () => dialect.createQueryCompiler(),
  }
}
