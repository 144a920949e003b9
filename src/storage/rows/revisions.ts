// Counts the changes of each table, so that what rests on a few of them is read again only when those have changed.
import type { TableName } from './rows.ts'

export interface Revisions {
  /** Rises with each change of one of the tables; of any table when none is named. */
  of(tables?: readonly TableName[]): number
  /** As `of`, without new rows: what was read of others is as it was. */
  ofKnown(tables: readonly TableName[]): number
  /** Undefined when it is not known what was written. */
  raise(changed: ChangedTables | undefined): void
}

export interface ChangedTables {
  readonly all: ReadonlySet<string>
  /** Those with rows that were there before. */
  readonly known: ReadonlySet<string>
}

export function createRevisions(): Revisions {
  const ofTable = new Map<string, number>()
  const ofKnown = new Map<string, number>()
  let all = 0
  let unknown = 0
  const sumOf = (counts: ReadonlyMap<string, number>, tables: readonly TableName[]): number =>
    tables.reduce((sum, table) => sum + (counts.get(table) ?? 0), unknown)
  return {
    of: (tables) => (tables === undefined ? all : sumOf(ofTable, tables)),
    ofKnown: (tables) => sumOf(ofKnown, tables),
    raise(changed) {
      all++
      if (changed === undefined) {
        unknown++
        return
      }
      for (const table of changed.all) ofTable.set(table, (ofTable.get(table) ?? 0) + 1)
      for (const table of changed.known) ofKnown.set(table, (ofKnown.get(table) ?? 0) + 1)
    },
  }
}
