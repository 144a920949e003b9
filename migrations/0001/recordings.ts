// Recordings of calls: the place of each one's audio, from its first frame until it is removed. There are no foreign
// keys, as for calls: a recording may still be on its way when its account is removed.
import type { Kysely } from 'kysely'
import { id, preset, required } from './columns.ts'

export async function createRecordings(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .createTable('recordings')
    .addColumn('call_sid', 'text', id)
    .addColumn('account_sid', 'text', required)
    // The key in the bucket, and on disk below the directory of the account: 2026/11/21/<call_sid>.mp3.
    .addColumn('key', 'text', required)
    .addColumn('format', 'text', required)
    // recording, waiting, stored, failed, or expired: then its call record is gone, and it is to be removed.
    .addColumn('state', 'text', required)
    // bucket or disk, once the recording is stored.
    .addColumn('place', 'text')
    // The data directory that has the file: only processes there can send it.
    .addColumn('spool', 'text', required)
    .addColumn('bytes', 'bigint', preset(0))
    .addColumn('duration_ms', 'bigint', preset(0))
    // The number of failed attempts to store it or, once it has expired, to remove it.
    .addColumn('attempts', 'integer', preset(0))
    // The time to store or remove it, or the end of the lease for that; null if there is nothing to do.
    .addColumn('next_attempt_at', 'bigint')
    .addColumn('started_at', 'bigint', required)
    .addColumn('ended_at', 'bigint')
    .addColumn('stored_at', 'bigint')
    // The reason why it ended early or could not be stored.
    .addColumn('reason', 'text')
    // JSON, sealed: the hook that is notified of the outcome, and the other facts that the hook is sent.
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
