// The embedded database: one file, one writer at a time, durable commits that never stall the main thread.
// docs/decisions/0002-durable-commits.md says why this is safe.
import { open, type FileHandle } from 'node:fs/promises'
import {
  DummyDriver,
  Kysely,
  sql,
  SqliteAdapter,
  SqliteDialect,
  SqliteIntrospector,
  SqliteQueryCompiler,
} from 'kysely'
import type { Clock } from '../../lib/clock.ts'
import type { Logger } from '../../lib/log.ts'
import { createCheckpoints } from './checkpoints.ts'
import type { Cells, Database, Session } from '../database/database.ts'
import { createGroupSync } from './group-sync.ts'
import type { DatabaseKind, OpenDatabase } from '../database/late-database.ts'
import { takeProcessLock } from '../database/process-lock.ts'
import { brokenRule, openConnection } from './sqlite-connection.ts'
import type { Schema } from '../tables.ts'
import { createThreadClient } from './thread-client.ts'
import { attempt, createTransactionGroups } from './transaction-groups.ts'
import { createWriteQueue } from '../database/write-queue.ts'

export interface SqliteOptions {
  readonly path: string
  readonly clock: Clock
  readonly log: Logger
  /** Runs inside one transaction, before anything else is served. */
  readonly migrate: (db: Kysely<Schema>) => Promise<void>
  /** A replacement for tests. The default is fdatasync of the log file, in the thread pool. */
  readonly sync?: ((log: FileHandle) => Promise<void>) | undefined
}

export function createSqliteKind(): DatabaseKind {
  const dialect = {
    createAdapter: () => new SqliteAdapter(),
    createDriver: () => new DummyDriver(),
    createIntrospector: (db: Kysely<unknown>) => new SqliteIntrospector(db),
    createQueryCompiler: () => new SqliteQueryCompiler(),
  }
  return {
    builder: new Kysely<Schema>({ dialect }),
    isShared: false,
    // One transaction runs at a time: no rows need locks, and the single writer numbers its rows itself.
    rowLocks: undefined,
    nextIds: undefined,
    timeOf: undefined,
    // LIKE in SQLite ignores the case of ASCII letters.
    matchesPattern: (text, pattern) => sql`${text} like ${pattern} escape '\\'`,
    brokenRule,
  }
}

export async function openSqlite(options: SqliteOptions): Promise<Database> {
  const lockPath = `${options.path}.lock`
  await reserveFile(lockPath)
  const lock = takeProcessLock(lockPath)
  try {
    const database = await openLocked(options)
    const close = (): Promise<void> => database.close().finally(() => lock.release())
    return { ...createSqliteKind(), ...database, close }
  } catch (error) {
    lock.release()
    throw error
  }
}

async function openLocked(options: SqliteOptions): Promise<OpenDatabase> {
  const { path, clock, log } = options
  await reserveFile(path)
  const writer = openConnection({ path, readOnly: false, synchronous: 'NORMAL' })
  const queue = createWriteQueue()
  const commitInGroup = createTransactionGroups({ writer, clock, queue })
  try {
    // The sort for an index over millions of records uses files; nothing else is that large.
    writer.exec('PRAGMA temp_store = FILE')
    const dialect = new SqliteDialect({ database: writer.forKysely })
    await commitInGroup(() => options.migrate(new Kysely<Schema>({ dialect })))
    writer.exec('PRAGMA temp_store = MEMORY')
  } catch (error) {
    writer.close()
    throw error
  }
  const reader = openConnection({ path, readOnly: true, synchronous: 'NORMAL' })

  // SQLite takes no lock on the log file, so closing this handle releases none (https://sqlite.org/howtocorrupt.html §2.2).
  const walFile = await open(`${path}-wal`, 'r+')
  const sync = options.sync ?? ((file: FileHandle) => file.datasync())
  const group = createGroupSync(() => sync(walFile))
  await group.synced()

  const checkpointThread = createThreadClient(path, 'checkpoints', log)
  const readThread = createThreadClient(path, 'reads', log)
  const checkpoints = createCheckpoints({
    clock,
    log,
    thread: checkpointThread,
    exclusively: (work) => queue.run(work),
    measure() {
      const [row] = reader.all('PRAGMA wal_checkpoint(NOOP)', [])
      const length = Math.max(0, Number(row?.['log'] ?? 0))
      return { length, behind: length - Math.max(0, Number(row?.['checkpointed'] ?? 0)) }
    },
  })

  async function commit<R>(work: (session: Session) => Promise<R>): Promise<R> {
    const result = await commitInGroup(work)
    checkpoints.committed()
    return result
  }

  const onMainThread: Session = {
    all: (statement, parameters) => attempt(() => reader.all(statement, parameters)),
  }

  return {
    reader: onMainThread,
    slowReader: {
      all: (statement, parameters) =>
        readThread.run({ kind: 'read', sql: statement, parameters }) as Promise<Cells[]>,
    },
    commit,
    // There is one writer, so concurrent transactions run one after another.
    commitBeside: commit,
    pulse: onMainThread,
    durable: () => group.synced(),
    async close() {
      await checkpoints.stop()
      // This is the last in the queue, so all earlier transactions are committed.
      await commitInGroup(async () => undefined).catch(() => undefined)
      await group.synced().catch((error: unknown) => log.error({ err: error }, 'last sync failed'))
      await Promise.all([checkpointThread.close(), readThread.close()])
      await walFile.close()
      reader.close()
      // The last connection to close copies the log into the database file and removes it.
      writer.close()
    },
  }
}

/** Creates the file readable by its owner only. The log files of the database take their mode from it. */
async function reserveFile(path: string): Promise<void> {
  try {
    await (await open(path, 'ax', 0o600)).close()
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'EEXIST')) throw error
  }
}
