// Defence against calls at the expense of an account: the destinations it may call, and its usage.
import type { Kysely } from 'kysely'
import { account, id, preset, provider, required, versioned } from './columns.ts'

export async function createDefence(db: Kysely<unknown>): Promise<void> {
  await createCallDefences(db)
  await createOutdialUsage(db)
}

/**
 * Creates the table with one row for an account or a provider. The id of a row is that of its owner, so that there are
 * never two. For a column that is null, other settings apply.
 */
async function createCallDefences(db: Kysely<unknown>): Promise<void> {
  await versioned(db.schema.createTable('call_defences'))
    .addColumn('call_defence_sid', 'text', id)
    .addColumn('account_sid', 'text')
    .addColumn('service_provider_sid', 'text', (column) => provider(column.notNull()))
    .addColumn('kill_switch', 'text')
    .addColumn('country_code', 'text')
    .addColumn('allow_premium_rate', 'integer')
    .addColumn('allow_satellite', 'integer')
    .addColumn('allow_high_risk', 'integer')
    // JSON texts: prefixes of numbers.
    .addColumn('open_prefixes', 'text', preset('[]'))
    .addColumn('closed_prefixes', 'text', preset('[]'))
    .addColumn('calls_per_second', 'integer')
    .addColumn('calls_per_minute', 'integer')
    .addColumn('concurrent_calls', 'integer')
    .addColumn('minutes_per_day', 'integer')
    .addForeignKeyConstraint(
      'call_defences_owner',
      ['service_provider_sid', 'account_sid'],
      'accounts',
      ['service_provider_sid', 'account_sid'],
      (key) => key.onDelete('cascade'),
    )
    .execute()
  await db.schema
    .createIndex('call_defences_by_owner')
    .on('call_defences')
    .columns(['service_provider_sid', 'account_sid'])
    .execute()
}

/** Creates the table of each node's counts for an account in its last minute and on its last day. */
async function createOutdialUsage(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .createTable('outdial_usage')
    .addColumn('account_sid', 'text', account)
    .addColumn('node_id', 'text', required)
    .addColumn('minute', 'bigint', required)
    .addColumn('calls_in_minute', 'integer', required)
    .addColumn('day', 'bigint', required)
    .addColumn('spoken_ms', 'bigint', required)
    .addColumn('live', 'integer', required)
    .addColumn('counted_at', 'bigint', required)
    .addPrimaryKeyConstraint('outdial_usage_key', ['account_sid', 'node_id'])
    .execute()
  await db.schema.createIndex('outdial_usage_by_day').on('outdial_usage').column('day').execute()
}
