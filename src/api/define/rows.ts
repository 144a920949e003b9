// Rows and repositories as the generic code sees them: by table and column name.
// Declarations are checked against the row types; below this line all tables are alike.
import { descriptorOf } from '../../storage/rows/descriptors.ts'
import type { ListOptions, Repositories, Repository, Row, TableName } from '../../storage/storage.ts'
import type { Cell } from './field.ts'

export type Cells = Record<string, Cell | undefined>
export type HookRow = Row<'webhooks'>

export interface AnyRepository {
  find(sid: string): Promise<Cells | undefined>
  findMany(sids: readonly string[]): Promise<Cells[]>
  list(options?: AnyListOptions): Promise<Cells[]>
  count(options?: Pick<AnyListOptions, 'where' | 'contains'>): Promise<number>
  insert(row: Cells): Promise<Cells>
  update(sid: string, changes: Cells): Promise<boolean>
  remove(sid: string): Promise<boolean>
}

export interface AnyListOptions {
  readonly where?: Cells
  readonly contains?: { readonly column: string; readonly text: string }
  readonly orderBy?: readonly string[]
  readonly limit?: number
  readonly offset?: number
  readonly after?: string
}

/** The one place where the types of a table are let go. */
export function repositoryOf(rows: Repositories, table: TableName): AnyRepository {
  return rows[table] as unknown as AnyRepository
}

export function rowOf<T extends TableName>(cells: Cells): Row<T> {
  return cells as unknown as Row<T>
}

export function keyOf(table: TableName): string {
  return descriptorOf(table).key
}

export type { ListOptions, Repositories, Repository, Row, TableName }
