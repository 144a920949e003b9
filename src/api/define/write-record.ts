// Making, changing and removing one record within a transaction: owner, references, nested hooks, then the row.
import { AppError } from '../../lib/errors.ts'
import { insufficientPermissions } from '../../http/scopes.ts'
import { createSid } from '../../lib/ids.ts'
import { descriptorOf } from '../../storage/rows/descriptors.ts'
import type { RecordContext } from './request.ts'
import { applyHooks, hookChangesOf } from './nested-hooks.ts'
import { demandCarrierRights, demandQuota } from './operator-rules.ts'
import { isMovable, ownerOfRow, resolveMove, resolveOwner, type OwnerSids } from './owner.ts'
import type { ResourcePlan } from './plan.ts'
import { repositoryOf, type Cells } from './rows.ts'
import type { TableName } from '../../storage/storage.ts'
import { isLeftEmpty } from './shape.ts'
import { isTenantTable } from './path-sid.ts'

type Values = Readonly<Record<string, unknown>>

/** Returns the id of the new record. */
export async function createRecord(
  plan: ResourcePlan,
  values: Values,
  context: RecordContext,
): Promise<string> {
  const { rows } = context
  const repository = repositoryOf(rows, plan.table)
  const sid = createSid()
  demandCarrierRights(plan.table, context)
  await demandQuota(plan.table, context)
  const resolved = await ownerOfNew(plan, values, context)
  // An account owns its hooks; others share the record's owner.
  const owner = isTenantTable(plan.table) ? { ...resolved, [plan.key]: sid } : resolved
  // Records of the platform have no columns that name an owner.
  const ownerCells = plan.owner === 'admin' ? {} : owner
  const owned = { ...values, ...ownerCells }
  const extra = await plan.beforeCreate?.(owned as Cells, context)
  await demandReferences(plan, values, owner, context)
  const changes = hookChangesOf(plan.fields, values).filter(({ input }) => input !== null)
  const cells = { ...plan.form.toCells(owned), ...ownerCells, ...extra, [plan.key]: sid }
  if (isTenantTable(plan.table)) {
    // The hooks name their owner, so its row is inserted before them.
    await repository.insert(cells)
    const hooks = await applyHooks(changes, undefined, owner, rows)
    if (Object.keys(hooks.cells).length > 0) await repository.update(sid, hooks.cells)
  } else {
    const hooks = await applyHooks(changes, undefined, owner, rows)
    await repository.insert({ ...cells, ...hooks.cells })
  }
  await plan.afterWrite?.({ ...cells, ...owner }, context)
  return sid
}

/** Changes a record and returns it as it was. */
export async function updateRecord(
  plan: ResourcePlan,
  row: Cells,
  { changes, sent }: { readonly changes: Values; readonly sent: unknown },
  context: RecordContext,
): Promise<Cells> {
  const { rows } = context
  demandWritable(plan, row, context)
  refuseFixed(plan, row, sent)
  const previous = ownerOfRow(row)
  const moved = isMovable(plan.owner)
    ? await resolveMove(changes['account_sid'], previous, context)
    : undefined
  const extra = await plan.beforeUpdate?.(changes as Cells, row, context)
  const owner = moved ?? previous
  // References that stay must be valid for the new owner too.
  await demandReferences(plan, moved === undefined ? changes : { ...row, ...changes }, owner, context)
  const hooks = await applyHooks(hookChangesOf(plan.fields, changes), row, owner, rows)
  const cells: Cells = { ...plan.form.toCells(changes), ...extra, ...hooks.cells }
  if (isMovable(plan.owner) && moved === undefined) delete cells['account_sid']
  if (Object.keys(cells).length > 0) await repositoryOf(rows, plan.table).update(String(row[plan.key]), cells)
  for (const orphan of hooks.orphans) await rows.webhooks.remove(orphan)
  await plan.afterWrite?.({ ...row, ...cells, ...owner }, context)
  return row
}

