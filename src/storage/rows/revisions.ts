// A count of the changes of each table, so that data derived from a few tables is read again only when those change.
import type { TableName } from './rows.ts'

export interface Revisions {
  /** Returns a number that rises with each change of one of the tables, or of any table when none is named. */
  of(tables?: readonly TableName[]): number
  /** Like `of`, but ignores new rows, which leave data derived from older rows valid. */
  ofKnown(tables: readonly TableName[]): number
  /** Raises the revisions. `changed` is undefined when it is unknown which tables were written. */
  raise(changed: ChangedTables | undefined): void
}

export interface ChangedTables {
  readonly all: ReadonlySet<string>
  /** The tables in which rows that existed before were changed. */
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
