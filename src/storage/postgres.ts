// PostgreSQL as the second store: the same schema, queries and guarantees, shared by several nodes.
// Why one transaction at a time here too: docs/decisions/0007-second-store.md.
import { Kysely, PostgresAdapter, PostgresDialect, sql } from 'kysely'
import type { Dialect, PostgresPool as KyselyPool } from 'kysely'
import type { PoolClient } from 'pg'
import type { Asker } from '../lib/asker.ts'
import { sleep } from '../lib/clock.ts'
import type { Clock } from '../lib/clock.ts'
import { AppError } from '../lib/errors.ts'
import type { Logger } from '../lib/log.ts'
import type { Cells, Database, Parameter, Readers, Session } from './database.ts'
import { brokenRule, isConnectionBroken, isRetryable, openPool, runOn, translated } from './postgres-pool.ts'
import type { PostgresPool } from './postgres-pool.ts'
import { toPostgresStartError } from './start-failure.ts'
import type { Schema } from './tables.ts'
import { runInSession } from './transaction-session.ts'
import { createWriteQueue } from './write-queue.ts'

export interface PostgresOptions {
  readonly url: string
  readonly clock: Clock
  readonly log: Logger
  /** Runs inside one transaction, before anything else is served. */
  readonly migrate: (db: Kysely<Schema>) => Promise<void>
}

// Statements that may read many rows get connections of their own, so that they never stand in the way of the others.
const maxSlowReads = 4

// An answer that comes later is of no use any more: by then other nodes take this one for dead.
const pulseTimeoutMs = 4000

// Pairs of integers in which advisory locks are counted per database. The first is ours alone.
const ourLocks = 0x5357_4843
const lockNumbers = { migration: 1, writes: 2 }

// Two nodes that met in opposite order: the one that was undone starts again.
const maxAttempts = 5

export async function openPostgres({ url, clock, log, migrate }: PostgresOptions): Promise<Database> {
  const main = openPool({ url, name: 'switchhook', clock, log })
  const slow = openPool({ url, name: 'switchhook reads', max: maxSlowReads, clock, log })
  const pulse = openPool({
    url,
    name: 'switchhook pulse',
    max: 1,
    answerTimeoutMs: pulseTimeoutMs,
    clock,
    log,
  })
  const queue = createWriteQueue()
  const builder = new Kysely<Schema>({ dialect: new PostgresDialect({ pool: main.pool }) })
  const close = async (): Promise<void> => {
    await queue.run(async () => undefined)
    await Promise.all([main.end(), slow.end(), pulse.end()])
  }
  try {
    await migrateOn(main, migrate)
  } catch (error) {
    await close()
    throw toPostgresStartError(error)
  }

  const readersFor = (asker: Asker | undefined): Readers => ({
    reader: { all: (sql, parameters) => main.query(sql, parameters, asker) },
    slowReader: { all: (sql, parameters) => slow.query(sql, parameters, asker) },
  })

  return {
    builder,
    ...readersFor(undefined),
    readersFor,
    // Waiting for the lock here and not at the server leaves the other connections to the readers.
    commit: (work) =>
      queue.run(() =>
        transact(main, clock, work, `SELECT pg_advisory_xact_lock(${ourLocks}, ${lockNumbers.writes});`),
      ),
    async commitBeside(work) {
      for (let attempt = 1; ; attempt++) {
        try {
          return await transact(main, clock, work)
        } catch (error) {
          if (attempt === maxAttempts || !isRetryable(error)) throw error
        }
      }
    },
    pulse: { all: (sql, parameters) => pulse.query(sql, parameters) },
    rowLocks: {
      wait: (query) => query.forUpdate(),
      skip: (query) => query.forUpdate().skipLocked(),
      keep: (query) => query.forKeyShare(),
    },
    hasNumberTable: false,
    async nextIds(session, count) {
      const rows = await session.all(
        "select nextval('outbox_ids') as id from generate_series(1, cast($1 as integer))",
        [count],
      )
      return rows.map(({ id }) => Number(id))
    },
    jsonOf: (cell) => sql<string>`coalesce(cast(to_json(${cell}) as text), 'null')`,
    // COMMIT answers when the server has it on its disk (and on that of a synchronous standby, where there is one).
    durable: () => Promise.resolve(),
    brokenRule,
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
    throw new AppError('database_unavailable', 'the database does not answer')
  return result
}

interface TransactionClient {
  /** Takes the lock and answers the transaction's number, in one round trip. */
  begin(lock: string): Promise<string>
  run(sql: string, parameters: readonly Parameter[]): Promise<Cells[]>
  /** False when the connection broke: then only the server knows. Gives the connection back. */
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
      // Several statements in one query answer a list of results.
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
      // A statement that still runs, after a timeout of ours, ends only with its connection.
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

/** The connection broke while it committed: only the server knows what came of it. */
async function wasCommitted(main: PostgresPool, clock: Clock, transaction: string): Promise<boolean> {
  const until = clock.monotonic() + outcomeWaitMs
  while (clock.monotonic() < until) {
    try {
      const [row] = await main.query('select pg_xact_status(cast($1 as xid8)) as status', [transaction])
      if (row?.['status'] === 'committed') return true
      if (row?.['status'] === 'aborted') return false
    } catch {
      // Not back yet.
    }
    await sleep(outcomeEveryMs, clock)
  }
  throw new AppError(
    'database_unavailable',
    'the database does not answer; the outcome of the write is unknown',
  )
}

async function migrateOn(main: PostgresPool, migrate: PostgresOptions['migrate']): Promise<void> {
  const client = await main.connect()
  try {
    // Another node that starts at the same time waits until the schema is there.
    await client.query(
      `BEGIN; SET LOCAL statement_timeout = 0; SET LOCAL lock_timeout = 0; SELECT pg_advisory_xact_lock(${ourLocks}, ${lockNumbers.migration})`,
    )
    await migrate(new Kysely<Schema>({ dialect: dialectOn(client) }))
    await client.query('COMMIT')
    client.release()
  } catch (error) {
    client.release(true)
    throw error
  }
}

/** One connection that is in a transaction already, and holds the lock. */
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