/** Removes a record and returns it. */
export async function removeRecord(plan: ResourcePlan, row: Cells, context: RecordContext): Promise<Cells> {
  const { rows } = context
  demandWritable(plan, row, context)
  await plan.beforeDelete?.(row, context)
  await repositoryOf(rows, plan.table).remove(String(row[plan.key]))
  for (const column of plan.form.hookColumns) {
    const hook = row[column]
    if (typeof hook === 'string') await rows.webhooks.remove(hook)
  }
  await plan.afterWrite?.(row, context)
  return row
}

/** Returns the owner. A part has that of its record, which the caller must own, not only see. */
async function ownerOfNew(plan: ResourcePlan, values: Values, context: RecordContext): Promise<OwnerSids> {
  const { owner } = plan
  if (typeof owner !== 'object') return resolveOwner(owner, values, context)
  const parent = await findParent(plan, values[owner.partOf], context)
  demandWritable(plan, parent, context)
  return ownerOfRow(parent)
}

/** Returns the record that parts belong to; a foreign one counts as missing. */
export async function findParent(
  { owner, fields }: ResourcePlan,
  sid: unknown,
  { rows }: Pick<RecordContext, 'rows'>,
): Promise<Cells> {
  const field = typeof owner === 'object' ? owner.partOf : ''
  const table = fields[field]?.facts.references
  if (table === undefined) throw new Error(`${field} names no table`)
  const row = await repositoryOf(rows, table).find(String(sid))
  if (row === undefined) throw new AppError('bad_request', `${field} names no existing ${nounOf(table)}`)
  return row
}

/** Throws if an account would change a shared record of its provider, which it may only read. */
function demandWritable(plan: ResourcePlan, row: Cells, context: RecordContext): void {
  demandCarrierRights(plan.table, context)
  if (context.caller.tenancy.level === 'account' && row['account_sid'] === null)
    throw insufficientPermissions()
}

/** Refuses other ids and owners. They may be sent back as they are; a different one must not pass unnoticed. */
function refuseFixed({ fields, key, noun }: ResourcePlan, row: Cells, sent: unknown): void {
  const given = (sent ?? {}) as Values
  for (const [field, { facts }] of Object.entries(fields)) {
    const isFixed = field === key || facts.onUpdate === 'refuse'
    if (!isFixed || given[field] === undefined || isLeftEmpty(field, facts, given[field], 'update')) continue
    const { fixedForm = facts.normalize } = facts
    const value = given[field] === null || fixedForm === undefined ? given[field] : fixedForm(given[field])
    if (value !== row[field]) throw new AppError('bad_request', `${field} of this ${noun} cannot be changed`)
  }
}

/** Throws unless the caller sees each referenced record, and it belongs to the owner's account or is shared with it. */
async function demandReferences(
  plan: ResourcePlan,
  values: Values,
  owner: OwnerSids,
  { rows }: RecordContext,
): Promise<void> {
  const partOf = typeof plan.owner === 'object' ? plan.owner.partOf : undefined
  for (const [name, { facts }] of Object.entries(plan.fields)) {
    const sid = values[name]
    const { references } = facts
    if (references === undefined || typeof sid !== 'string') continue
    // These were checked when the owner was found.
    if (name === 'account_sid' || name === 'service_provider_sid' || name === partOf) continue
    const row = await repositoryOf(rows, references).find(sid)
    if (row === undefined || !isUsableBy(row, owner, descriptorOf(references).isShared))
      throw new AppError('bad_request', `${name} names no ${nounOf(references)} of this account`)
  }
}

function isUsableBy(row: Cells, owner: OwnerSids, isShared: boolean): boolean {
  const { account_sid, service_provider_sid = null } = row
  if (account_sid !== null) return account_sid === owner.account_sid
  const isOfProvider = service_provider_sid === null || service_provider_sid === owner.service_provider_sid
  return isOfProvider && (isShared || owner.account_sid === null)
}

function nounOf(table: TableName): string {
  return table.replace(/s$/, '').replaceAll('_', ' ')
}
