// The types of a declared resource: its declaration, and the plan that generic code makes of it.
import type { Level } from '../../http/route.ts'
import type { Caller } from '../../contracts/caller.ts'
import type { ErrorCode } from '../../lib/errors.ts'
import type { Services } from '../services.ts'
import type { ApiRequest, RecordContext } from './request.ts'
import type { Changes, Fields, Values } from './field.ts'
import type { Owner } from './owner.ts'
import type { RecordForm } from './record.ts'
import type { Row, TableName } from '../../storage/storage.ts'
import type { Cells } from './rows.ts'
import type { Undo } from './undo.ts'

export type Operation = 'list' | 'create' | 'read' | 'update' | 'delete'

type RowOf<T extends TableName> = [TableName] extends [T] ? Cells : Row<T>
type PartOf<T extends TableName> = [TableName] extends [T] ? Cells : Partial<Row<T>>
type ValuesOf<F extends Fields> = string extends keyof F ? Cells : Values<F>
type ChangesOf<F extends Fields> = string extends keyof F ? Cells : Changes<F>

/**
 * The declaration in the file of a resource. Its hooks are typed by its table and fields; generic code sees them
 * without these types.
 */
export interface ResourceDeclaration<T extends TableName = TableName, F extends Fields = Fields> {
  /** Singular, for ids and schemas: `Account` makes AccountSid. */
  readonly name: string
  /** The singular noun in sentences; it takes an -s in the plural. */
  readonly noun: string
  readonly path: `/${string}`
  /** One sentence that describes it. */
  readonly summary: string
  readonly table: T
  /** The level that owns the records: admin > service provider > account. */
  readonly owner: Owner
  readonly operations: readonly Operation[]
  readonly fields: F
  /** The levels for operations that not every level may use. */
  readonly access?: { readonly [O in Operation]?: readonly Level[] }
  readonly list?: ListRules
  /** The path parameter that names one record, if the interface does not use the name followed by Sid. */
  readonly parameter?: string
  /** The codes of its own rules, beside those of every resource. */
  readonly errors?: { readonly [O in Operation]?: readonly ErrorCode[] }
  /**
   * Runs before the transaction, which waits only for the database; `row` is the record as it is now. Returns the undo
   * for a transaction that fails.
   */
  prepare?(
    changes: ChangesOf<F>,
    row: RowOf<T> | undefined,
    context: RecordContext & Pick<ApiRequest, 'whenGone'>,
  ): Promise<Undo | undefined>
  /** Runs within the transaction, before the record is made. Returns columns that no field sets. */
  beforeCreate?(values: ValuesOf<F>, context: RecordContext): Promise<PartOf<T> | undefined>
  beforeUpdate?(changes: ChangesOf<F>, row: RowOf<T>, context: RecordContext): Promise<PartOf<T> | undefined>
  beforeDelete?(row: RowOf<T>, context: RecordContext): Promise<void>
  /** Runs within the transaction, once the record is made, changed (the row is the new one) or removed (the old). */
  afterWrite?(row: RowOf<T>, context: RecordContext): Promise<void>
  /** Returns members of the record that no column holds, one object per row; `fields` names them read-only. */
  join?(
    rows: readonly RowOf<T>[],
    context: RecordContext,
  ): Promise<readonly Readonly<Record<string, unknown>>[]>
  /** Runs once the change is durable. */
  afterUpdate?(row: RowOf<T>, changes: ChangesOf<F>, services: Services): Promise<void>
  afterDelete?(row: RowOf<T>, services: Services): Promise<void>
}

export interface ListRules {
  /**
   * Query parameters: each gives the value that a column of the same name must equal, or that the searched column must
   * contain.
   */
  readonly filters?: Fields
  /** The order of a list without pages; by id if left out. */
  readonly orderBy?: readonly string[]
  /** Pages are ordered by the column that is searched, or else by the id. */
  readonly isPaged?: boolean
  /** Narrows the list at the resource's own path further than the caller's tenancy does. */
  readonly where?: (caller: Caller) => Cells
}

/** The same operation at another path, below an account or a service provider. */
export interface NestedRoute {
  readonly path: `/${string}`
  readonly operationId: string
  /** Every level if left out. */
  readonly access?: readonly Level[]
  /** The columns that the path decides: a new record gets them, an existing one must have them. */
  readonly where: (request: ApiRequest) => Cells
}

/** A declaration without its types, and the facts that follow from it. */
export interface ResourcePlan extends ResourceDeclaration {
  readonly key: string
  /** The path parameter that names one record. */
  readonly parameter: string
  readonly form: RecordForm
}
