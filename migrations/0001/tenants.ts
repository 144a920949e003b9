// Service providers and accounts, with the hooks, applications and clients that belong to them.
import type { Kysely } from 'kysely'
import {
  account,
  application,
  flag,
  id,
  indexEach,
  ofAccount,
  owned,
  owner,
  preset,
  required,
  unique,
  uniqueIfAny,
  versioned,
  webhook,
} from './columns.ts'

export async function createTenants(db: Kysely<unknown>): Promise<void> {
  await createProviders(db)
  await createAccounts(db)
  await createWebhooks(db)
  await createApplications(db)
  await createClients(db)
  await createRegistrations(db)
  await createCarrierHosts(db)
}

async function createProviders(db: Kysely<unknown>): Promise<void> {
  await versioned(db.schema.createTable('service_providers'))
    .addColumn('service_provider_sid', 'text', id)
    .addColumn('name', 'text', unique)
    .addColumn('description', 'text')
    .addColumn('root_domain', 'text', uniqueIfAny)
    .addColumn('ms_teams_fqdn', 'text', uniqueIfAny)
    .execute()
}

async function createAccounts(db: Kysely<unknown>): Promise<void> {
  await versioned(db.schema.createTable('accounts'))
    .addColumn('account_sid', 'text', id)
    .addColumn('service_provider_sid', 'text', (column) =>
      column.notNull().references('service_providers.service_provider_sid'),
    )
    .addColumn('name', 'text', required)
    // Stored in lower case.
    .addColumn('sip_realm', 'text', uniqueIfAny)
    .addColumn('is_active', 'integer', flag(1))
    .addColumn('plan_type', 'text', preset('trial'))
    .addColumn('webhook_secret', 'text', required)
    .addColumn('disable_cdrs', 'integer', flag(0))
    .addColumn('ringing_after_ms', 'integer')
    .addColumn('sensitive_digits', 'integer', flag(0))
    .addColumn('record_all_calls', 'integer', flag(0))
    .addColumn('record_format', 'text', preset('mp3'))
    // JSON text.
    .addColumn('bucket_credential', 'text')
    .addColumn('enable_debug_log', 'integer', flag(0))
    .addColumn('device_to_call_ratio', 'integer', preset(5))
    .addColumn('trial_end_date', 'bigint')
    .addColumn('deactivated_reason', 'text')
    .addUniqueConstraint('accounts_owner_pair', ['service_provider_sid', 'account_sid'])
    .execute()
}

async function createWebhooks(db: Kysely<unknown>): Promise<void> {
  await owned('webhooks', versioned(db.schema.createTable('webhooks')))
    .addColumn('webhook_sid', 'text', id)
    .addColumn('url', 'text', required)
    .addColumn('method', 'text', preset('POST'))
    .addColumn('username', 'text')
    .addColumn('password', 'text')
    .execute()
  await db.schema.createIndex('webhooks_by_owner').on('webhooks').columns(owner).execute()
  await db.schema.createIndex('webhooks_by_account').on('webhooks').column('account_sid').execute()
  // Providers and accounts point at hooks, which belong to them: the columns are added once both tables exist.
  await db.schema
    .alterTable('service_providers')
    .addColumn('registration_hook_sid', 'text', webhook)
    .execute()
  for (const column of ['registration_hook_sid', 'queue_event_hook_sid'])
    await db.schema.alterTable('accounts').addColumn(column, 'text', webhook).execute()
  await indexEach(db, 'accounts', ['registration_hook_sid', 'queue_event_hook_sid'])
}

async function createApplications(db: Kysely<unknown>): Promise<void> {
  const table = versioned(db.schema.createTable('applications'))
  let applications = owned('applications', table, ofAccount)
    .addColumn('application_sid', 'text', id)
    .addColumn('name', 'text', required)
    .addColumn('call_hook_sid', 'text', webhook)
    .addColumn('call_status_hook_sid', 'text', webhook)
    .addColumn('messaging_hook_sid', 'text', webhook)
    // JSON text of an array of verbs.
    .addColumn('app_json', 'text')
    .addColumn('use_for_fallback_speech', 'integer', flag(0))
    .addColumn('record_all_calls', 'integer', flag(0))
    // JSON text.
    .addColumn('env_vars', 'text')
    .addUniqueConstraint('applications_name', ['account_sid', 'name'])
  for (const prefix of ['', 'fallback_'])
    for (const fact of [...synthesisFacts, ...recognizerFacts])
      applications = applications.addColumn(`${prefix}speech_${fact}`, 'text')
  await applications.execute()
  await indexInOrder(db, 'applications', 'application_sid')
  await indexEach(db, 'applications', ['call_hook_sid', 'call_status_hook_sid', 'messaging_hook_sid'])
  // Accounts also point at applications. A siprec_hook_sid is an application, in spite of its name.
  const pointers = ['device_calling_application_sid', 'siprec_hook_sid']
  for (const column of pointers)
    await db.schema.alterTable('accounts').addColumn(column, 'text', application).execute()
  await indexEach(db, 'accounts', pointers)
}

