// Rows as other parts read and write them: repositories bound to a tenancy, transactions, and the actor of a change.
import type { Principal, Tenancy } from '../../contracts/caller.ts'
import type { Tables } from '../tables.ts'

export type TableName = keyof Tables
export type Row<T extends TableName> = Tables[T]

/** The conditions that select rows. */
export interface Filter<R> {
  /** Columns and the values they must equal; `null` matches NULL. All must hold. */
  readonly where?: Partial<R>
  /** A substring of one text column, in any letter case. */
  readonly contains?: { readonly column: keyof R & string; readonly text: string }
  /** A value that one text column must equal, in any letter case. It needs an index on `lower(column)` to be fast. */
  readonly alike?: { readonly column: keyof R & string; readonly text: string }
}

export interface ListOptions<R> extends Filter<R> {
  readonly orderBy?: readonly (keyof R & string)[]
  readonly limit?: number
  readonly offset?: number
  /** The key after which the list starts; for lists in the order of their keys. */
  readonly after?: string
}

/** Reads and writes one table within the tenancy: the second line of defence behind the scopes of the API. */
export interface RowRepository<R> {
  find(sid: string): Promise<R | undefined>
  /** Returns rows in no order, without those that are missing or out of reach. */
  findMany(sids: readonly string[]): Promise<R[]>
  list(options?: ListOptions<R>): Promise<R[]>
  count(options?: Filter<R>): Promise<number>
  /** Throws not_permitted when the row would lie outside the tenancy, duplicate when a unique column is taken. */
  insert(row: Partial<R>): Promise<R>
  /** Returns false when there is no such row within the tenancy. Throws duplicate. */
  update(sid: string, changes: Partial<R>): Promise<boolean>
  remove(sid: string): Promise<boolean>
}

export type Repository<T extends TableName> = RowRepository<Row<T>>
export type Repositories = { readonly [T in TableName]: Repository<T> }

/** The actor in whose name rows are changed; a `reader` changes none. */
export type Maker = Actor | 'reader'

/** The audit log's description of the request that changed a row. */
export interface Actor {
  /** Undefined for a request without credentials. */
  readonly principal: Principal | undefined
  /** The tenancy of its sender. Left out for a request without credentials. */
  readonly tenancy?: Tenancy | undefined
  readonly request_id: string
  /** The address from which the request came. */
  readonly address: string
  /** The names in the request that nothing knows, as the response names them. Bounded, without values. */
  readonly unknown_fields?: string | undefined
}

export interface RowStorage {
  for(tenancy: Tenancy): Repositories
  /** Runs one transaction and resolves when it is durable. `work` must await nothing but these repositories. */
  transaction<R>(tenancy: Tenancy, work: (repositories: Repositories) => Promise<R>): Promise<R>
}
