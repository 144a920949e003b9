// The tables of the first call: tenants, applications, clients, users and keys; call records, journal and outbox.
// The same statements run on SQLite and PostgreSQL: text ids, epoch milliseconds as bigint, flags as 0 or 1, JSON as text.
import { sql } from 'kysely'
import type { ColumnDefinitionBuilder, CreateTableBuilder, Kysely } from 'kysely'
import { flag, id, owner, required, unique, versioned } from './columns.ts'

export async function up(db: Kysely<unknown>): Promise<void> {
  await createTenants(db)
  await createApplications(db)
  await createPeople(db)
  await createPlatform(db)
  await createCallRecords(db)
  await createOutbox(db)
}

const webhook = (column: ColumnDefinitionBuilder): ColumnDefinitionBuilder =>
  column.references('webhooks.webhook_sid')
const application = (column: ColumnDefinitionBuilder): ColumnDefinitionBuilder =>
  column.references('applications.application_sid')

/** The pair is checked together, so that no row can name an account and a provider that is not its own. */
function owned<T extends string>(
  name: string,
  table: CreateTableBuilder<T>,
  level: 'account' | 'any',
  onProviderDelete: 'cascade' | 'no action' = 'no action',
) {
  const nullable = (column: ColumnDefinitionBuilder): ColumnDefinitionBuilder => column
  const presence = level === 'account' ? required : nullable
  return table
    .addColumn('account_sid', 'text', presence)
    .addColumn('service_provider_sid', 'text', (column) =>
      presence(column).references('service_providers.service_provider_sid').onDelete(onProviderDelete),
    )
    .addForeignKeyConstraint(
      `${name}_owner`,
      ['service_provider_sid', 'account_sid'] as never[],
      'accounts',
      ['service_provider_sid', 'account_sid'],
      (key) => key.onDelete('cascade'),
    )
    .addCheckConstraint(
      `${name}_owner_is_whole`,
      sql`account_sid is null or service_provider_sid is not null`,
    )
}

async function createTenants(db: Kysely<unknown>): Promise<void> {
  await versioned(db.schema.createTable('service_providers'))
    .addColumn('service_provider_sid', 'text', id)
    .addColumn('name', 'text', unique)
    .addColumn('description', 'text')
    .addColumn('root_domain', 'text', (column) => column.unique())
    .addColumn('ms_teams_fqdn', 'text', (column) => column.unique())
    .execute()
  await versioned(db.schema.createTable('accounts'))
    .addColumn('account_sid', 'text', id)
    .addColumn('service_provider_sid', 'text', (column) =>
      column.notNull().references('service_providers.service_provider_sid'),
    )
    .addColumn('name', 'text', required)
    .addColumn('sip_realm', 'text', (column) => column.unique())
    .addColumn('is_active', 'integer', flag(1))
    .addColumn('plan_type', 'text', (column) => column.notNull().defaultTo('trial'))
    .addColumn('webhook_secret', 'text', required)
    .addColumn('disable_cdrs', 'integer', flag(0))
    .addColumn('record_all_calls', 'integer', flag(0))
    .addColumn('record_format', 'text', (column) => column.notNull().defaultTo('mp3'))
    .addColumn('bucket_credential', 'text')
    .addColumn('enable_debug_log', 'integer', flag(0))
    .addColumn('device_to_call_ratio', 'integer', (column) => column.notNull().defaultTo(5))
    .addColumn('trial_end_date', 'bigint')
    .addColumn('deactivated_reason', 'text')
    .addUniqueConstraint('accounts_owner_pair', ['service_provider_sid', 'account_sid'])
    .execute()
  await owned('webhooks', versioned(db.schema.createTable('webhooks')), 'any', 'cascade')
    .addColumn('webhook_sid', 'text', id)
    .addColumn('url', 'text', required)
    .addColumn('method', 'text', (column) => column.notNull().defaultTo('POST'))
    .addColumn('username', 'text')
    .addColumn('password', 'text')
    .execute()
  await db.schema.createIndex('webhooks_by_owner').on('webhooks').columns(owner).execute()
  await db.schema.createIndex('webhooks_by_account').on('webhooks').column('account_sid').execute()
  // Providers and accounts point at hooks, which belong to them: the columns come once both ends exist.
  await db.schema
    .alterTable('service_providers')
    .addColumn('registration_hook_sid', 'text', webhook)
    .execute()
  await db.schema.alterTable('accounts').addColumn('registration_hook_sid', 'text', webhook).execute()
  await db.schema.alterTable('accounts').addColumn('queue_event_hook_sid', 'text', webhook).execute()
}

