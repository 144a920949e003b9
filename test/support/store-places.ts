// The two stores that the platform runs on, each with a new place for one test: a file of its own, or a database of its
// own on the server that the test run shares.
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { DatabaseSync } from 'node:sqlite'
import { join } from 'node:path'
import { systemClock } from '../../src/lib/clock.ts'
import { silentLogger } from '../../src/lib/log.ts'
import { migrate } from '../../src/storage/database/migrate.ts'
import { openSqlite } from '../../src/storage/sqlite/sqlite.ts'
import { createMigratedDatabase } from './postgres-databases.ts'
import type { StoreReader } from './store-reader.ts'

export type StoreName = 'SQLite' | 'PostgreSQL'

export interface StorePlace {
  /** The URL of the database; undefined for the embedded one, which is in the data folder. */
  readonly url: string | undefined
  /** Runs a statement past the storage, as an intruder in the database would. */
  query(sql: string): Promise<Record<string, unknown>[]>
  /** Opens a separate connection for many statements that only read. */
  openReader(): Promise<StoreReader>
  /** Returns everything that is stored, as a thief of the disk would read it. */
  contents(): Promise<string>
  /** Closes every connection to it and removes what is outside the data folder. */
  remove(): Promise<void>
}

declare module 'vitest' {
  interface ProvidedContext {
    /** The store for the data of this project's tests (vitest.config.ts). */
    readonly store: StoreName
  }
}

export const storePlaces: Readonly<Record<StoreName, (dataDir: string) => Promise<StorePlace>>> = {
  async SQLite(dataDir) {
    await copyMigratedFile(dataDir)
    return sqlitePlace(dataDir)
  },
  PostgreSQL: createMigratedDatabase,
}

const databaseFile = 'switchhook.db'
let migratedFile: Promise<Buffer> | undefined

/** Copies a file with tables and no rows: making them is half of a start of storage, and some hundred tests do that. */
export async function copyMigratedFile(dataDir: string): Promise<void> {
  migratedFile ??= makeMigratedFile()
  await writeFile(join(dataDir, databaseFile), await migratedFile, { mode: 0o600 })
}

async function makeMigratedFile(): Promise<Buffer> {
  const directory = await mkdtemp(join(tmpdir(), 'switchhook-migrated-'))
  const path = join(directory, databaseFile)
  try {
    const database = await openSqlite({ path, clock: systemClock, log: silentLogger, migrate })
    // Closing leaves no other files beside it.
    await database.close()
    return await readFile(path)
  } finally {
    await rm(directory, { recursive: true })
  }
}

function sqlitePlace(dataDir: string): StorePlace {
  return {
    url: undefined,
    async query(sql) {
      const file = new DatabaseSync(join(dataDir, databaseFile))
      try {
        return file.prepare(sql).all()
      } finally {
        file.close()
      }
    },
    async openReader() {
      const file = new DatabaseSync(join(dataDir, databaseFile), { readOnly: true })
      return {
        query: async (sql) => file.prepare(sql).all(),
        close: async () => file.close(),
      }
    },
    async contents() {
      const names = [databaseFile, `${databaseFile}-wal`]
      const files = await Promise.all(names.map((name) => readFile(join(dataDir, name), 'latin1')))
      return files.join('')
    },
    remove: () => Promise.resolve(),
  }
}
