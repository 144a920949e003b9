// The resource LcrCarrierSetEntry: a carrier to which the calls of a route are offered.
import { integer, recordSid, sid } from '../define/fields.ts'
import { defineResource } from '../define/resource.ts'
import { followDefaultRoute } from './default-entry.ts'

export const lcrCarrierSetEntries = defineResource({
  name: 'LcrCarrierSetEntry',
  noun: 'carrier entry',
  path: '/LcrCarrierSetEntries',
  summary: 'A carrier that the calls of a route are offered to.',
  table: 'lcr_carrier_set_entries',
  owner: { partOf: 'lcr_route_sid' },
  operations: ['list', 'create', 'read', 'update', 'delete'],
  list: { orderBy: ['priority'] },
  fields: {
    lcr_carrier_set_entry_sid: recordSid(),
    lcr_route_sid: sid('lcr_routes').fixedAfterCreate().describe('The route it is a part of.'),
    voip_carrier_sid: sid('voip_carriers').describe(
      'A carrier of the owner of the table, or shared with it.',
    ),
    workload: integer({ min: 1, max: 1_000_000 })
      .default(1)
      .describe('The share of the calls among the entries of one priority.'),
    priority: integer({ min: 0, max: 1_000_000 }).default(0).describe('The lowest is tried first.'),
  },
  async afterWrite({ lcr_route_sid }, { rows }) {
    const route = await rows.lcr_routes.find(lcr_route_sid)
    if (route !== undefined) await followDefaultRoute(route.lcr_sid, rows)
  },
})
