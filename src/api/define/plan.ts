// What a declared resource is: what its file says of it, and what the generic code makes of that.
import type { Level } from '../../http/route.ts'
import type { Caller } from '../../lib/caller.ts'
import type { AppError, ErrorCode } from '../../lib/errors.ts'
import type { RecordContext, Services } from './context.ts'
import type { Changes, Fields, Values } from './field.ts'
import type { Owner } from './owner.ts'
import type { RecordForm } from './record.ts'
import type { ApiRequest } from './route.ts'
import type { Cells, Row, TableName } from './rows.ts'
import type { Undo } from './undoing.ts'

export type Operation = 'list' | 'create' | 'read' | 'update' | 'delete'

export interface ResourceDeclaration<T extends TableName, F extends Fields> {
  /** Singular, for ids and schemas: `Account` makes AccountSid. */
  readonly name: string
  /** Singular, as sentences call it; takes an -s in the plural. */
  readonly noun: string
  readonly path: `/${string}`
  /** One sentence that says what it is. */
  readonly summary: string
  readonly table: T
  /** The level that owns the records: admin > service provider > account. */
  readonly owner: Owner
  readonly operations: readonly Operation[]
  readonly fields: F
  /** Operations that not every level may use. */
  readonly access?: { readonly [O in Operation]?: readonly Level[] }
  readonly list?: ListRules
  /** The path parameter that names one record, when it is not its name followed by Sid. */
  readonly parameter?: string
  /** Part of carriers, which the operator of a platform may keep to itself. */
  readonly isCarrierSide?: boolean
  /** What its own rules refuse with, beside what holds for every resource. */
  readonly errors?: { readonly [O in Operation]?: readonly ErrorCode[] }
  /** What a caller is told who names another's account or provider as owner. */
  readonly foreignOwner?: () => AppError
  /**
   * Runs before the transaction, which waits for nothing but the database; `row` is the record as it is now. Answers how
   * to undo what it did when the transaction fails.
   */
  prepare?(
    changes: Changes<F>,
    row: Row<T> | undefined,
    context: RecordContext & Pick<ApiRequest, 'whenGone'>,
  ): Promise<Undo | undefined>
  /** Runs within the transaction, before the record is made. Answers columns that no field sets. */
  beforeCreate?(values: Values<F>, context: RecordContext): Promise<Partial<Row<T>> | undefined>
  beforeUpdate?(
    changes: Changes<F>,
    row: Row<T>,
    context: RecordContext,
  ): Promise<Partial<Row<T>> | undefined>
  beforeDelete?(row: Row<T>, context: RecordContext): Promise<void>
  /** Runs within the transaction, once the record is made, changed (the row is the new one) or removed (the old one). */
  afterWrite?(row: Row<T>, context: RecordContext): Promise<void>
  /** Members of the record that no column holds, one object per row; `fields` names them read-only. */
  join?(
    rows: readonly Row<T>[],
    context: RecordContext,
  ): Promise<readonly Readonly<Record<string, unknown>>[]>
  /** Runs once the change is durable. */
  afterUpdate?(row: Row<T>, changes: Changes<F>, services: Services): Promise<void>
  afterDelete?(row: Row<T>, services: Services): Promise<void>
}

export interface ListRules {
  /** The text column that is searched and that pages are ordered by. */
  readonly search?: string
  /** The query parameter of the search; `name` when left out. */
  readonly searchBy?: string
  /** What is looked for, when that is not the text as it was given. */
  readonly searchText?: (given: string) => string
  /** Query parameters that a column of the same name must equal. */
  readonly filters?: Fields
  /** Of a list without pages; the id when left out. */
  readonly orderBy?: readonly string[]
  readonly isPaged?: boolean
  /** Narrows the list at the resource's own path further than the caller's tenancy does. */
  readonly where?: (caller: Caller) => Cells
}

/** The declaration with its types let go, and what was derived from it. */
export interface ResourcePlan extends Pick<
  ResourceDeclaration<TableName, Fields>,
  | 'name'
  | 'noun'
  | 'path'
  | 'summary'
  | 'owner'
  | 'operations'
  | 'fields'
  | 'access'
  | 'errors'
  | 'list'
  | 'isCarrierSide'
  | 'foreignOwner'
> {
  readonly table: TableName
  readonly key: string
  /** The path parameter that names one record. */
  readonly parameter: string
  readonly form: RecordForm
  prepare?(
    changes: Cells,
    row: Cells | undefined,
    context: RecordContext & Pick<ApiRequest, 'whenGone'>,
  ): Promise<Undo | undefined>
  beforeCreate?(values: Cells, context: RecordContext): Promise<Cells | undefined>
  beforeUpdate?(changes: Cells, row: Cells, context: RecordContext): Promise<Cells | undefined>
  beforeDelete?(row: Cells, context: RecordContext): Promise<void>
  afterWrite?(row: Cells, context: RecordContext): Promise<void>
  join?(rows: readonly Cells[], context: RecordContext): Promise<readonly Readonly<Record<string, unknown>>[]>
  afterUpdate?(row: Cells, changes: Cells, services: Services): Promise<void>
  afterDelete?(row: Cells, services: Services): Promise<void>
}