async function createApplications(db: Kysely<unknown>): Promise<void> {
  let applications = owned('applications', versioned(db.schema.createTable('applications')), 'account')
    .addColumn('application_sid', 'text', id)
    .addColumn('name', 'text', required)
    .addColumn('call_hook_sid', 'text', webhook)
    .addColumn('call_status_hook_sid', 'text', webhook)
    .addColumn('messaging_hook_sid', 'text', webhook)
    .addColumn('app_json', 'text')
    .addColumn('use_for_fallback_speech', 'integer', flag(0))
    .addColumn('record_all_calls', 'integer', flag(0))
    .addColumn('env_vars', 'text')
    .addUniqueConstraint('applications_name', ['account_sid', 'name'])
  for (const prefix of ['', 'fallback_']) {
    for (const fact of ['synthesis_vendor', 'synthesis_language', 'synthesis_voice', 'synthesis_label'])
      applications = applications.addColumn(`${prefix}speech_${fact}`, 'text')
    for (const fact of ['recognizer_vendor', 'recognizer_language', 'recognizer_label'])
      applications = applications.addColumn(`${prefix}speech_${fact}`, 'text')
  }
  await applications.execute()
  await db.schema.createIndex('applications_by_owner').on('applications').columns(owner).execute()
  await db.schema
    .alterTable('accounts')
    .addColumn('device_calling_application_sid', 'text', application)
    .execute()
  await db.schema.alterTable('accounts').addColumn('siprec_hook_sid', 'text', application).execute()
  // A foreign key without an index makes each delete at its other end read the whole table.
  for (const column of ['call_hook_sid', 'call_status_hook_sid', 'messaging_hook_sid'])
    await db.schema.createIndex(`applications_by_${column}`).on('applications').column(column).execute()
  for (const column of [
    'registration_hook_sid',
    'queue_event_hook_sid',
    'device_calling_application_sid',
    'siprec_hook_sid',
  ])
    await db.schema.createIndex(`accounts_by_${column}`).on('accounts').column(column).execute()

  await owned('clients', versioned(db.schema.createTable('clients')), 'account')
    .addColumn('client_sid', 'text', id)
    .addColumn('username', 'text', required)
    .addColumn('password', 'text', required)
    .addColumn('is_active', 'integer', flag(1))
    .addColumn('allow_direct_app_calling', 'integer', flag(1))
    .addColumn('allow_direct_queue_calling', 'integer', flag(1))
    .addColumn('allow_direct_user_calling', 'integer', flag(1))
    .addUniqueConstraint('clients_username', ['account_sid', 'username'])
    .execute()
  await db.schema.createIndex('clients_by_owner').on('clients').columns(owner).execute()
}

async function createPeople(db: Kysely<unknown>): Promise<void> {
  await owned('api_keys', versioned(db.schema.createTable('api_keys')), 'any', 'cascade')
    .addColumn('api_key_sid', 'text', id)
    .addColumn('token_hash', 'text', unique)
    .addColumn('token_prefix', 'text', required)
    .addColumn('expires_at', 'bigint')
    .addColumn('last_used', 'bigint')
    .execute()
  await db.schema.createIndex('api_keys_by_owner').on('api_keys').columns(owner).execute()
  await db.schema.createIndex('api_keys_by_account').on('api_keys').column('account_sid').execute()
  await owned('users', versioned(db.schema.createTable('users')), 'any')
    .addColumn('user_sid', 'text', id)
    .addColumn('name', 'text', unique)
    .addColumn('email', 'text', unique)
    .addColumn('pending_email', 'text')
    .addColumn('phone', 'text', (column) => column.unique())
    .addColumn('hashed_password', 'text')
    .addColumn('provider', 'text', (column) => column.notNull().defaultTo('local'))
    .addColumn('provider_userid', 'text')
    .addColumn('permissions', 'text', (column) => column.notNull().defaultTo('[]'))
    .addColumn('is_active', 'integer', flag(1))
    .addColumn('force_change', 'integer', flag(0))
    .addColumn('email_validated', 'integer', flag(0))
    .addColumn('phone_validated', 'integer', flag(0))
    .addColumn('email_content_opt_out', 'integer', flag(0))
    .execute()
  await db.schema.createIndex('users_by_owner').on('users').columns(owner).execute()
  await db.schema.createIndex('users_by_account').on('users').column('account_sid').execute()
  await versioned(db.schema.createTable('user_sessions'))
    .addColumn('user_session_sid', 'text', id)
    .addColumn('user_sid', 'text', (column) =>
      column.notNull().references('users.user_sid').onDelete('cascade'),
    )
    .addColumn('expires_at', 'bigint', required)
    .execute()
  await db.schema.createIndex('user_sessions_by_user').on('user_sessions').column('user_sid').execute()
  await db.schema.createIndex('user_sessions_by_expiry').on('user_sessions').column('expires_at').execute()
}

