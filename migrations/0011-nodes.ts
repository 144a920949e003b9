// Which node serves a call that is up: so that only the calls of a node that is gone are closed by another one.
import type { Kysely } from 'kysely'
import { id, preset, required } from './columns.ts'

export async function up(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .createTable('nodes')
    .addColumn('node_id', 'text', id)
    .addColumn('place', 'text')
    .addColumn('beats', 'bigint', preset(0))
    .execute()
  // Rows of versions that did not say whose they are have an empty one.
  await db.schema.alterTable('open_calls').addColumn('node_id', 'text', preset('')).execute()
  await db.schema
    .createTable('unrecorded_calls')
    .addColumn('call_sid', 'text', id)
    .addColumn('ended_at', 'bigint', required)
    .execute()
  await db.schema
    .createIndex('unrecorded_calls_by_age')
    .on('unrecorded_calls')
    .columns(['ended_at', 'call_sid'])
    .execute()
}
