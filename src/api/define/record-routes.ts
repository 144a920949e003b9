// The endpoints that make, read, change and remove one record of a declared resource.
import { AppError } from '../../lib/errors.ts'
import { demandSeen, seenRecord, unlessSeen } from './etag.ts'
import { hasQuota } from './operator-rules.ts'
import type { Fields } from './field.ts'
import { ownerFieldOf } from './owner.ts'
import { findTenant, isTenantTable } from './path-sid.ts'
import type { NestedRoute, Operation, ResourcePlan } from './plan.ts'
import { sid } from './fields.ts'
import { object } from './reply-fields.ts'
import type { ApiRequest } from './request.ts'
import { everyone, type ApiRoute } from './route.ts'
import { repositoryOf, type Cells } from './rows.ts'
import { orUndo, type Undo } from './undo.ts'
import { createRecord, removeRecord, updateRecord } from './write-record.ts'

function common(plan: ResourcePlan, operation: Operation, nested?: NestedRoute) {
  const {
    path,
    operationId,
    access = everyone,
  } = nested ?? {
    path: operation === 'create' ? plan.path : onePath(plan),
    operationId: `${operation === 'read' ? 'get' : operation}${plan.name}`,
    access: plan.access?.[operation],
  }
  const parameters = { [plan.parameter]: `The id of the ${plan.noun}.` }
  return { path, operationId, access, parameters, tag: plan.path.slice(1) }
}

function onePath({ path, parameter }: ResourcePlan): string {
  return `${path}/{${parameter}}`
}

export const createdReply = {
  status: 201,
  description: 'The id of the new record.',
  component: 'SuccessfulAdd',
  body: object({ sid: sid().describe('Names the record in paths and in other records.') }),
} as const

export function createCreateRoute(plan: ResourcePlan, nested?: NestedRoute): ApiRoute {
  const { table } = plan
  return {
    ...common(plan, 'create', nested),
    method: 'POST',
    summary: `Makes ${oneOf(plan)}.`,
    description: plan.summary,
    body: createBodyOf(plan),
    reply: createdReply,
    errors: [
      'duplicate',
      ...(hasQuota(table) ? (['quota_reached'] as const) : []),
      ...(plan.errors?.create ?? []),
    ],
    async handle(request) {
      const { services, caller, body } = request
      const values = nested === undefined ? body : mergeGiven(body, nested.where(request))
      const sid = await orUndo(plan.prepare?.(values as Cells, undefined, request), () =>
        services.storage.transaction(caller.tenancy, (rows) =>
          createRecord(plan, values, { ...request, rows }),
        ),
      )
      services.log.info({ table, sid }, 'record created')
      return { sid }
    },
  }
}

/** Merges the path's columns into the body, which may repeat but not contradict them. */
function mergeGiven(
  body: Readonly<Record<string, unknown>>,
  given: Cells,
): Readonly<Record<string, unknown>> {
  for (const [name, value] of Object.entries(given)) {
    const sent = body[name]
    if (sent !== undefined && sent !== null && sent !== value)
      throw new AppError('bad_request', `${name} is not the one in the path`)
  }
  return { ...body, ...given }
}

/** Returns the body's fields. A caller of the owner's own level may leave out the owner. */
function createBodyOf({ fields, owner }: ResourcePlan): Fields {
  const name = ownerFieldOf(owner)
  const field = name === undefined ? undefined : fields[name]
  if (name === undefined || field === undefined) return fields
  const facts = { ...field.facts, presence: 'optional' } as const
  return { ...fields, [name]: { ...field, facts } }
}

export function createReadRoute(plan: ResourcePlan, nested?: NestedRoute): ApiRoute {
  const { name, form } = plan
  return {
    ...common(plan, 'read', nested),
    method: 'GET',
    summary: `Reads ${oneOf(plan)}.`,
    description: plan.summary,
    reply: { status: 200, description: 'The record.', body: form.field, component: name },
    errors: ['not_found'],
    hasEtag: true,
    async handle(request) {
      const found = await findRecord(plan, request, nested?.where(request))
      const { record, etag } = await seenRecord(plan, found, request)
      return unlessSeen(record, etag, request)
    },
  }
}

export function createUpdateRoute(plan: ResourcePlan, nested?: NestedRoute): ApiRoute {
  return {
    ...common(plan, 'update', nested),
    method: 'PUT',
    summary: `Changes ${oneOf(plan)}.`,
    description: 'Fields that are left out keep their values. Ids may be sent back unchanged.',
    body: plan.fields,
    isPartial: true,
    reply: { status: 204, description: 'Changed.' },
    errors: ['not_found', 'duplicate', ...(plan.errors?.update ?? [])],
    hasEtag: true,
    async handle(request) {
      const { services, caller, body, rawBody } = request
      const row = await orUndo(prepareUpdate(plan, request, nested), () =>
        services.storage.transaction(caller.tenancy, async (rows) => {
          const context = { ...request, rows }
          const found = await findRecord(plan, context, nested?.where(request))
          await demandSeen(plan, found, context)
          return updateRecord(plan, found, { changes: body, sent: rawBody }, context)
        }),
      )
      await plan.afterUpdate?.(row, body as Cells, services)
    },
  }
}

/** Prepares an update, unless the request has not seen the record as it is. */
async function prepareUpdate(
  plan: ResourcePlan,
  request: ApiRequest,
  nested?: NestedRoute,
): Promise<Undo | undefined> {
  if (plan.prepare === undefined) return undefined
  const row = await findRecord(plan, request, nested?.where(request))
  await demandSeen(plan, row, request)
  return plan.prepare(request.body as Cells, row, request)
}

export function createDeleteRoute(plan: ResourcePlan, nested?: NestedRoute): ApiRoute {
  return {
    ...common(plan, 'delete', nested),
    method: 'DELETE',
    summary: `Removes ${oneOf(plan)}.`,
    reply: { status: 204, description: 'Removed, with everything that belongs to it.' },
    errors: ['not_found', 'in_use'],
    hasEtag: true,
    async handle(request) {
      const { services, caller } = request
      const row = await services.storage.transaction(caller.tenancy, async (rows) => {
        const context = { ...request, rows }
        const found = await findRecord(plan, context, nested?.where(request))
        await demandSeen(plan, found, context)
        return removeRecord(plan, found, context)
      })
      services.log.info({ table: plan.table, sid: row[plan.key] }, 'record removed')
      await plan.afterDelete?.(row, services)
    },
  }
}

/** Returns a record. One that the caller may not see counts as missing. */
async function findRecord(plan: ResourcePlan, request: ApiRequest, where: Cells = {}): Promise<Cells> {
  if (isTenantTable(plan.table)) return findTenant(plan.table, request.params, onePath(plan), request)
  const sid = request.params[plan.parameter] ?? ''
  const row = await repositoryOf(request.rows, plan.table).find(sid)
  const isThere = row !== undefined && Object.entries(where).every(([column, value]) => row[column] === value)
  if (!isThere) throw new AppError('not_found', `no such ${plan.noun}`)
  return row
}

function oneOf({ noun }: Pick<ResourcePlan, 'noun'>): string {
  return `${/^[aeiou]/i.test(noun) ? 'an' : 'a'} ${noun}`
}
