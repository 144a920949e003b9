// The database: whether it can be read with the key of the settings.
import type { Check } from './doctor.ts'
import { note, ok } from './doctor.ts'
import type { StorageLook } from '../storage/look.ts'

/** What other checks read of the rows; undefined where there is none yet. Rejects where the database cannot be read. */
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

/** Those of other checks: the failure is the finding of the database's. */
export async function rowsIfAny(rows: Rows): Promise<StorageLook | undefined> {
  return rows().catch(() => undefined)
}