async function createPlatform(db: Kysely<unknown>): Promise<void> {
  await versioned(db.schema.createTable('password_settings'))
    .addColumn('password_settings_sid', 'text', id)
    .addColumn('min_password_length', 'integer', (column) => column.notNull().defaultTo(8))
    .addColumn('require_digit', 'integer', flag(0))
    .addColumn('require_special_character', 'integer', flag(0))
    .execute()
  await versioned(db.schema.createTable('settings'))
    .addColumn('name', 'text', id)
    .addColumn('value', 'text', required)
    .execute()
}

/** No foreign keys: a record outlives its account, and the call path pays for nothing it does not need. */
async function createCallRecords(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .createTable('recent_calls')
    .addColumn('call_sid', 'text', id)
    .addColumn('account_sid', 'text', required)
    .addColumn('service_provider_sid', 'text', required)
    .addColumn('application_sid', 'text')
    .addColumn('sip_call_id', 'text', required)
    .addColumn('sip_parent_call_id', 'text')
    .addColumn('from', 'text', required)
    .addColumn('to', 'text', required)
    .addColumn('direction', 'text', required)
    .addColumn('answered', 'integer', required)
    .addColumn('sip_status', 'integer', required)
    .addColumn('duration', 'integer', required)
    .addColumn('attempted_at', 'bigint', required)
    .addColumn('answered_at', 'bigint')
    .addColumn('terminated_at', 'bigint', required)
    .addColumn('termination_reason', 'text', required)
    .addColumn('host', 'text', required)
    .addColumn('remote_host', 'text', required)
    .addColumn('trunk', 'text', required)
    .addColumn('trace_id', 'text', required)
    .execute()
  // Read backwards for "newest first"; answered and direction are in it, so that those filters count without the table.
  await db.schema
    .createIndex('recent_calls_newest')
    .on('recent_calls')
    .columns(['account_sid', 'attempted_at', 'call_sid', 'answered', 'direction'])
    .execute()
  await db.schema
    .createIndex('recent_calls_by_age')
    .on('recent_calls')
    .columns(['attempted_at', 'call_sid'])
    .execute()
  await db.schema
    .createTable('call_journal')
    .addColumn('call_sid', 'text', required)
    .addColumn('first_seq', 'integer', required)
    .addColumn('account_sid', 'text', required)
    .addColumn('events', 'text', required)
    .addColumn('created_at', 'bigint', required)
    .addPrimaryKeyConstraint('call_journal_order', ['call_sid', 'first_seq'])
    .execute()
  await db.schema
    .createTable('open_calls')
    .addColumn('call_sid', 'text', id)
    .addColumn('account_sid', 'text', required)
    .addColumn('created_at', 'bigint', required)
    .execute()
}

async function createOutbox(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .createTable('outbox')
    .addColumn('id', 'bigint', id)
    .addColumn('account_sid', 'text', required)
    .addColumn('call_sid', 'text', required)
    .addColumn('sequence', 'integer', required)
    .addColumn('url', 'text', required)
    .addColumn('method', 'text', required)
    .addColumn('username', 'text')
    .addColumn('password', 'text')
    .addColumn('payload', 'text', required)
    .addColumn('attempts', 'integer', (column) => column.notNull().defaultTo(0))
    .addColumn('due_at', 'bigint')
    .addColumn('created_at', 'bigint', required)
    .addUniqueConstraint('outbox_order', ['call_sid', 'sequence'])
    .execute()
  await db.schema.createIndex('outbox_due').on('outbox').columns(['due_at', 'id']).execute()
  await db.schema
    .createTable('delivery_log')
    .addColumn('id', 'bigint', id)
    .addColumn('account_sid', 'text', required)
    .addColumn('call_sid', 'text', required)
    .addColumn('sequence', 'integer', required)
    .addColumn('url', 'text', required)
    .addColumn('outcome', 'text', required)
    .addColumn('status', 'integer')
    .addColumn('attempts', 'integer', required)
    .addColumn('duration_ms', 'integer')
    .addColumn('error', 'text')
    .addColumn('created_at', 'bigint', required)
    .addColumn('settled_at', 'bigint', required)
    .addUniqueConstraint('delivery_log_order', ['call_sid', 'sequence'])
    .execute()
  await db.schema
    .createIndex('delivery_log_newest')
    .on('delivery_log')
    .columns(['account_sid', 'settled_at'])
    .execute()
  await db.schema.createIndex('delivery_log_by_age').on('delivery_log').column('settled_at').execute()
}
