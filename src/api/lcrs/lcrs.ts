// The resource Lcr, a table of least cost routing: the carriers to which a call is offered, and their order.
import { AppError } from '../../lib/errors.ts'
import type { Repositories, Row } from '../../storage/storage.ts'
import { flag, integer, recordSid, sid, text } from '../define/fields.ts'
import { defineResource } from '../define/resource.ts'

export const lcrs = defineResource({
  name: 'Lcr',
  noun: 'routing table',
  path: '/Lcrs',
  summary: 'A table of least cost routing. An account has at most one, and so has a service provider.',
  table: 'lcrs',
  owner: 'any',
  operations: ['list', 'create', 'read', 'update', 'delete'],
  list: {
    // Clients treat the first one as the provider's.
    where: ({ tenancy }) => (tenancy.level === 'service_provider' ? { account_sid: null } : {}),
    orderBy: ['created_at'],
    filters: {
      account_sid: sid().optional().describe('Only the table of this account.'),
      service_provider_sid: sid()
        .optional()
        .describe('Only tables of this service provider and its accounts.'),
    },
  },
  fields: {
    lcr_sid: recordSid(),
    name: text({ max: 64 }).describe('The name shown to people; may be empty.').example('to the world'),
    is_active: flag().default(1).describe('0: no call is routed by it.'),
    default_carrier_set_entry_sid: sid()
      .nullable()
      .describe('The entry that takes the calls that no route matches: that of the route of priority 9999.'),
    account_sid: sid('accounts')
      .nullable()
      .fixedAfterCreate()
      .describe('The account whose calls it routes; null: those of all accounts without a table.'),
    service_provider_sid: sid('service_providers')
      .nullable()
      .fixedAfterCreate()
      .describe('The service provider it belongs to.'),
    number_routes: integer({ min: 0, max: 1_000_000 }).readOnly().describe('How many routes it has.'),
  },
  errors: { create: ['already_exists'] },
  async beforeCreate({ account_sid = null, service_provider_sid = null, ...values }, { rows }) {
    if ((values.default_carrier_set_entry_sid ?? null) !== null) throw noSuchEntry()
    if (service_provider_sid === null) return undefined
    const where = { account_sid, service_provider_sid }
    if ((await rows.lcrs.count({ where })) === 0) return undefined
    const owner = account_sid === null ? 'service provider' : 'account'
    throw new AppError('already_exists', `this ${owner} already has a routing table`)
  },
  async beforeUpdate({ default_carrier_set_entry_sid = null }, { lcr_sid }, { rows }) {
    if (default_carrier_set_entry_sid === null) return undefined
    const entry = await rows.lcr_carrier_set_entries.find(default_carrier_set_entry_sid)
    const route = entry === undefined ? undefined : await rows.lcr_routes.find(entry.lcr_route_sid)
    if (route?.lcr_sid !== lcr_sid) throw noSuchEntry()
    return undefined
  },
  join: async (tables, { rows }) => countRoutes(tables, rows),
})

function noSuchEntry(): AppError {
  return new AppError('bad_request', 'default_carrier_set_entry_sid names no entry of this routing table')
}

// Up to this number, one count per table is cheaper than reading all routes.
const maxSingleCounts = 64

async function countRoutes(
  tables: readonly Row<'lcrs'>[],
  rows: Repositories,
): Promise<{ number_routes: number }[]> {
  if (tables.length <= maxSingleCounts)
    return Promise.all(
      tables.map(async ({ lcr_sid }) => ({
        number_routes: await rows.lcr_routes.count({ where: { lcr_sid } }),
      })),
    )
  const counts = new Map<string, number>()
  for (const { lcr_sid } of await rows.lcr_routes.list()) counts.set(lcr_sid, (counts.get(lcr_sid) ?? 0) + 1)
  return tables.map(({ lcr_sid }) => ({ number_routes: counts.get(lcr_sid) ?? 0 }))
}
