// Rows and repositories as the generic code sees them: by table and column name.
// Declarations are checked against the row types; below this line all tables are alike.
import type { Repositories, Row, RowRepository, TableName } from '../../storage/storage.ts'
import type { Cell } from './field.ts'

export type Cells = Record<string, Cell | undefined>

/** Drops the types of a table; nothing else does. */
export function repositoryOf(rows: Repositories, table: TableName): RowRepository<Cells> {
  return rows[table] as unknown as RowRepository<Cells>
}

export function rowOf<T extends TableName>(cells: Cells): Row<T> {
  return cells as unknown as Row<T>
}
