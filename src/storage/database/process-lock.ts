// The lock that lets only one process at a time work on an embedded database. Two would both deliver the notifications
// in its outbox, and each would treat the other's live calls as those of a killed process.
import { dirname } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { StartError } from '../../lib/start-error.ts'

export interface ProcessLock {
  release(): void
}

const busyCode = 5

/** Takes the lock until it is released or the process ends in any way: the operating system holds it, on the file. */
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
