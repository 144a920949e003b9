// The resource LcrRoute of a routing table: the numbers that it matches, and the carriers to which their calls are
// offered.
import { AppError } from '../../lib/errors.ts'
import type { Repositories, Row } from '../../storage/storage.ts'
import { integer, recordSid, sid, text } from '../define/fields.ts'
import type { RecordContext } from '../define/request.ts'
import { list } from '../define/reply-fields.ts'
import { defineResource } from '../define/resource.ts'
import { defaultPriority, dropDefaultRoute, followDefaultRoute } from './default-entry.ts'
import { demandDialPattern, dialPattern } from './dial-pattern.ts'
import { lcrCarrierSetEntries } from './lcr-carrier-set-entries.ts'

/** The most routes of a table: each call is matched with them until one matches. */
export const maxRoutes = 100

export const lcrRoutes = defineResource({
  name: 'LcrRoute',
  noun: 'route',
  path: '/LcrRoutes',
  summary: 'Which numbers go to which carriers.',
  table: 'lcr_routes',
  owner: { partOf: 'lcr_sid' },
  operations: ['list', 'create', 'read', 'update', 'delete'],
  list: { orderBy: ['priority', 'created_at'] },
  errors: { create: ['quota_reached'] },
  fields: {
    lcr_route_sid: recordSid(),
    lcr_sid: sid('lcrs').fixedAfterCreate().describe('The routing table it is a part of.'),
    regex: dialPattern(),
    description: text({ max: 1024 }).nullable().describe('For people.'),
    priority: integer({ min: 0, max: 1_000_000 }).describe(
      `The lowest is tried first; ${defaultPriority} is the default of the table.`,
    ),
    lcr_carrier_set_entries: list(lcrCarrierSetEntries.field)
      .readOnly()
      .describe('Its carriers, the first to be tried first.'),
  },
  async beforeCreate({ lcr_sid, regex }, { rows }) {
    demandDialPattern(regex, 'regex')
    if ((await rows.lcr_routes.count({ where: { lcr_sid } })) >= maxRoutes)
      throw new AppError('quota_reached', `a routing table may have at most ${maxRoutes} routes`, {
        cure: 'Join routes to the same carriers into one, such as ^(43|49), or remove those that are not needed.',
      })
    return undefined
  },
  async beforeUpdate({ regex, priority = defaultPriority }, row, { rows }) {
    demandDialPattern(regex, 'regex')
    if (row.priority === defaultPriority && priority !== defaultPriority) await dropDefaultRoute(row, rows)
    return undefined
  },
  afterWrite: ({ lcr_sid }, { rows }) => followDefaultRoute(lcr_sid, rows),
  join: joinEntries,
})

// Up to this number, one read per route is cheaper than reading all entries.
const maxSingleReads = 64

async function joinEntries(
  routes: readonly Row<'lcr_routes'>[],
  context: RecordContext,
): Promise<{ lcr_carrier_set_entries: object[] }[]> {
  const entries = await lcrCarrierSetEntries.toWire(await readEntries(routes, context.rows), context)
  const byRoute = Map.groupBy(entries, ({ lcr_route_sid }) => lcr_route_sid)
  return routes.map(({ lcr_route_sid }) => ({
    lcr_carrier_set_entries: byRoute.get(lcr_route_sid) ?? [],
  }))
}

async function readEntries(
  routes: readonly Row<'lcr_routes'>[],
  rows: Repositories,
): Promise<Row<'lcr_carrier_set_entries'>[]> {
  const orderBy = ['priority', 'created_at'] as const
  if (routes.length > maxSingleReads) return rows.lcr_carrier_set_entries.list({ orderBy })
  const read = routes.map(({ lcr_route_sid }) =>
    rows.lcr_carrier_set_entries.list({ where: { lcr_route_sid }, orderBy }),
  )
  return (await Promise.all(read)).flat()
}
