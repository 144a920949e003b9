// The tables of administration: limits, password resets, our own addresses, facts about the system, alerts.
import { sql } from 'kysely'
import type { ColumnDefinitionBuilder, Kysely } from 'kysely'
import { flag, id, required, versioned } from './columns.ts'

export async function up(db: Kysely<unknown>): Promise<void> {
  await createLimits(db)
  await createPasswordResets(db)
  await createAddresses(db)
  await createSystemInformation(db)
  await createAlerts(db)
  await indexRecentCalls(db)
}

const provider = (column: ColumnDefinitionBuilder): ColumnDefinitionBuilder =>
  column.references('service_providers.service_provider_sid').onDelete('cascade')

async function createLimits(db: Kysely<unknown>): Promise<void> {
  await versioned(db.schema.createTable('limits'))
    .addColumn('limit_sid', 'text', id)
    .addColumn('account_sid', 'text')
    .addColumn('service_provider_sid', 'text', (column) => provider(column.notNull()))
    .addColumn('category', 'text', required)
    .addColumn('quantity', 'integer', required)
    .addForeignKeyConstraint(
      'limits_owner',
      ['service_provider_sid', 'account_sid'] as never[],
      'accounts',
      ['service_provider_sid', 'account_sid'],
      (key) => key.onDelete('cascade'),
    )
    .addUniqueConstraint('limits_category', ['account_sid', 'category'])
    .execute()
  // NULL equals nothing, so the constraint above says nothing of the limits of providers.
  await db.schema
    .createIndex('limits_provider_category')
    .unique()
    .on('limits')
    .columns(['service_provider_sid', 'category'])
    .where(sql.ref('account_sid'), 'is', null)
    .execute()
  await db.schema
    .createIndex('limits_by_owner')
    .on('limits')
    .columns(['service_provider_sid', 'account_sid'])
    .execute()
}

async function createPasswordResets(db: Kysely<unknown>): Promise<void> {
  await versioned(db.schema.createTable('password_resets'))
    .addColumn('password_reset_sid', 'text', id)
    .addColumn('user_sid', 'text', (column) =>
      column.notNull().references('users.user_sid').onDelete('cascade'),
    )
    .addColumn('link_hash', 'text', (column) => column.notNull().unique())
    .addColumn('expires_at', 'bigint', required)
    .addColumn('signed_in_at', 'bigint')
    .execute()
  await db.schema.createIndex('password_resets_by_user').on('password_resets').column('user_sid').execute()
  await db.schema
    .createIndex('password_resets_by_expiry')
    .on('password_resets')
    .column('expires_at')
    .execute()
}

async function createAddresses(db: Kysely<unknown>): Promise<void> {
  await versioned(db.schema.createTable('sbc_addresses'))
    .addColumn('sbc_address_sid', 'text', id)
    .addColumn('service_provider_sid', 'text', provider)
    .addColumn('ipv4', 'text', required)
    .addColumn('port', 'integer', (column) => column.notNull().defaultTo(5060))
    .addColumn('tls_port', 'integer')
    .addColumn('wss_port', 'integer')
    .addColumn('last_updated', 'bigint')
    .execute()
  await versioned(db.schema.createTable('smpp_addresses'))
    .addColumn('smpp_address_sid', 'text', id)
    .addColumn('service_provider_sid', 'text', provider)
    .addColumn('ipv4', 'text', required)
    .addColumn('port', 'integer', (column) => column.notNull().defaultTo(2775))
    .addColumn('use_tls', 'integer', flag(0))
    .addColumn('is_primary', 'integer', flag(1))
    .execute()
  for (const table of ['sbc_addresses', 'smpp_addresses'])
    await db.schema.createIndex(`${table}_by_owner`).on(table).column('service_provider_sid').execute()
}

async function createSystemInformation(db: Kysely<unknown>): Promise<void> {
  await versioned(db.schema.createTable('system_information'))
    .addColumn('system_information_sid', 'text', id)
    .addColumn('domain_name', 'text')
    .addColumn('sip_domain_name', 'text')
    .addColumn('monitoring_domain_name', 'text')
    .addColumn('private_network_cidr', 'text')
    .addColumn('log_level', 'text', (column) => column.notNull().defaultTo('info'))
    .execute()
}

/** Without foreign keys, as the call records: what happened is told whoever it happened to. */
async function createAlerts(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .createTable('alerts')
    .addColumn('alert_sid', 'text', id)
    .addColumn('account_sid', 'text')
    .addColumn('service_provider_sid', 'text', required)
    .addColumn('alert_type', 'text', required)
    .addColumn('message', 'text', required)
    .addColumn('detail', 'text')
    .addColumn('vendor', 'text')
    .addColumn('call_sid', 'text')
    .addColumn('time', 'bigint', required)
    .execute()
  // alert_type is in them, so that the filter counts without the table.
  for (const owner of ['account_sid', 'service_provider_sid'])
    await db.schema
      .createIndex(`alerts_newest_by_${owner}`)
      .on('alerts')
      .columns([owner, 'time', 'alert_sid', 'alert_type'])
      .execute()
  await db.schema.createIndex('alerts_by_age').on('alerts').column('time').execute()
}

async function indexRecentCalls(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .createIndex('recent_calls_newest_of_provider')
    .on('recent_calls')
    .columns(['service_provider_sid', 'attempted_at', 'call_sid', 'answered', 'direction'])
    .execute()
  await db.schema
    .createIndex('recent_calls_by_sip_call_id')
    .on('recent_calls')
    .columns(['sip_call_id', 'account_sid'])
    .execute()
}
