// The endpoints that write several routes with their entries: all of them or none.
import { AppError } from '../../lib/errors.ts'
import { printable } from '../../lib/printable.ts'
import type { Row } from '../../storage/storage.ts'
import { createField, type Field } from '../define/field.ts'
import type { RecordContext, RefusedRequest } from '../define/request.ts'
import { reworded } from '../define/reword.ts'
import { defineRoute, everyone } from '../define/route.ts'
import { lcrCarrierSetEntries } from './lcr-carrier-set-entries.ts'
import { lcrRoutes, maxRoutes } from './lcr-routes.ts'

interface GivenEntry {
  readonly lcr_carrier_set_entry_sid?: string | null
  readonly voip_carrier_sid: string
  readonly workload?: number | null
  readonly priority?: number | null
}

interface GivenRoute {
  readonly lcr_route_sid?: string | null
  readonly regex: string
  readonly description?: string | null
  readonly priority: number
  readonly lcr_carrier_set_entries: readonly GivenEntry[]
}

const maxEntries = 20
const entriesName = 'lcr_carrier_set_entries'

const optionalId = (description: string) => ({ type: ['string', 'null'], format: 'uuid', description })
/** An id that records show, and that may be sent back: the place in the list determines it. */
const shownId = { readOnly: true, description: 'As records show it; it has no effect here.' }
const entrySchema = {
  type: 'object',
  properties: {
    lcr_carrier_set_entry_sid: optionalId('The entry to change; left out, one is made.'),
    lcr_route_sid: shownId,
    voip_carrier_sid: {
      type: 'string',
      format: 'uuid',
      description: 'The carrier that calls are offered to.',
    },
    workload: {
      type: ['integer', 'null'],
      minimum: 1,
      maximum: 1_000_000,
      description: 'The share of the calls among the entries of one priority; 1 when left out.',
    },
    priority: {
      type: ['integer', 'null'],
      minimum: 0,
      maximum: 1_000_000,
      description: 'The lowest is tried first; 0 when left out.',
    },
  },
  required: ['voip_carrier_sid'],
}
function routeList(): Field<readonly GivenRoute[]> {
  return createField({
    normalize: (value) => eachOf(value, withoutEmptyIds),
    schema: {
      type: 'array',
      maxItems: maxRoutes,
      items: {
        type: 'object',
        properties: {
          lcr_route_sid: optionalId('The route to change; left out, one is made.'),
          lcr_sid: shownId,
          regex: {
            type: 'string',
            minLength: 1,
            maxLength: 32,
            ...printable,
            description: 'A regular expression that is matched with the number dialled.',
          },
          description: {
            type: ['string', 'null'],
            maxLength: 1024,
            ...printable,
            description: 'For people.',
          },
          priority: {
            type: 'integer',
            minimum: 0,
            maximum: 1_000_000,
            description: 'The lowest is tried first.',
          },
          lcr_carrier_set_entries: {
            type: 'array',
            minItems: 1,
            maxItems: maxEntries,
            items: entrySchema,
            description: 'The carriers of the route.',
          },
        },
        required: ['regex', 'priority', 'lcr_carrier_set_entries'],
      },
    },
    example: [
      {
        regex: '^49',
        priority: 1,
        lcr_carrier_set_entries: [
          { voip_carrier_sid: '5f0c4e9a-2f3b-4c55-9d0e-7b1a3c2d4e5f', workload: 1, priority: 0 },
        ],
      },
    ],
  })
}

/** Drops ids that are "", which forms send for records that do not exist yet. */
function withoutEmptyIds(given: Readonly<Record<string, unknown>>): object {
  const isGiven = ([name, value]: [string, unknown]): boolean => value !== '' || !name.endsWith('_sid')
  const entries = eachOf(given[entriesName], withoutEmptyIds)
  return {
    ...Object.fromEntries(Object.entries(given).filter(isGiven)),
    ...(entries === undefined ? {} : { [entriesName]: entries }),
  }
}

/** Returns a value that is not a list of objects unchanged, for the schema to refuse. */
function eachOf(value: unknown, change: (member: Readonly<Record<string, unknown>>) => object): unknown {
  if (!Array.isArray(value)) return value
  return value.map((member: unknown) =>
    typeof member === 'object' && member !== null
      ? change(member as Readonly<Record<string, unknown>>)
      : member,
  )
}

const written = { status: 204, description: 'Written, all of them.' } as const

export const createRoutesOfLcr = defineRoute({
  method: 'POST',
  path: '/Lcrs/{LcrSid}/Routes',
  parameters: { LcrSid: 'The id of the routing table.' },
  access: everyone,
  operationId: 'createRoutesOfLcr',
  tag: 'Lcrs',
  summary: 'Makes routes of a table with their carriers, all of them or none.',
  description: 'A route of priority 9999 makes its first entry the default of the table.',
  body: { routes: routeList() },
  bodyIs: 'routes',
  reply: written,
  errors: ['not_found', 'quota_reached'],
  handle: ({ params, body, ...context }) => {
    // Only the platform chooses ids.
    const routes = body.routes.map((route) => ({ ...route, lcr_route_sid: null }))
    return writeRoutes(params.LcrSid, routes, context)
  },
})

