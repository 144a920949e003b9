// One process at a time works on an embedded database: two would both deliver what is in its outbox, and each would take
// the other's live calls for those of a killed process.
import { dirname } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { StartError } from '../../lib/start-error.ts'

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
    throw new StartError(
      `Another process is running on the data directory ${dirname(path)}: stop it first, or name another directory in ` +
        'SWITCHHOOK_DATA_DIR.',
      { cause: error },
    )
  }
  return { release: () => database.close() }
}
