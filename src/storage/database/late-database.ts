// A database that exists before it is opened, so that every store is bound to it once, when the platform is built.
import type { Database } from './database.ts'

export interface LateDatabase extends Database {
  open(): Promise<void>
}

/** The properties of a database that do not depend on whether it is open: its SQL dialect and its locking. */
export type DatabaseKind = Pick<
  Database,
  'builder' | 'isShared' | 'rowLocks' | 'matchesPattern' | 'nextIds' | 'timeOf' | 'brokenRule'
>

/** The operations that need an open database. */
export type OpenDatabase = Omit<Database, keyof DatabaseKind>

export function createLateDatabase(kind: DatabaseKind, open: () => Promise<OpenDatabase>): LateDatabase {
  let opened: OpenDatabase | undefined

  function use<R>(work: (database: OpenDatabase) => Promise<R>): Promise<R> {
    return opened === undefined ? Promise.reject(new Error('storage is not running')) : work(opened)
  }

  return {
    ...kind,
    reader: { all: (sql, parameters) => use(({ reader }) => reader.all(sql, parameters)) },
    slowReader: { all: (sql, parameters) => use(({ slowReader }) => slowReader.all(sql, parameters)) },
    pulse: { all: (sql, parameters) => use(({ pulse }) => pulse.all(sql, parameters)) },
    commit: (work) => use((database) => database.commit(work)),
    commitBeside: (work) => use((database) => database.commitBeside(work)),
    durable: () => use((database) => database.durable()),
    async open() {
      opened = await open()
    },
    async close() {
      const closing = opened
      opened = undefined
      await closing?.close()
    },
  }
}