const synthesisFacts = ['synthesis_vendor', 'synthesis_language', 'synthesis_voice', 'synthesis_label']
const recognizerFacts = ['recognizer_vendor', 'recognizer_language', 'recognizer_label']

async function createClients(db: Kysely<unknown>): Promise<void> {
  await owned('clients', versioned(db.schema.createTable('clients')), ofAccount)
    .addColumn('client_sid', 'text', id)
    .addColumn('username', 'text', required)
    // Encrypted and not hashed: digest authentication needs it in clear.
    .addColumn('password', 'text', required)
    .addColumn('is_active', 'integer', flag(1))
    .addColumn('allow_direct_app_calling', 'integer', flag(1))
    .addColumn('allow_direct_queue_calling', 'integer', flag(1))
    .addColumn('allow_direct_user_calling', 'integer', flag(1))
    .addUniqueConstraint('clients_username', ['account_sid', 'username'])
    .execute()
  await indexInOrder(db, 'clients', 'client_sid')
}

/**
 * Creates the indexes for a table in which an account may have thousands of rows. Long lists are sent in chunks in the
 * order of their ids: without an index in that order, each chunk would read and sort every row that its caller may see.
 */
async function indexInOrder(db: Kysely<unknown>, table: string, key: string): Promise<void> {
  await db.schema
    .createIndex(`${table}_by_owner`)
    .on(table)
    .columns([...owner, key])
    .execute()
  await db.schema
    .createIndex(`${table}_of_provider`)
    .on(table)
    .columns(['service_provider_sid', key])
    .execute()
}

/** Creates the table of each node's phones, so that a killed node can call them as soon as it listens again. */
async function createRegistrations(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .createTable('registrations')
    .addColumn('node', 'text', required)
    .addColumn('aor', 'text', required)
    .addColumn('key', 'text', required)
    .addColumn('account_sid', 'text', account)
    // Null for a user that is not a client.
    .addColumn('client_sid', 'text', (column) => column.references('clients.client_sid').onDelete('cascade'))
    .addColumn('username', 'text', required)
    .addColumn('realm', 'text', required)
    .addColumn('contact', 'text', required)
    .addColumn('instance', 'text')
    .addColumn('q', 'text')
    // JSON text: the values of the Path header.
    .addColumn('path', 'text', required)
    .addColumn('transport', 'text', required)
    .addColumn('address', 'text', required)
    .addColumn('port', 'integer', required)
    // Where the phone itself signals from, as transport|address|port; null where only a proxy in front of it is known.
    .addColumn('place', 'text')
    .addColumn('call_id', 'text', required)
    .addColumn('cseq', 'bigint', required)
    .addColumn('user_agent', 'text')
    .addColumn('expires_at', 'bigint', required)
    .addColumn('updated_at', 'bigint', required)
    .addPrimaryKeyConstraint('registrations_order', ['node', 'aor', 'key'])
    .execute()
  await indexEach(db, 'registrations', ['account_sid', 'client_sid', 'aor', 'realm', 'place', 'expires_at'])
}

/** Creates the table of host names with which carriers call accounts. Others need a proof to use one as SIP realm. */
async function createCarrierHosts(db: Kysely<unknown>): Promise<void> {
  await versioned(db.schema.createTable('carrier_hosts'))
    .addColumn('carrier_host_sid', 'text', id)
    .addColumn('account_sid', 'text', account)
    // Stored in lower case.
    .addColumn('host', 'text', required)
    // The time of the latest call, as far as it was stored.
    .addColumn('called_at', 'bigint', required)
    .addUniqueConstraint('carrier_hosts_once', ['account_sid', 'host'])
    .execute()
  await db.schema.createIndex('carrier_hosts_by_host').on('carrier_hosts').column('host').execute()
  await db.schema.createIndex('carrier_hosts_by_time').on('carrier_hosts').column('called_at').execute()
}
