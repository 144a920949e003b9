// Where the phones of each node are, so that a node that was killed can call them as soon as it listens again.
import type { Kysely } from 'kysely'
import { required } from './columns.ts'

export async function up(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .createTable('registrations')
    .addColumn('node', 'text', required)
    .addColumn('aor', 'text', required)
    .addColumn('key', 'text', required)
    .addColumn('account_sid', 'text', (column) =>
      column.notNull().references('accounts.account_sid').onDelete('cascade'),
    )
    .addColumn('client_sid', 'text', (column) => column.references('clients.client_sid').onDelete('cascade'))
    .addColumn('username', 'text', required)
    .addColumn('realm', 'text', required)
    .addColumn('contact', 'text', required)
    .addColumn('instance', 'text')
    .addColumn('q', 'text')
    .addColumn('path', 'text', required)
    .addColumn('transport', 'text', required)
    .addColumn('address', 'text', required)
    .addColumn('port', 'integer', required)
    .addColumn('call_id', 'text', required)
    .addColumn('cseq', 'bigint', required)
    .addColumn('user_agent', 'text')
    .addColumn('expires_at', 'bigint', required)
    .addColumn('updated_at', 'bigint', required)
    .addPrimaryKeyConstraint('registrations_order', ['node', 'aor', 'key'])
    .execute()
  // A foreign key without an index makes each delete at its other end read the whole table.
  for (const column of ['account_sid', 'client_sid', 'aor', 'realm', 'expires_at'])
    await db.schema.createIndex(`registrations_by_${column}`).on('registrations').column(column).execute()
}
