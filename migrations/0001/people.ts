// API keys and users, with their sessions and password resets.
import { sql, type Kysely } from 'kysely'
import {
  flag,
  id,
  owned,
  owner,
  preset,
  required,
  unique,
  uniqueIfAny,
  versioned,
  type Column,
} from './columns.ts'

export async function createPeople(db: Kysely<unknown>): Promise<void> {
  await createApiKeys(db)
  await createUsers(db)
  await createSessions(db)
  await createPasswordResets(db)
}

const user: Column = (column) => column.notNull().references('users.user_sid').onDelete('cascade')

async function createApiKeys(db: Kysely<unknown>): Promise<void> {
  await owned('api_keys', versioned(db.schema.createTable('api_keys')))
    .addColumn('api_key_sid', 'text', id)
    // The token itself is never stored; its prefix is shown in lists.
    .addColumn('token_hash', 'text', unique)
    .addColumn('token_prefix', 'text', required)
    .addColumn('expires_at', 'bigint')
    .addColumn('last_used', 'bigint')
    .execute()
  await db.schema.createIndex('api_keys_by_owner').on('api_keys').columns(owner).execute()
  await db.schema.createIndex('api_keys_by_account').on('api_keys').column('account_sid').execute()
}

async function createUsers(db: Kysely<unknown>): Promise<void> {
  const table = versioned(db.schema.createTable('users'))
  await owned('users', table, { level: 'any', onProviderDelete: 'no action' })
    .addColumn('user_sid', 'text', id)
    .addColumn('name', 'text', unique)
    .addColumn('email', 'text', unique)
    .addColumn('pending_email', 'text')
    .addColumn('phone', 'text', uniqueIfAny)
    // A PHC string; null for users of another identity provider.
    .addColumn('hashed_password', 'text')
    .addColumn('provider', 'text', preset('local'))
    .addColumn('provider_userid', 'text')
    // JSON text: an array of VIEW_ONLY, PROVISION_SERVICES, PROVISION_USERS.
    .addColumn('permissions', 'text', preset('[]'))
    .addColumn('is_active', 'integer', flag(1))
    .addColumn('force_change', 'integer', flag(0))
    .addColumn('email_validated', 'integer', flag(0))
    .addColumn('phone_validated', 'integer', flag(0))
    .addColumn('email_content_opt_out', 'integer', flag(0))
    .execute()
  await db.schema.createIndex('users_by_owner').on('users').columns(owner).execute()
  await db.schema.createIndex('users_by_account').on('users').column('account_sid').execute()
  // A password reset is requested without a token, with the address in any letter case: that must not read every user.
  await db.schema
    .createIndex('users_by_email')
    .on('users')
    .expression(sql`lower(email)`)
    .execute()
}

/** Creates the table of logins, one row for each: a token whose row is gone is refused. */
async function createSessions(db: Kysely<unknown>): Promise<void> {
  await versioned(db.schema.createTable('user_sessions'))
    .addColumn('user_session_sid', 'text', id)
    .addColumn('user_sid', 'text', user)
    .addColumn('expires_at', 'bigint', required)
    .execute()
  await db.schema.createIndex('user_sessions_by_user').on('user_sessions').column('user_sid').execute()
  await db.schema.createIndex('user_sessions_by_expiry').on('user_sessions').column('expires_at').execute()
}

/** Creates the tables of password resets. Requests wait there, so that no stop and no absent mail server loses one. */
async function createPasswordResets(db: Kysely<unknown>): Promise<void> {
  await versioned(db.schema.createTable('password_resets'))
    .addColumn('password_reset_sid', 'text', id)
    .addColumn('user_sid', 'text', user)
    // The link itself is never stored.
    .addColumn('link_hash', 'text', unique)
    .addColumn('expires_at', 'bigint', required)
    // The time when it was exchanged for a session, which works only once.
    .addColumn('signed_in_at', 'bigint')
    .execute()
  await db.schema.createIndex('password_resets_by_user').on('password_resets').column('user_sid').execute()
  await db.schema
    .createIndex('password_resets_by_expiry')
    .on('password_resets')
    .column('expires_at')
    .execute()
  await versioned(db.schema.createTable('password_reset_requests'))
    .addColumn('password_reset_request_sid', 'text', id)
    // The address as it was given: there may be no such user.
    .addColumn('email', 'text', required)
    .addColumn('attempts', 'integer', preset(0))
    .addColumn('due_at', 'bigint', required)
    .execute()
  await db.schema
    .createIndex('password_reset_requests_by_due')
    .on('password_reset_requests')
    .column('due_at')
    .execute()
}
