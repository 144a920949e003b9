// Recordings of calls: where the sound of each is, from its first frame until it is removed. No foreign keys, as calls have
// none: a recording may be on its way when its account goes.
import type { Kysely } from 'kysely'
import { id, preset, required } from './columns.ts'

export async function createRecordings(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .createTable('recordings')
    .addColumn('call_sid', 'text', id)
    .addColumn('account_sid', 'text', required)
    // In the bucket, and below the directory of the account on disk: 2026/11/21/<call_sid>.mp3.
    .addColumn('key', 'text', required)
    .addColumn('format', 'text', required)
    // recording, waiting, stored, failed, or expired: its call record is gone, and it is to be removed.
    .addColumn('state', 'text', required)
    // bucket or disk, once it is stored.
    .addColumn('place', 'text')
    // The data directory that has the file: only processes there can send it.
    .addColumn('spool', 'text', required)
    .addColumn('bytes', 'bigint', preset(0))
    .addColumn('duration_ms', 'bigint', preset(0))
    // How often storing it has failed, or removing it once it has expired.
    .addColumn('attempts', 'integer', preset(0))
    // When it may be stored or removed, or when the lease of who does that ends; null where nothing is to be done.
    .addColumn('next_attempt_at', 'bigint')
    .addColumn('started_at', 'bigint', required)
    .addColumn('ended_at', 'bigint')
    .addColumn('stored_at', 'bigint')
    // Why it ended early, or could not be stored.
    .addColumn('reason', 'text')
    // JSON, sealed: the hook that hears what became of it, and what that hook is sent besides.
    .addColumn('notice', 'text')
    .execute()
  await db.schema
    .createIndex('recordings_due')
    .on('recordings')
    .columns(['state', 'next_attempt_at', 'spool'])
    .execute()
  await db.schema
    .createIndex('recordings_by_account')
    .on('recordings')
    .columns(['account_sid', 'place', 'bytes'])
    .execute()
  await db.schema.createIndex('recordings_by_age').on('recordings').columns(['state', 'started_at']).execute()
}
