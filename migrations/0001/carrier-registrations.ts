// Registrations of the platform with its carriers.
import type { Kysely } from 'kysely'
import { carrier, id, indexEach, preset } from './columns.ts'

/** Creates the table, with one row for each carrier. `node_id` is the node that registers; null if none does. */
export async function createCarrierRegistrations(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .createTable('carrier_registrations')
    .addColumn('voip_carrier_sid', 'text', (column) => carrier(id(column)).onDelete('cascade'))
    .addColumn('node_id', 'text', (column) => column.references('nodes.node_id').onDelete('set null'))
    .addColumn('call_id', 'text')
    .addColumn('cseq', 'bigint', preset(0))
    .addColumn('contact', 'text')
    .addColumn('expires_at', 'bigint', preset(0))
    // The gateway that the registration goes over; null if it goes to the realm.
    .addColumn('gateway', 'text')
    // JSON texts: the addresses of the registrar, and the values of its Service-Route.
    .addColumn('addresses', 'text', preset('[]'))
    .addColumn('routes', 'text', preset('[]'))
    .execute()
  await indexEach(db, 'carrier_registrations', ['node_id'])
}
