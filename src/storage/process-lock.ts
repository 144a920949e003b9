// One process at a time works on an embedded database: two would both deliver what is in its outbox, and each would take
// the other's live calls for those of a killed process.
import { DatabaseSync } from 'node:sqlite'
import { StorageStartError } from './startup-error.ts'

export interface ProcessLock {
  release(): void
}

const busyCode = 5

/** Holds until it is released or the process ends, however it ends: the lock is the operating system's, on the file. */
export function takeProcessLock(path: string): ProcessLock {
  const database = new DatabaseSync(path)
  try {
    database.exec('BEGIN EXCLUSIVE')
  } catch (error) {
    database.close()
    if (!(error instanceof Error && 'errcode' in error && error.errcode === busyCode)) throw error
    throw new StorageStartError(
      'Another process is running on this data directory. Stop it first, or name another directory in ' +
        'SWITCHHOOK_DATA_DIR; several processes share a database through SWITCHHOOK_DATABASE_URL.',
      { cause: error },
    )
  }
  return { release: () => database.close() }
}
