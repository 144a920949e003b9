// The audit log with the head of its chain.
import { sql, type Kysely } from 'kysely'
import { id, isPostgres, required } from './columns.ts'

export async function createAuditLog(db: Kysely<unknown>): Promise<void> {
  await createEntries(db)
  await makeAppendOnly(db)
}

/** Creates the audit log without foreign keys: an entry outlives its subject. */
async function createEntries(db: Kysely<unknown>): Promise<void> {
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
    // The table of the record, and its key there.
    .addColumn('resource', 'text', required)
    .addColumn('sid', 'text', required)
    // JSON text of the changed columns, before and after the change; secrets are masked.
    .addColumn('before', 'text')
    .addColumn('after', 'text')
    // The names in the request that nothing knows, as the response named them.
    .addColumn('unknown_fields', 'text')
    .addColumn('previous_hash', 'text', required)
    // The hash of everything above, including the hash of the previous entry.
    .addColumn('hash', 'text', required)
    .execute()
  for (const column of ['account_sid', 'service_provider_sid', 'sid'])
    await db.schema.createIndex(`audit_log_by_${column}`).on('audit_log').columns([column, 'seq']).execute()
  // Row 1 is the newest entry of the log. Row 2 is the last checkpoint: entries up to it were exported and removed.
  await db.schema
    .createTable('audit_head')
    .addColumn('id', 'integer', id)
    .addColumn('seq', 'bigint', required)
    .addColumn('hash', 'text', required)
    .addColumn('seal', 'text', required)
    .execute()
}

/**
 * Prevents accidental changes of an entry, and the removal of entries behind the last checkpoint. The owner of the database can lift that: then the chain shows the change.
 */
async function makeAppendOnly(db: Kysely<unknown>): Promise<void> {
  if (isPostgres(db)) {
    await sql`
      create function refuse_audit_change() returns trigger language plpgsql as
      $$ begin
        if tg_op = 'DELETE' and old.seq <= coalesce((select seq from audit_head where id = 2), 0) then
          return old;
        end if;
        raise exception 'audit_log is append-only';
      end $$`.execute(db)
    await sql`
      create trigger audit_log_append_only before update or truncate on audit_log
      for each statement execute function refuse_audit_change()`.execute(db)
    await sql`
      create trigger audit_log_no_delete before delete on audit_log
      for each row execute function refuse_audit_change()`.execute(db)
    return
  }
  await sql`
    create trigger audit_log_no_update before update on audit_log
    begin select raise(abort, 'audit_log is append-only'); end`.execute(db)
  await sql`
    create trigger audit_log_no_delete before delete on audit_log
    when old.seq > coalesce((select seq from audit_head where id = 2), 0)
    begin select raise(abort, 'audit_log is append-only'); end`.execute(db)
}
