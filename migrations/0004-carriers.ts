// The tables of carriers: carriers with their gateways, phone numbers, Microsoft Teams tenants, least cost routing.
import { sql } from 'kysely'
import type { ColumnDefinitionBuilder, Kysely } from 'kysely'
import { flag, id, ownedAtAnyLevel, owner, preset, required, unique, versioned } from './columns.ts'

export async function up(db: Kysely<unknown>): Promise<void> {
  await createCarriers(db)
  await createGateways(db)
  await createPhoneNumbers(db)
  await createTenants(db)
  await createRouting(db)
}

const application = (column: ColumnDefinitionBuilder): ColumnDefinitionBuilder =>
  column.references('applications.application_sid')
const carrier = (column: ColumnDefinitionBuilder): ColumnDefinitionBuilder =>
  column.references('voip_carriers.voip_carrier_sid')
const parentCarrier = (column: ColumnDefinitionBuilder): ColumnDefinitionBuilder =>
  carrier(column.notNull()).onDelete('cascade')

/** A foreign key without an index makes each delete at its other end read the whole table. */
async function index(db: Kysely<unknown>, table: string, keys: readonly string[]): Promise<void> {
  await db.schema.createIndex(`${table}_by_owner`).on(table).columns(owner).execute()
  await db.schema.createIndex(`${table}_by_account`).on(table).column('account_sid').execute()
  for (const key of keys) await db.schema.createIndex(`${table}_by_${key}`).on(table).column(key).execute()
}

async function createCarriers(db: Kysely<unknown>): Promise<void> {
  await ownedAtAnyLevel('voip_carriers', versioned(db.schema.createTable('voip_carriers')))
    .addColumn('voip_carrier_sid', 'text', id)
    .addColumn('name', 'text', required)
    .addColumn('description', 'text')
    .addColumn('application_sid', 'text', application)
    .addColumn('e164_leading_plus', 'integer', flag(0))
    .addColumn('requires_register', 'integer', flag(0))
    .addColumn('register_username', 'text')
    .addColumn('register_sip_realm', 'text')
    .addColumn('register_password', 'text')
    .addColumn('register_from_user', 'text')
    .addColumn('register_from_domain', 'text')
    .addColumn('register_public_ip_in_contact', 'integer', flag(0))
    .addColumn('register_status', 'text')
    .addColumn('tech_prefix', 'text')
    .addColumn('inbound_auth_username', 'text')
    .addColumn('inbound_auth_password', 'text')
    .addColumn('diversion', 'text')
    .addColumn('is_active', 'integer', flag(1))
    .addColumn('smpp_system_id', 'text')
    .addColumn('smpp_password', 'text')
    .addColumn('smpp_inbound_system_id', 'text')
    .addColumn('smpp_inbound_password', 'text')
    .addColumn('smpp_enquire_link_interval', 'integer', preset(0))
    .addColumn('dtmf_type', 'text', preset('rfc2833'))
    .addColumn('outbound_sip_proxy', 'text')
    .addColumn('trunk_type', 'text', preset('static_ip'))
    .execute()
  await index(db, 'voip_carriers', ['application_sid'])
}

async function createGateways(db: Kysely<unknown>): Promise<void> {
  await ownedAtAnyLevel('sip_gateways', versioned(db.schema.createTable('sip_gateways')))
    .addColumn('sip_gateway_sid', 'text', id)
    .addColumn('voip_carrier_sid', 'text', parentCarrier)
    .addColumn('ipv4', 'text', required)
    .addColumn('port', 'integer')
    .addColumn('netmask', 'integer', preset(32))
    .addColumn('inbound', 'integer', flag(0))
    .addColumn('outbound', 'integer', flag(0))
    .addColumn('is_active', 'integer', flag(1))
    .addColumn('protocol', 'text', preset('udp'))
    .addColumn('pad_crypto', 'integer', flag(0))
    .addColumn('send_options_ping', 'integer', flag(0))
    .addColumn('use_sips_scheme', 'integer', flag(0))
    .addColumn('remove_ice', 'integer', flag(0))
    .addColumn('dtls_off', 'integer', flag(0))
    .execute()
  await index(db, 'sip_gateways', ['voip_carrier_sid', 'ipv4'])
  await ownedAtAnyLevel('smpp_gateways', versioned(db.schema.createTable('smpp_gateways')))
    .addColumn('smpp_gateway_sid', 'text', id)
    .addColumn('voip_carrier_sid', 'text', parentCarrier)
    .addColumn('ipv4', 'text', required)
    .addColumn('port', 'integer', preset(2775))
    .addColumn('netmask', 'integer', preset(32))
    .addColumn('is_primary', 'integer', flag(1))
    .addColumn('inbound', 'integer', flag(0))
    .addColumn('outbound', 'integer', flag(1))
    .addColumn('use_tls', 'integer', flag(0))
    .execute()
  await index(db, 'smpp_gateways', ['voip_carrier_sid'])
}

