// Lists: a bare array of everything, or one page of it in an envelope when `page` is given.
import type { ListOptions } from '../../storage/storage.ts'
import { integer } from './fields.ts'
import { createField, type FieldFacts, type Fields, type Wire } from './field.ts'
import type { ApiRequest, RecordContext } from './request.ts'
import { readPage, readWhole, type ListSource } from './list-text.ts'
import type { ListAnswer } from '../services.ts'
import { loadHooks } from './nested-hooks.ts'
import type { NestedRoute, ResourcePlan } from './plan.ts'
import { everyone, type ApiRoute, type Reply } from './route.ts'
import { list, object, whole } from './reply-fields.ts'
import { repositoryOf, type Cells } from './rows.ts'
import { findParent } from './write-record.ts'

const defaultPageSize = 50

const paging = {
  page: integer({ min: 0, max: 10_000_000 })
    .optional()
    .describe('From 1. With it the response is an envelope, without it an array of everything.'),
  page_size: integer({ min: 1, max: 10_000 }).optional().describe('Records on a page; 50 when left out.'),
}

/** Returns the filter of parts, which are listed by their record. */
function parentQuery({ owner, fields }: ResourcePlan): Fields {
  if (typeof owner !== 'object') return {}
  const field = fields[owner.partOf]
  return field === undefined ? {} : { [owner.partOf]: field }
}

/** Selects the records of the account in the path by the pair of owners, with which the indexes begin. */
export function ofAccount({ account }: ApiRequest): Cells {
  return { service_provider_sid: account?.service_provider_sid, account_sid: account?.account_sid }
}

export function createListRoute(plan: ResourcePlan, nested?: NestedRoute): ApiRoute {
  const { filters = {}, isPaged = false } = plan.list ?? {}
  const query = { ...parentQuery(plan), ...(isPaged ? paging : {}), ...filters }
  const {
    path,
    operationId,
    access = everyone,
  } = nested ?? {
    path: plan.path,
    operationId: `list${plan.path.slice(1)}`,
    access: plan.access?.list,
  }
  return {
    method: 'GET',
    path,
    access,
    operationId,
    tag: plan.path.slice(1),
    summary: `Lists ${plan.noun}s.`,
    description: plan.summary,
    ...(Object.keys(query).length === 0 ? {} : { query }),
    errors: ['account_share'],
    reply: listReply(plan, isPaged),
    handle: (request) => readList(plan, whereOf(plan, nested, request), operationId, request),
  }
}

async function readList(
  plan: ResourcePlan,
  where: Cells,
  operationId: string,
  request: ApiRequest,
): Promise<ListAnswer> {
  const { orderBy = [plan.key], filters = {} } = plan.list ?? {}
  const { page, page_size = defaultPageSize } = request.query as {
    readonly page?: number
    readonly page_size?: number
  }
  if (typeof plan.owner === 'object') await findParent(plan, request.query[plan.owner.partOf], request)
  const [name = '', search] = Object.entries(filters).find(([, { facts }]) => isSearch(facts)) ?? []
  const column = search?.facts.searches ?? plan.key
  const text = request.query[name]
  const matching: ListOptions<Cells> = {
    where,
    ...(typeof text !== 'string' ? {} : { contains: { column, text } }),
  }
  const source = sourceOf(plan, matching, request)
  const { services, caller, query } = request
  const read = (): Promise<ListAnswer> =>
    services.listTurns(() =>
      page === undefined
        ? readWhole(source, orderBy)
        : // Clients that count pages from zero mean the first one.
          readPage(source, { orderBy: [column], number: Math.max(1, page), size: page_size }),
    )
  // Joined members may come from outside the database, so such a list is not kept.
  if (plan.join !== undefined) return read()
  return services.lists(JSON.stringify([operationId, caller.tenancy, caller.isViewOnly, where, query]), read)
}

/** Returns the condition. A filter replaces the resource's own narrowing, never the condition of the path. */
function whereOf(plan: ResourcePlan, nested: NestedRoute | undefined, request: ApiRequest): Cells {
  const filters = filtersOf(plan, request)
  return nested === undefined
    ? { ...plan.list?.where?.(request.caller), ...filters }
    : { ...filters, ...nested.where(request) }
}

function filtersOf({ list: { filters = {} } = {}, owner }: ResourcePlan, { query }: ApiRequest): Cells {
  const equal = Object.entries(filters).filter(([, { facts }]) => !isSearch(facts))
  const names = [...equal.map(([name]) => name), ...(typeof owner === 'object' ? [owner.partOf] : [])]
  const given = names.filter((name) => query[name] !== undefined && query[name] !== null)
  return Object.fromEntries(given.map((name) => [name, query[name] as Cells[string]]))
}

function isSearch({ searches }: FieldFacts): boolean {
  return searches !== undefined
}

function sourceOf(plan: ResourcePlan, matching: ListOptions<Cells>, context: RecordContext): ListSource {
  const rows = repositoryOf(context.rows, plan.table)
  return {
    key: plan.key,
    count: () => rows.count(matching),
    read: (options) => rows.list({ ...matching, ...options }),
    toTexts: async (found) => (await toRecords(plan, found, context)).map((record) => JSON.stringify(record)),
  }
}

/** Returns rows as the wire shows them, with hooks and joined members. */
export async function toRecords(
  plan: ResourcePlan,
  rows: readonly Cells[],
  context: RecordContext,
): Promise<Wire<Fields>[]> {
  const hooks = await loadHooks(rows, plan.form.hookColumns, context.rows)
  const joined = await plan.join?.(rows, context)
  return rows.map((row, index) => ({
    ...plan.form.toWire(row, hooks, context.caller.isViewOnly),
    ...joined?.[index],
  }))
}

const envelope = {
  total: whole('Records that match.'),
  page: whole('The page asked for, from 1.'),
  page_size: whole('Records on a full page.'),
}

function listReply({ form, name }: ResourcePlan, isPaged: boolean): Reply {
  const array = list(form.field)
  const page = object({ ...envelope, data: list(form.field).describe('The records of the page.') })
  return {
    status: 200,
    description: isPaged ? 'All of them, or one page when `page` is given.' : 'All of them.',
    body: isPaged ? createField({ schema: { anyOf: [array.facts.schema, page.facts.schema] } }) : array,
    component: name,
    mediaType: 'application/json',
  }
}
