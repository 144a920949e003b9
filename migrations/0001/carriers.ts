// Carriers with their gateways, phone numbers, Microsoft Teams tenants.
import { sql, type Kysely } from 'kysely'
import {
  application,
  carrier,
  flag,
  id,
  indexOwned,
  owned,
  preset,
  required,
  unique,
  versioned,
  type Column,
} from './columns.ts'

export async function createCarriers(db: Kysely<unknown>): Promise<void> {
  await createVoipCarriers(db)
  await createGateways(db)
  await createPhoneNumbers(db)
  await createTeamsTenants(db)
}

const parentCarrier: Column = (column) => carrier(column.notNull()).onDelete('cascade')

/** Creates the table of carriers. A carrier without an account serves every account of its provider. */
async function createVoipCarriers(db: Kysely<unknown>): Promise<void> {
  await owned('voip_carriers', versioned(db.schema.createTable('voip_carriers')))
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
    // JSON text: the outcome of the last registration.
    .addColumn('register_status', 'text')
    .addColumn('tech_prefix', 'text')
    .addColumn('send_user_phone', 'integer', flag(0))
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
  await indexOwned(db, 'voip_carriers', ['application_sid'])
}

/** Creates the tables of gateways. A gateway has the owner of its carrier. */
async function createGateways(db: Kysely<unknown>): Promise<void> {
  await owned('sip_gateways', versioned(db.schema.createTable('sip_gateways')))
    .addColumn('sip_gateway_sid', 'text', id)
    .addColumn('voip_carrier_sid', 'text', parentCarrier)
    // An address or, for outbound calls only, a host name. A host name without a port is resolved by its SRV records.
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
  await indexOwned(db, 'sip_gateways', ['voip_carrier_sid', 'ipv4'])
  await owned('smpp_gateways', versioned(db.schema.createTable('smpp_gateways')))
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
  await indexOwned(db, 'smpp_gateways', ['voip_carrier_sid'])
}

async function createPhoneNumbers(db: Kysely<unknown>): Promise<void> {
  await owned('phone_numbers', versioned(db.schema.createTable('phone_numbers')))
    .addColumn('phone_number_sid', 'text', id)
    // The number without a leading plus: the form that calls are matched with.
    .addColumn('number', 'text', required)
    // The number as it was sent.
    .addColumn('received_number', 'text', required)
    // The number with the plus if it was sent with one; a bare number may be a national one.
    .addColumn('e164_number', 'text')
    // 1 if `number` has characters other than digits, and stands for every number it matches.
    .addColumn('is_pattern', 'integer', flag(0))
    .addColumn('voip_carrier_sid', 'text', carrier)
    .addColumn('application_sid', 'text', application)
    .addUniqueConstraint('phone_numbers_number', ['number', 'voip_carrier_sid'])
    .execute()
  // NULL equals nothing, so the constraint above does not cover numbers without a carrier.
  await db.schema
    .createIndex('phone_numbers_without_carrier')
    .unique()
    .on('phone_numbers')
    .columns(['number', 'service_provider_sid'])
    .where(sql.ref('voip_carrier_sid'), 'is', null)
    .execute()
  // The index finds the few numbers that are patterns among the many that are plain.
  await db.schema
    .createIndex('phone_numbers_patterns')
    .on('phone_numbers')
    .columns(['voip_carrier_sid', 'is_pattern'])
    .execute()
  await indexOwned(db, 'phone_numbers', ['voip_carrier_sid', 'application_sid'])
}

async function createTeamsTenants(db: Kysely<unknown>): Promise<void> {
  await owned('ms_teams_tenants', versioned(db.schema.createTable('ms_teams_tenants')))
    .addColumn('ms_teams_tenant_sid', 'text', id)
    .addColumn('application_sid', 'text', application)
    // Stored in lower case.
    .addColumn('tenant_fqdn', 'text', unique)
    .execute()
  await indexOwned(db, 'ms_teams_tenants', ['application_sid'])
}
