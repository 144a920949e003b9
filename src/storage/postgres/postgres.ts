// PostgreSQL as the second store: the same schema, queries and guarantees, shared by several nodes.
// docs/decisions/0007-postgresql-and-sqlite.md says why transactions run one at a time here too.
import {
  DummyDriver,
  Kysely,
  PostgresAdapter,
  PostgresIntrospector,
  PostgresQueryCompiler,
  sql,
} from 'kysely'
import type { PoolClient } from 'pg'
import { sleep, type Clock } from '../../lib/clock.ts'
import { AppError } from '../../lib/errors.ts'
import type { Logger } from '../../lib/log.ts'
import type { Cells, Database, Parameter, Session } from '../database/database.ts'
import type { DatabaseKind } from '../database/late-database.ts'
import {
  brokenRule,
  isConnectionBroken,
  isRetryable,
  openPool,
  runOn,
  translated,
  type PostgresPool,
} from './postgres-pool.ts'
import { bringToVersion } from './postgres-schema.ts'
import { toPostgresStartError } from '../database/start-failure.ts'
import type { Schema } from '../tables.ts'
import { runInSession } from '../database/transaction-session.ts'
import { createWriteQueue } from '../database/write-queue.ts'

export interface PostgresOptions {
  readonly url: string
  readonly clock: Clock
  readonly log: Logger
  /** Runs inside one transaction, before anything else is served. */
  readonly migrate: (db: Kysely<Schema>) => Promise<void>
}

// Statements that may read many rows get connections of their own, so that they never block the others.
const maxSlowReads = 4

// A later response is of no use: by then other nodes consider this one dead.
const pulseTimeoutMs = 4000

// Advisory locks are pairs of integers, per database. The first integer identifies Switchhook.
const ourLocks = 0x5357_4843
const migrationLock = `pg_advisory_xact_lock(${ourLocks}, 1)`
const writeLock = `pg_advisory_xact_lock(${ourLocks}, 2)`

// Two nodes may lock in opposite order. The transaction that the server then aborts is run again.
const maxAttempts = 5

export function createPostgresKind(): DatabaseKind {
  const dialect = {
    createAdapter: () => new PostgresAdapter(),
    createDriver: () => new DummyDriver(),
    createIntrospector: (db: Kysely<unknown>) => new PostgresIntrospector(db),
    createQueryCompiler: () => new PostgresQueryCompiler(),
  }
  return {
    builder: new Kysely<Schema>({ dialect }),
    isShared: true,
    rowLocks: {
      wait: (query) => query.forUpdate(),
      skip: (query) => query.forUpdate().skipLocked(),
      keep: (query) => query.forKeyShare(),
    },
    async timeOf(session) {
      const [row] = await session.all(
        'select cast(extract(epoch from clock_timestamp()) * 1000 as bigint) as now',
        [],
      )
      return Number(row?.['now'])
    },
    async nextIds(session, count) {
      const rows = await session.all(
        "select nextval('outbox_ids') as id from generate_series(1, cast($1 as integer))",
        [count],
      )
      return rows.map(({ id }) => Number(id))
    },
    matchesPattern: (text, pattern) => sql`lower(${text}) like lower(${pattern}) escape '\\'`,
    brokenRule,
  }
}