export const updateRoutesOfLcr = defineRoute({
  method: 'PUT',
  path: '/Lcrs/{LcrSid}/Routes',
  parameters: { LcrSid: 'The id of the routing table.' },
  access: everyone,
  operationId: 'updateRoutesOfLcr',
  tag: 'Lcrs',
  summary: 'Changes and makes routes of a table with their carriers, all of them or none.',
  description:
    'Routes and entries with an id are changed, others are made, and those that are not listed stay as they are. If they are ' +
    'refused and the table has no route yet, the table is removed: it can be made again.',
  body: { routes: routeList() },
  bodyIs: 'routes',
  reply: written,
  errors: ['not_found', 'quota_reached'],
  whenRefused: removeEmpty,
  handle: ({ params, body, ...context }) => writeRoutes(params.LcrSid, body.routes, context),
})

async function writeRoutes(
  sid: string,
  routes: readonly GivenRoute[],
  { caller, services }: RecordContext,
): Promise<void> {
  await services.storage.transaction(caller.tenancy, async (rows) => {
    const lcr = await rows.lcrs.find(sid)
    if (lcr === undefined) throw new AppError('not_found', 'no such routing table')
    const context = { caller, services, rows }
    for (const [index, route] of routes.entries()) {
      const place = `routes.${index}`
      await naming(place, () => writeRoute(lcr, route, place, context))
    }
  })
}

/**
 * Removes a table without routes. Clients make a table with one request and send its routes with the next. If the first
 * routes are refused, the table must not stay: its owner may have one only, and would be refused the next.
 */
async function removeEmpty({ params, caller, services }: RefusedRequest): Promise<string | undefined> {
  const sid = params['LcrSid'] ?? ''
  return services.storage.transaction(caller.tenancy, async (rows) => {
    const lcr = await rows.lcrs.find(sid)
    const isForeign = caller.tenancy.level === 'account' && lcr?.account_sid === null
    if (lcr === undefined || isForeign) return undefined
    if ((await rows.lcr_routes.count({ where: { lcr_sid: sid } })) > 0) return undefined
    await rows.lcrs.remove(sid)
    return 'the routing table had no route yet and was removed'
  })
}

/** Adds the place of the record in the list to a refusal. */
async function naming<R>(place: string, write: () => Promise<R>): Promise<R> {
  try {
    return await write()
  } catch (error) {
    // A quota is one of the table, and of no record in the list.
    const isNamed = error instanceof AppError && error.code !== 'quota_reached'
    if (!isNamed || error.message.startsWith('routes.')) throw error
    throw reworded(error, `${place}.${error.message}`)
  }
}

async function writeRoute(
  { lcr_sid }: Row<'lcrs'>,
  route: GivenRoute,
  place: string,
  context: RecordContext,
): Promise<void> {
  const { lcr_route_sid: given = null, lcr_carrier_set_entries: entries, ...values } = route
  let lcr_route_sid = given
  if (lcr_route_sid === null) {
    lcr_route_sid = await lcrRoutes.create({ ...values, lcr_sid }, context)
  } else {
    const stored = await context.rows.lcr_routes.find(lcr_route_sid)
    if (stored?.lcr_sid !== lcr_sid)
      throw new AppError('bad_request', 'lcr_route_sid names no route of this table')
    await lcrRoutes.update(lcr_route_sid, values, context)
  }
  const target = { lcr_route_sid, isNewRoute: given === null }
  for (const [index, entry] of entries.entries())
    await naming(`${place}.lcr_carrier_set_entries.${index}`, () => writeEntry(target, entry, context))
}

async function writeEntry(
  { lcr_route_sid, isNewRoute }: { readonly lcr_route_sid: string; readonly isNewRoute: boolean },
  { lcr_carrier_set_entry_sid: given = null, voip_carrier_sid, workload, priority }: GivenEntry,
  context: RecordContext,
): Promise<void> {
  const values = {
    voip_carrier_sid,
    ...(workload === undefined || workload === null ? {} : { workload }),
    ...(priority === undefined || priority === null ? {} : { priority }),
  }
  if (given === null || isNewRoute) {
    await lcrCarrierSetEntries.create({ ...values, lcr_route_sid }, context)
    return
  }
  const stored = await context.rows.lcr_carrier_set_entries.find(given)
  if (stored?.lcr_route_sid !== lcr_route_sid)
    throw new AppError('bad_request', 'lcr_carrier_set_entry_sid names no entry of this route')
  await lcrCarrierSetEntries.update(given, values, context)
}
