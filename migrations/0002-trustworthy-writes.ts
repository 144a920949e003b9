// What makes writes trustworthy: the audit log with its chain, answers kept for repeated requests, and the numbers of
// notifications where several nodes hand them out.
import { PostgresAdapter, sql } from 'kysely'
import type { Kysely } from 'kysely'
import { id, required } from './columns.ts'

export async function up(db: Kysely<unknown>): Promise<void> {
  await createAuditLog(db)
  await createIdempotencyKeys(db)
  if (isPostgres(db)) await sql`create sequence outbox_ids`.execute(db)
  await makeAppendOnly(db)
}

function isPostgres(db: Kysely<unknown>): boolean {
  return db.getExecutor().adapter instanceof PostgresAdapter
}

/** No foreign keys: an entry outlives what it is about. */
async function createAuditLog(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .createTable('audit_log')
    .addColumn('seq', 'bigint', id)
    .addColumn('at', 'bigint', required)
    .addColumn('actor_kind', 'text', required)
    .addColumn('actor_sid', 'text')
    .addColumn('actor_name', 'text')
    .addColumn('address', 'text')
    .addColumn('request_id', 'text')
    .addColumn('service_provider_sid', 'text')
    .addColumn('account_sid', 'text')
    .addColumn('action', 'text', required)
    .addColumn('resource', 'text', required)
    .addColumn('sid', 'text', required)
    .addColumn('before', 'text')
    .addColumn('after', 'text')
    .addColumn('previous_hash', 'text', required)
    .addColumn('hash', 'text', required)
    .execute()
  for (const column of ['account_sid', 'service_provider_sid', 'sid'])
    await db.schema.createIndex(`audit_log_by_${column}`).on('audit_log').columns([column, 'seq']).execute()
  await db.schema
    .createTable('audit_head')
    .addColumn('id', 'integer', id)
    .addColumn('seq', 'bigint', required)
    .addColumn('hash', 'text', required)
    .addColumn('seal', 'text', required)
    .execute()
}

async function createIdempotencyKeys(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .createTable('idempotency_keys')
    .addColumn('principal', 'text', required)
    .addColumn('key', 'text', required)
    .addColumn('route', 'text', required)
    .addColumn('fingerprint', 'text', required)
    .addColumn('status', 'integer', required)
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

/** Keeps mistakes from changing an entry. Whoever owns the database can lift it: then the chain tells. */
async function makeAppendOnly(db: Kysely<unknown>): Promise<void> {
  if (isPostgres(db)) {
    await sql`
      create function refuse_audit_change() returns trigger language plpgsql as
      $$ begin raise exception 'audit_log is append-only'; end $$`.execute(db)
    await sql`
      create trigger audit_log_append_only before update or delete or truncate on audit_log
      for each statement execute function refuse_audit_change()`.execute(db)
    return
  }
  for (const change of ['update', 'delete'])
    await sql`
      create trigger ${sql.ref(`audit_log_no_${change}`)} before ${sql.raw(change)} on audit_log
      begin select raise(abort, 'audit_log is append-only'); end`.execute(db)
}
