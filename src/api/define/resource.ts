// The declaration of a REST resource, and the endpoints that follow from it. Read next: plan.ts (the members of a
// declaration), fields.ts (the kinds of field), route.ts (an endpoint by itself). For a request, bind-route.ts passes
// the values that shape.ts accepts to record-routes.ts or list-route.ts, and write-record.ts writes the record.
import { AppError } from '../../lib/errors.ts'
import type { Field, Fields, Wire } from './field.ts'
import { createListRoute, toRecords } from './list-route.ts'
import type { NestedRoute, Operation, ResourceDeclaration, ResourcePlan } from './plan.ts'
import { createCreateRoute, createDeleteRoute, createReadRoute, createUpdateRoute } from './record-routes.ts'
import { createRecordForm } from './record.ts'
import type { RecordContext } from './request.ts'
import type { ApiRoute } from './route.ts'
import { descriptorOf } from '../../storage/rows/descriptors.ts'
import type { Row, TableName } from '../../storage/storage.ts'
import { repositoryOf, type Cells } from './rows.ts'
import { createRecord, updateRecord } from './write-record.ts'

export interface Resource<T extends TableName = TableName, F extends Fields = Fields> {
  readonly routes: readonly ApiRoute[]
  readonly fields: F
  /** The field of a whole record, for a reply or one of its members. */
  readonly field: Field<Wire<F>>
  /** Routes at other paths that list these records, make one, read, remove or change one. */
  listedAt(nested: NestedRoute): ApiRoute
  createdAt(nested: NestedRoute): ApiRoute
  readAt(nested: NestedRoute): ApiRoute
  removedAt(nested: NestedRoute): ApiRoute
  updatedAt(nested: NestedRoute): ApiRoute
  /** Makes a record within a transaction as POST does, and returns its id. */
  create(values: Readonly<Record<string, unknown>>, context: RecordContext): Promise<string>
  /** Changes a record within a transaction as PUT does. */
  update(sid: string, changes: Readonly<Record<string, unknown>>, context: RecordContext): Promise<void>
  /** Returns records as the wire shows them, with hooks joined. */
  toWire(rows: readonly Row<T>[], context: RecordContext): Promise<Wire<F>[]>
}

/** Returns the plan. The hooks of `declaration` are typed by its own fields and table, and get only those. */
function planOf(declaration: ResourceDeclaration): ResourcePlan {
  const { fields, table, name } = declaration
  return {
    ...declaration,
    key: descriptorOf(table).key,
    parameter: declaration.parameter ?? `${name}Sid`,
    form: createRecordForm(fields),
  }
}

export function defineResource<const T extends TableName, const F extends Fields>(
  declaration: ResourceDeclaration<T, F>,
): Resource<T, F> {
  const plan = planOf(declaration as unknown as ResourceDeclaration)
  return {
    routes: plan.operations.map((operation) => makers[operation](plan)),
    fields: declaration.fields,
    field: plan.form.field as Field<Wire<F>>,
    listedAt: (nested) => createListRoute(plan, nested),
    createdAt: (nested) => createCreateRoute(plan, nested),
    readAt: (nested) => createReadRoute(plan, nested),
    removedAt: (nested) => createDeleteRoute(plan, nested),
    updatedAt: (nested) => createUpdateRoute(plan, nested),
    create: (values, context) => createRecord(plan, values, context),
    async update(sid, changes, context) {
      const row = await repositoryOf(context.rows, plan.table).find(sid)
      if (row === undefined) throw new AppError('not_found', `no such ${plan.noun}`)
      await updateRecord(plan, row, { changes, sent: changes }, context)
    },
    toWire: (rows, context) =>
      toRecords(plan, rows as unknown as readonly Cells[], context) as Promise<Wire<F>[]>,
  }
}

const makers: { readonly [O in Operation]: (plan: ResourcePlan) => ApiRoute } = {
  list: createListRoute,
  create: createCreateRoute,
  read: createReadRoute,
  update: createUpdateRoute,
  delete: createDeleteRoute,
}
