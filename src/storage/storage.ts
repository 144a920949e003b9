// The public face of storage: repositories bound to a tenancy, transactions, and the stores of the call engine.
// `createStorage` in create-storage.ts makes one.
import type { Asker } from '../lib/asker.ts'
import type { Principal, Tenancy } from '../lib/caller.ts'
import type { Tables } from './tables.ts'

export type TableName = keyof Tables
export type Row<T extends TableName> = Tables[T]

export interface ListOptions<T extends TableName> {
  /** Equality on columns; `null` matches NULL. All must hold. */
  readonly where?: Partial<Row<T>>
  /** Case-insensitive substring on one text column. */
  readonly contains?: { readonly column: keyof Row<T> & string; readonly text: string }
  readonly orderBy?: readonly (keyof Row<T> & string)[]
  readonly limit?: number
  readonly offset?: number
  /** Only rows whose key comes after this one; for lists in the order of their keys. */
  readonly after?: string
  /** What the rows point at, read along with them. */
  readonly joined?: readonly JoinedRow<T>[]
}

/**
 * The row that a reference points at, as far as the tenancy sees it: its cells come with the row that holds it, named
 * `<column>.<name>`, all of them null where there is no such row.
 */
export interface JoinedRow<T extends TableName> {
  readonly column: keyof Row<T> & string
  readonly names: readonly string[]
}

/** Reads and writes one table, and only the rows the tenancy covers: the second wall behind the scopes of the API. */
export interface Repository<T extends TableName> {
  find(sid: string): Promise<Row<T> | undefined>
  /** In no order; those that are missing or out of reach are left out. */
  findMany(sids: readonly string[]): Promise<Row<T>[]>
  list(options?: ListOptions<T>): Promise<Row<T>[]>
  count(options?: Pick<ListOptions<T>, 'where' | 'contains'>): Promise<number>
  /** Throws not_permitted when the row would lie outside the tenancy, duplicate when a unique column is taken. */
  insert(row: Partial<Row<T>>): Promise<Row<T>>
  /** False when there is no such row within the tenancy. Throws duplicate. */
  update(sid: string, changes: Partial<Row<T>>): Promise<boolean>
  remove(sid: string): Promise<boolean>
}

export type Repositories = { readonly [T in TableName]: Repository<T> }

/** Whose changes they are. Without one they are the platform's own; `nobody` may read only. */
export type Maker = Actor | 'nobody'

/** On whose behalf rows are changed: what the audit log says. */
export interface Actor {
  /** Undefined where nobody has authenticated. */
  readonly principal: Principal | undefined
  readonly request_id: string
  /** Where the request came from. */
  readonly address: string
}

export interface Storage {
  readonly name: string
  start(): Promise<void>
  stop(): Promise<void>
  /** Once `asker` has gone, what is read through them rejects with `goneError`; changes are carried through. */
  for(tenancy: Tenancy, maker?: Maker, asker?: Asker): Repositories
  /** One transaction; resolves when it is durable. `work` awaits nothing but these repositories. */
  transaction<R>(
    tenancy: Tenancy,
    work: (repositories: Repositories) => Promise<R>,
    maker?: Maker,
  ): Promise<R>
}