export async function openPostgres({ url, clock, log, migrate }: PostgresOptions): Promise<Database> {
  const main = openPool({ url, name: 'switchhook', log })
  const slow = openPool({ url, name: 'switchhook reads', max: maxSlowReads, log })
  const pulse = openPool({
    url,
    name: 'switchhook pulse',
    max: 1,
    answerTimeoutMs: pulseTimeoutMs,
    log,
  })
  const queue = createWriteQueue()
  const close = async (): Promise<void> => {
    await queue.run(async () => undefined)
    await Promise.all([main.end(), slow.end(), pulse.end()])
  }
  try {
    await bringToVersion({ pool: main, lock: migrationLock, migrate, log })
  } catch (error) {
    await close()
    throw toPostgresStartError(error)
  }

  return {
    ...createPostgresKind(),
    reader: { all: main.query },
    slowReader: { all: slow.query },
    // Waiting for the lock here and not in the server leaves the other connections to the readers.
    commit: (work) => queue.run(() => transact(main, clock, work, `SELECT ${writeLock};`)),
    async commitBeside(work) {
      for (let attempt = 1; ; attempt++) {
        try {
          return await transact(main, clock, work)
        } catch (error) {
          if (attempt === maxAttempts || !isRetryable(error)) throw error
        }
      }
    },
    pulse: { all: pulse.query },
    // COMMIT returns when the transaction is on the server's disk, and on that of any synchronous standby.
    durable: () => Promise.resolve(),
    close,
  }
}

async function transact<R>(
  main: PostgresPool,
  clock: Clock,
  work: (session: Session) => Promise<R>,
  lock = '',
): Promise<R> {
  const client = createTransactionClient(await main.connect())
  let transaction: string
  let result: R
  try {
    transaction = await client.begin(lock)
    result = await runInSession(work, (sql, parameters) => client.run(sql, parameters), clock)
  } catch (error) {
    await client.rollBack()
    throw error
  }
  if (!(await client.commit()) && !(await wasCommitted(main, clock, transaction)))
    throw new AppError('database_unavailable', 'the database does not respond')
  return result
}

interface TransactionClient {
  /** Takes the lock and returns the transaction's number, in one round trip. */
  begin(lock: string): Promise<string>
  run(sql: string, parameters: readonly Parameter[]): Promise<Cells[]>
  /** Returns false when the connection broke: then only the server has the outcome. Gives the connection back. */
  commit(): Promise<boolean>
  /** Gives the connection back. */
  rollBack(): Promise<void>
}

function createTransactionClient(client: PoolClient): TransactionClient {
  let running = 0
  let isBroken = false

  async function guarded<R>(work: () => Promise<R>): Promise<R> {
    running++
    try {
      return await work()
    } catch (error) {
      isBroken ||= isConnectionBroken(error)
      throw translated(error)
    } finally {
      running--
    }
  }

  return {
    async begin(lock) {
      const text = `BEGIN; ${lock} SELECT pg_current_xact_id()::text AS id`
      const results: unknown = await guarded(() => client.query(text))
      // Several statements in one query return a list of results.
      const last = (results as readonly { readonly rows: readonly { readonly id: string }[] }[]).at(-1)
      return last?.rows[0]?.id ?? ''
    },
    run: (sql, parameters) => guarded(() => runOn(client, sql, parameters)),
    async commit() {
      try {
        await guarded(() => client.query('COMMIT'))
      } catch (error) {
        client.release(true)
        if (!isBroken) throw error
        return false
      }
      client.release()
      return true
    },
    async rollBack() {
      // A statement that still runs after its time limit ends only with its connection.
      let isUsable = !isBroken && running === 0
      if (isUsable) {
        await guarded(() => client.query('ROLLBACK')).catch(() => {
          isUsable = false
        })
      }
      client.release(!isUsable)
    },
  }
}

const outcomeWaitMs = 30_000
const outcomeEveryMs = 250

/** Asks the server for the outcome of a commit during which the connection broke. */
async function wasCommitted(main: PostgresPool, clock: Clock, transaction: string): Promise<boolean> {
  const until = clock.monotonic() + outcomeWaitMs
  while (clock.monotonic() < until) {
    try {
      const [row] = await main.query('select pg_xact_status(cast($1 as xid8)) as status', [transaction])
      if (row?.['status'] === 'committed') return true
      if (row?.['status'] === 'aborted') return false
    } catch {
      // The server is not back yet.
    }
    await sleep(outcomeEveryMs, clock)
  }
  throw new AppError(
    'database_unavailable',
    'the database does not respond; the outcome of the write is unknown',
  )
}
