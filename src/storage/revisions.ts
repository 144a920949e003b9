// Counts the changes of each table, so that what rests on a few of them is read again only when those have changed.
import type { TableName } from './storage.ts'

export interface Revisions {
  /** Rises with each change of one of the tables; of any table when none is named. */
  of(tables?: readonly TableName[]): number
  /** Undefined when it is not known what was written. */
  raise(tables: ReadonlySet<string> | undefined): void
}

export function createRevisions(): Revisions {
  const ofTable = new Map<string, number>()
  let all = 0
  let unknown = 0
  return {
    of: (tables) =>
      tables === undefined ? all : tables.reduce((sum, table) => sum + (ofTable.get(table) ?? 0), unknown),
    raise(tables) {
      all++
      if (tables === undefined) unknown++
      else for (const table of tables) ofTable.set(table, (ofTable.get(table) ?? 0) + 1)
    },
  }
}
