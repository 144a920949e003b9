// Rows as the rest of the platform reads and writes them: repositories bound to a tenancy, transactions, and in whose name.
import type { Asker } from '../../lib/asker.ts'
import type { Principal, Tenancy } from '../../contracts/caller.ts'
import type { Tables } from '../tables.ts'

export type TableName = keyof Tables
export type Row<T extends TableName> = Tables[T]

export interface ListOptions<T extends TableName> {
  /** Equality on columns; `null` matches NULL. All must hold. */
  readonly where?: Partial<Row<T>>
  /** Case-insensitive substring on one text column. */
  readonly contains?: { readonly column: keyof Row<T> & string; readonly text: string }
  /** Equality on one text column in any case of its letters; needs an index on `lower(column)` to be fast. */
  readonly alike?: { readonly column: keyof Row<T> & string; readonly text: string }
  readonly orderBy?: readonly (keyof Row<T> & string)[]
  readonly limit?: number
  readonly offset?: number
  /** Only rows whose key comes after this one; for lists in the order of their keys. */
  readonly after?: string
}

export type Filter<T extends TableName> = Pick<ListOptions<T>, 'where' | 'contains' | 'alike'>

/** Reads and writes one table, and only the rows the tenancy covers: the second wall behind the scopes of the API. */
export interface Repository<T extends TableName> {
  find(sid: string): Promise<Row<T> | undefined>
  /** In no order; rows that are missing or out of reach are left out. */
  findMany(sids: readonly string[]): Promise<Row<T>[]>
  list(options?: ListOptions<T>): Promise<Row<T>[]>
  count(options?: Filter<T>): Promise<number>
  /** Throws not_permitted when the row would lie outside the tenancy, duplicate when a unique column is taken. */
  insert(row: Partial<Row<T>>): Promise<Row<T>>
  /** False when there is no such row within the tenancy. Throws duplicate. */
  update(sid: string, changes: Partial<Row<T>>): Promise<boolean>
  remove(sid: string): Promise<boolean>
}

export type Repositories = { readonly [T in TableName]: Repository<T> }

/** In whose name rows are changed; without one the platform changes them. `reader` may change nothing. */
export type Maker = Actor | 'reader'

/** What the audit log says of the request that changed a row. */
export interface Actor {
  /** Undefined for a request without credentials. */
  readonly principal: Principal | undefined
  readonly request_id: string
  /** Where the request came from. */
  readonly address: string
}

export interface RowStorage {
  /** Once `asker` has gone, reads through them reject with `goneError`; changes are carried through. */
  for(tenancy: Tenancy, maker?: Maker, asker?: Asker): Repositories
  /** One transaction; resolves when it is durable. `work` awaits nothing but these repositories. */
  transaction<R>(
    tenancy: Tenancy,
    work: (repositories: Repositories) => Promise<R>,
    maker?: Maker,
  ): Promise<R>
}
