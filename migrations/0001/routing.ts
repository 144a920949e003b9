// Least cost routing: tables, their routes, and the carriers of each route.
import { sql, type Kysely } from 'kysely'
import { carrier, flag, id, indexOwned, owned, owner, preset, required, versioned } from './columns.ts'

/** Creates the tables. Routes and entries have the owner of their LCR. */
export async function createRouting(db: Kysely<unknown>): Promise<void> {
  await owned('lcrs', versioned(db.schema.createTable('lcrs')))
    .addColumn('lcr_sid', 'text', id)
    .addColumn('name', 'text', required)
    .addColumn('is_active', 'integer', flag(1))
    .execute()
  // Each account has at most one LCR, and so has each provider itself.
  await db.schema.createIndex('lcrs_of_account').unique().on('lcrs').column('account_sid').execute()
  await db.schema
    .createIndex('lcrs_of_provider')
    .unique()
    .on('lcrs')
    .column('service_provider_sid')
    .where(sql.ref('account_sid'), 'is', null)
    .execute()
  await db.schema.createIndex('lcrs_by_owner').on('lcrs').columns(owner).execute()
  await owned('lcr_routes', versioned(db.schema.createTable('lcr_routes')))
    .addColumn('lcr_route_sid', 'text', id)
    .addColumn('lcr_sid', 'text', (column) => column.notNull().references('lcrs.lcr_sid').onDelete('cascade'))
    .addColumn('regex', 'text', required)
    .addColumn('description', 'text')
    // The route with the lowest number is tried first.
    .addColumn('priority', 'integer', required)
    .execute()
  await indexOwned(db, 'lcr_routes', [])
  await db.schema
    .createIndex('lcr_routes_in_order')
    .on('lcr_routes')
    .columns(['lcr_sid', 'priority'])
    .execute()
  await owned('lcr_carrier_set_entries', versioned(db.schema.createTable('lcr_carrier_set_entries')))
    .addColumn('lcr_carrier_set_entry_sid', 'text', id)
    .addColumn('lcr_route_sid', 'text', (column) =>
      column.notNull().references('lcr_routes.lcr_route_sid').onDelete('cascade'),
    )
    .addColumn('voip_carrier_sid', 'text', (column) => carrier(column.notNull()))
    // The share of calls that this entry gets among the entries of one priority.
    .addColumn('workload', 'integer', preset(1))
    .addColumn('priority', 'integer', preset(0))
    .execute()
  await indexOwned(db, 'lcr_carrier_set_entries', ['lcr_route_sid', 'voip_carrier_sid'])
  // LCRs point at entries, which belong to them: the column is added once both tables exist.
  await db.schema
    .alterTable('lcrs')
    .addColumn('default_carrier_set_entry_sid', 'text', (column) =>
      column.references('lcr_carrier_set_entries.lcr_carrier_set_entry_sid').onDelete('set null'),
    )
    .execute()
  await db.schema
    .createIndex('lcrs_by_default_carrier_set_entry_sid')
    .on('lcrs')
    .column('default_carrier_set_entry_sid')
    .execute()
}
