// Tables of the platform itself: settings, limits, its own addresses, alerts, responses kept for repeated requests.
import { sql, type Kysely } from 'kysely'
import { flag, id, preset, provider, required, versioned } from './columns.ts'

export async function createPlatform(db: Kysely<unknown>): Promise<void> {
  await createSettings(db)
  await createLimits(db)
  await createAddresses(db)
  await createSystemInformation(db)
  await createAlerts(db)
  await createIdempotencyKeys(db)
}

/**
 * Creates the table of password rules, with one row whose id is 'default', and the table of settings that the platform
 * keeps, such as the secret of login tokens.
 */
async function createSettings(db: Kysely<unknown>): Promise<void> {
  await versioned(db.schema.createTable('password_settings'))
    .addColumn('password_settings_sid', 'text', id)
    .addColumn('min_password_length', 'integer', preset(8))
    .addColumn('require_digit', 'integer', flag(0))
    .addColumn('require_special_character', 'integer', flag(0))
    .execute()
  await versioned(db.schema.createTable('settings'))
    .addColumn('name', 'text', id)
    .addColumn('value', 'text', required)
    .execute()
}

/** Creates the table of limits, one row per category. A limit without an account applies to the whole provider. */
async function createLimits(db: Kysely<unknown>): Promise<void> {
  await versioned(db.schema.createTable('limits'))
    .addColumn('limit_sid', 'text', id)
    .addColumn('account_sid', 'text')
    .addColumn('service_provider_sid', 'text', (column) => provider(column.notNull()))
    .addColumn('category', 'text', required)
    .addColumn('quantity', 'integer', required)
    .addForeignKeyConstraint(
      'limits_owner',
      ['service_provider_sid', 'account_sid'],
      'accounts',
      ['service_provider_sid', 'account_sid'],
      (key) => key.onDelete('cascade'),
    )
    .addUniqueConstraint('limits_category', ['account_sid', 'category'])
    .execute()
  // NULL equals nothing, so the constraint above does not cover the limits of providers.
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

/**
 * Creates the tables of the platform's addresses for carriers. One without a provider is for those without their own.
 */
async function createAddresses(db: Kysely<unknown>): Promise<void> {
  await versioned(db.schema.createTable('sbc_addresses'))
    .addColumn('sbc_address_sid', 'text', id)
    .addColumn('service_provider_sid', 'text', provider)
    .addColumn('ipv4', 'text', required)
    .addColumn('port', 'integer', preset(5060))
    .addColumn('tls_port', 'integer')
    .addColumn('wss_port', 'integer')
    .addColumn('last_updated', 'bigint')
    .execute()
  await versioned(db.schema.createTable('smpp_addresses'))
    .addColumn('smpp_address_sid', 'text', id)
    .addColumn('service_provider_sid', 'text', provider)
    .addColumn('ipv4', 'text', required)
    .addColumn('port', 'integer', preset(2775))
    .addColumn('use_tls', 'integer', flag(0))
    .addColumn('is_primary', 'integer', flag(1))
    .execute()
  for (const table of ['sbc_addresses', 'smpp_addresses'])
    await db.schema.createIndex(`${table}_by_owner`).on(table).column('service_provider_sid').execute()
}

/** Creates a table with one row, whose id is 'default'. */
async function createSystemInformation(db: Kysely<unknown>): Promise<void> {
  await versioned(db.schema.createTable('system_information'))
    .addColumn('system_information_sid', 'text', id)
    .addColumn('domain_name', 'text')
    .addColumn('sip_domain_name', 'text')
    .addColumn('monitoring_domain_name', 'text')
    .addColumn('private_network_cidr', 'text')
    .addColumn('log_level', 'text', preset('info'))
    .execute()
}

/** Creates the table of alerts without foreign keys, as for call records: an alert outlives its subject. */
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
  // The indexes include alert_type, so that the filter can count without reading the table.
  for (const owner of ['account_sid', 'service_provider_sid'])
    await db.schema
      .createIndex(`alerts_newest_by_${owner}`)
      .on('alerts')
      .columns([owner, 'time', 'alert_sid', 'alert_type'])
      .execute()
  await db.schema.createIndex('alerts_by_age').on('alerts').column('time').execute()
}

/** Creates the table of responses that are repeated for repeated requests. */
async function createIdempotencyKeys(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .createTable('idempotency_keys')
    .addColumn('principal', 'text', required)
    .addColumn('key', 'text', required)
    .addColumn('route', 'text', required)
    // Differs for different requests and reveals nothing of their bodies.
    .addColumn('fingerprint', 'text', required)
    .addColumn('status', 'integer', required)
    // JSON text, encrypted; null when there is no body.
    .addColumn('response', 'text')
    .addColumn('created_at', 'bigint', required)
    .addColumn('expires_at', 'bigint', required)
    .addPrimaryKeyConstraint('idempotency_keys_scope', ['principal', 'key'])
    .execute()
  await db.schema
    .createIndex('idempotency_keys_by_expiry')
    .on('idempotency_keys')
    .column('expires_at')
    .execute()
}
