// The check that the database can be read with the key of the settings.
import { note, ok, type Check } from './doctor.ts'
import type { StorageLook } from '../storage/look.ts'

/**
 * The rows as other checks read them; resolves with undefined if there is no database yet. Rejects if it cannot be
 * read.
 */
export type Rows = () => Promise<StorageLook | undefined>

export function createDatabaseCheck(rows: Rows, name: 'SQLite' | 'PostgreSQL'): Check {
  return {
    name: 'database',
    look: async () => [
      (await rows()) === undefined
        ? note(`${name}: no platform was started with these settings yet`)
        : ok(`${name}: it can be read, and the key opens its secrets`),
    ],
  }
}

/** Returns rows for another check: a failure is the finding of the database's. */
export async function rowsIfAny(rows: Rows): Promise<StorageLook | undefined> {
  return rows().catch(() => undefined)
}