async function createPhoneNumbers(db: Kysely<unknown>): Promise<void> {
  await ownedAtAnyLevel('phone_numbers', versioned(db.schema.createTable('phone_numbers')))
    .addColumn('phone_number_sid', 'text', id)
    .addColumn('number', 'text', required)
    .addColumn('received_number', 'text', required)
    .addColumn('e164_number', 'text')
    .addColumn('voip_carrier_sid', 'text', carrier)
    .addColumn('application_sid', 'text', application)
    .addUniqueConstraint('phone_numbers_number', ['number', 'voip_carrier_sid'])
    .execute()
  // NULL equals nothing: the constraint above says nothing of numbers without a carrier.
  await db.schema
    .createIndex('phone_numbers_without_carrier')
    .unique()
    .on('phone_numbers')
    .columns(['number', 'service_provider_sid'])
    .where(sql.ref('voip_carrier_sid'), 'is', null)
    .execute()
  await index(db, 'phone_numbers', ['voip_carrier_sid', 'application_sid'])
}

async function createTenants(db: Kysely<unknown>): Promise<void> {
  await ownedAtAnyLevel('ms_teams_tenants', versioned(db.schema.createTable('ms_teams_tenants')))
    .addColumn('ms_teams_tenant_sid', 'text', id)
    .addColumn('application_sid', 'text', application)
    .addColumn('tenant_fqdn', 'text', unique)
    .execute()
  await index(db, 'ms_teams_tenants', ['application_sid'])
}

async function createRouting(db: Kysely<unknown>): Promise<void> {
  await ownedAtAnyLevel('lcrs', versioned(db.schema.createTable('lcrs')))
    .addColumn('lcr_sid', 'text', id)
    .addColumn('name', 'text', required)
    .addColumn('is_active', 'integer', flag(1))
    .execute()
  // One table each: an account's, and a provider's own.
  await db.schema.createIndex('lcrs_of_account').unique().on('lcrs').column('account_sid').execute()
  await db.schema
    .createIndex('lcrs_of_provider')
    .unique()
    .on('lcrs')
    .column('service_provider_sid')
    .where(sql.ref('account_sid'), 'is', null)
    .execute()
  await db.schema.createIndex('lcrs_by_owner').on('lcrs').columns(owner).execute()
  await ownedAtAnyLevel('lcr_routes', versioned(db.schema.createTable('lcr_routes')))
    .addColumn('lcr_route_sid', 'text', id)
    .addColumn('lcr_sid', 'text', (column) => column.notNull().references('lcrs.lcr_sid').onDelete('cascade'))
    .addColumn('regex', 'text', required)
    .addColumn('description', 'text')
    .addColumn('priority', 'integer', required)
    .execute()
  await index(db, 'lcr_routes', [])
  await db.schema
    .createIndex('lcr_routes_in_order')
    .on('lcr_routes')
    .columns(['lcr_sid', 'priority'])
    .execute()
  await ownedAtAnyLevel(
    'lcr_carrier_set_entries',
    versioned(db.schema.createTable('lcr_carrier_set_entries')),
  )
    .addColumn('lcr_carrier_set_entry_sid', 'text', id)
    .addColumn('lcr_route_sid', 'text', (column) =>
      column.notNull().references('lcr_routes.lcr_route_sid').onDelete('cascade'),
    )
    .addColumn('voip_carrier_sid', 'text', (column) => carrier(column.notNull()))
    .addColumn('workload', 'integer', preset(1))
    .addColumn('priority', 'integer', preset(0))
    .execute()
  await index(db, 'lcr_carrier_set_entries', ['lcr_route_sid', 'voip_carrier_sid'])
  // Tables point at entries, which belong to them: the column comes once both ends exist.
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
