// Rows as the rest of the platform reads and writes them: repositories bound to a tenancy, transactions, and in whose name.
import type { Principal, Tenancy } from '../../contracts/caller.ts'
import type { Tables } from '../tables.ts'

export type TableName = keyof Tables
export type Row<T extends TableName> = Tables[T]

/** How rows of this form are found. */
export interface Filter<R> {
  /** Equality on columns; `null` matches NULL. All must hold. */
  readonly where?: Partial<R>
  /** Case-insensitive substring on one text column. */
  readonly contains?: { readonly column: keyof R & string; readonly text: string }
  /** Equality on one text column in any case of its letters; needs an index on `lower(column)` to be fast. */
  readonly alike?: { readonly column: keyof R & string; readonly text: string }
}

export interface ListOptions<R> extends Filter<R> {
  readonly orderBy?: readonly (keyof R & string)[]
  readonly limit?: number
  readonly offset?: number
  /** Only rows whose key comes after this one; for lists in the order of their keys. */
  readonly after?: string
}

/** Reads and writes one table, and only the rows the tenancy covers: the second wall behind the scopes of the API. */
export interface RowRepository<R> {
  find(sid: string): Promise<R | undefined>
  /** In no order; rows that are missing or out of reach are left out. */
  findMany(sids: readonly string[]): Promise<R[]>
  list(options?: ListOptions<R>): Promise<R[]>
  count(options?: Filter<R>): Promise<number>
  /** Throws not_permitted when the row would lie outside the tenancy, duplicate when a unique column is taken. */
  insert(row: Partial<R>): Promise<R>
  /** False when there is no such row within the tenancy. Throws duplicate. */
  update(sid: string, changes: Partial<R>): Promise<boolean>
  remove(sid: string): Promise<boolean>
}

export type Repository<T extends TableName> = RowRepository<Row<T>>
export type Repositories = { readonly [T in TableName]: Repository<T> }

/** In whose name rows are changed; `reader` changes none. */
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
  for(tenancy: Tenancy): Repositories
  /** One transaction; resolves when it is durable. `work` awaits nothing but these repositories. */
  transaction<R>(tenancy: Tenancy, work: (repositories: Repositories) => Promise<R>): Promise<R>
}
