// The default of a routing table, which takes the calls that no route matches. Clients mark it with a route of this
// priority.
import type { Repositories, Row } from '../../storage/storage.ts'

export const defaultPriority = 9999

/** Follows the default route, if the table has one. Runs in the transaction of each change to routes and entries. */
export async function followDefaultRoute(lcr_sid: string, rows: Repositories): Promise<void> {
  const [route] = await rows.lcr_routes.list({ where: { lcr_sid, priority: defaultPriority }, limit: 1 })
  if (route === undefined) return
  const { lcr_route_sid } = route
  const [entry] = await rows.lcr_carrier_set_entries.list({
    where: { lcr_route_sid },
    orderBy: ['priority', 'created_at'],
    limit: 1,
  })
  await setDefault(lcr_sid, entry?.lcr_carrier_set_entry_sid ?? null, rows)
}

/** Removes the default if its route stops being the default route. */
export async function dropDefaultRoute(
  { lcr_sid, lcr_route_sid }: Row<'lcr_routes'>,
  rows: Repositories,
): Promise<void> {
  const lcr = await rows.lcrs.find(lcr_sid)
  const sid = lcr?.default_carrier_set_entry_sid ?? null
  const entry = sid === null ? undefined : await rows.lcr_carrier_set_entries.find(sid)
  if (entry?.lcr_route_sid === lcr_route_sid) await setDefault(lcr_sid, null, rows)
}

async function setDefault(lcr_sid: string, entry: string | null, rows: Repositories): Promise<void> {
  const lcr = await rows.lcrs.find(lcr_sid)
  if (lcr !== undefined && lcr.default_carrier_set_entry_sid !== entry)
    await rows.lcrs.update(lcr_sid, { default_carrier_set_entry_sid: entry })
}
