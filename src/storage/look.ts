// Read-only access to the rows of a platform, running or not, that changes nothing: no table, no file, no lock.
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { systemTenancy } from '../contracts/caller.ts'
import { AppError } from '../lib/errors.ts'
import { StartError } from '../lib/start-error.ts'
import { keyCheck, wrongKey } from './key-check.ts'
import type { Session } from './database/database.ts'
import { createLateDatabase, type LateDatabase, type OpenDatabase } from './database/late-database.ts'
import { toFileStartError, toPostgresStartError } from './database/start-failure.ts'
import { createPostgresKind } from './postgres/postgres.ts'
import { openPool } from './postgres/postgres-pool.ts'
import { createRepositoryMaker } from './rows/repository.ts'
import { createVault, readKey } from './secrets.ts'
import { createSqliteKind } from './sqlite/sqlite.ts'
import { openConnection } from './sqlite/sqlite-connection.ts'
import type { RowStorage, StorageOptions } from './storage.ts'

export interface StorageLook extends Pick<RowStorage, 'for'> {
  /** Returns the time of the database's machine, in epoch ms. Undefined if that is this machine. */
  readonly now: (() => Promise<number>) | undefined
  close(): Promise<void>
}

/** Returns undefined if no platform was ever started here. Throws StartError. */
export async function lookAtStorage(options: Omit<StorageOptions, 'sync'>): Promise<StorageLook | undefined> {
  const { dataDir, databaseUrl, secretKey, clock } = options
  const path = join(dataDir, 'switchhook.db')
  if (databaseUrl === undefined && !existsSync(path)) return undefined
  const database = databaseUrl === undefined ? fileAt(path) : serverAt(databaseUrl, options)
  try {
    await database.open()
    if (!(await hasTables(database))) {
      await database.close()
      return undefined
    }
    const key = secretKey ?? (await keyIn(dataDir))
    const repositories = createRepositoryMaker(database, createVault(Buffer.from(key, 'hex')), clock)
    const rows: RowStorage['for'] = (tenancy) =>
      repositories.bind(tenancy, {
        reader: database.reader,
        write: () => Promise.reject(new Error('a look changes nothing')),
      })
    await demandKey(rows)
    const now = databaseUrl === undefined ? undefined : () => clockOf(database.reader)
    return { for: rows, now, close: () => database.close() }
  } catch (error) {
    await database.close()
    throw databaseUrl === undefined ? toFileStartError(error, dataDir) : toPostgresStartError(error)
  }
}

function fileAt(path: string): LateDatabase {
  return createLateDatabase(createSqliteKind(), async () => {
    // Without a log file no process has the database open: it is read as immutable, so that no log file is created.
    const isOpen = existsSync(`${path}-wal`)
    const place = isOpen ? path : `${pathToFileURL(path).href}?immutable=1`
    const connection = openConnection({ path: place, readOnly: true, synchronous: 'NORMAL' })
    const reader: Session = { all: async (sql, parameters) => connection.all(sql, parameters) }
    return { ...readOnly(reader), close: async () => connection.close() }
  })
}

function serverAt(url: string, { log }: Pick<StorageOptions, 'log'>): LateDatabase {
  return createLateDatabase(createPostgresKind(), async () => {
    const pool = openPool({ url, name: 'switchhook doctor', max: 2, answerTimeoutMs: 5000, log })
    return { ...readOnly({ all: pool.query }), close: () => pool.end() }
  })
}

function readOnly(reader: Session): Omit<OpenDatabase, 'close'> {
  const refuse = (): Promise<never> => Promise.reject(new Error('a look changes nothing'))
  return {
    reader,
    slowReader: reader,
    pulse: reader,
    commit: refuse,
    commitBeside: refuse,
    durable: () => Promise.resolve(),
  }
}

/** Reports whether the platform's tables exist. A database that was never used counts as none. */
async function hasTables({ reader, isShared }: LateDatabase): Promise<boolean> {
  const sql = isShared
    ? "select 1 as found where to_regclass('accounts') is not null"
    : "select 1 as found from sqlite_master where name = 'accounts'"
  return (await reader.all(sql, [])).length > 0
}

async function clockOf(reader: Session): Promise<number> {
  const [row] = await reader.all(
    'select cast(extract(epoch from clock_timestamp()) * 1000 as bigint) as now',
    [],
  )
  return Number(row?.['now'])
}

async function keyIn(dataDir: string): Promise<string> {
  const path = join(dataDir, 'secret.key')
  if (!existsSync(path))
    throw new StartError(
      `There is no ${path}, and the database has secrets: restore it from a backup, or set SWITCHHOOK_SECRET_KEY.`,
    )
  return readKey(path)
}

async function demandKey(rows: RowStorage['for']): Promise<void> {
  try {
    await rows(systemTenancy).settings.find(keyCheck.name)
  } catch (cause) {
    throw cause instanceof AppError ? cause : wrongKey(cause)
  }
}
