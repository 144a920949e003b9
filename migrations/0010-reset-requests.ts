// Who wants a link for a new password waits in the database: a stopped platform, or a mail server that is away, forgets
// nobody.
import type { Kysely } from 'kysely'
import { id, preset, required, versioned } from './columns.ts'

export async function up(db: Kysely<unknown>): Promise<void> {
  await versioned(db.schema.createTable('password_reset_requests'))
    .addColumn('password_reset_request_sid', 'text', id)
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
