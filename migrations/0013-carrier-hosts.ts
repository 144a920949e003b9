// By which host names carriers call which accounts: such a name becomes no other account's SIP realm without a proof.
import type { Kysely } from 'kysely'
import { id, required, versioned } from './columns.ts'

export async function up(db: Kysely<unknown>): Promise<void> {
  await versioned(db.schema.createTable('carrier_hosts'))
    .addColumn('carrier_host_sid', 'text', id)
    .addColumn('account_sid', 'text', (column) =>
      column.notNull().references('accounts.account_sid').onDelete('cascade'),
    )
    .addColumn('host', 'text', required)
    .addColumn('called_at', 'bigint', required)
    .addUniqueConstraint('carrier_hosts_once', ['account_sid', 'host'])
    .execute()
  await db.schema.createIndex('carrier_hosts_by_host').on('carrier_hosts').column('host').execute()
  await db.schema.createIndex('carrier_hosts_by_time').on('carrier_hosts').column('called_at').execute()
}
