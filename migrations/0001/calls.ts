// The tables that calls write: records, journals, notifications waiting for delivery. They have no foreign keys: a
// record outlives its account, and calls do not pay for checks that they do not need.
import { sql, type Kysely } from 'kysely'
import { id, isPostgres, preset, required } from './columns.ts'

export async function createCalls(db: Kysely<unknown>): Promise<void> {
  await createRecords(db)
  await createJournal(db)
  await createNodes(db)
  await createOutbox(db)
}

async function createRecords(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .createTable('recent_calls')
    .addColumn('call_sid', 'text', id)
    .addColumn('account_sid', 'text', required)
    .addColumn('service_provider_sid', 'text', required)
    .addColumn('application_sid', 'text')
    .addColumn('sip_call_id', 'text', required)
    .addColumn('sip_parent_call_id', 'text')
    .addColumn('parent_call_sid', 'text')
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
    // A path of the API; null for a call that was not recorded.
    .addColumn('recording_url', 'text')
    // JSON text: the outcome of each destination that an outbound call was sent to.
    .addColumn('attempts', 'text')
    // JSON text: the facts that the Identity header of an inbound call proves.
    .addColumn('stir_shaken', 'text')
    // JSON text: the reason why the platform refused or ended the call.
    .addColumn('failure', 'text')
    .addColumn('media_failure', 'text')
    .execute()
  for (const { name, owner, others } of pages) await indexPages(db, name, [owner], others)
  for (const { name, owner, others } of pages)
    await indexPages(db, `${name}_by_trunk`, [owner, 'trunk'], others)
  await db.schema
    .createIndex('recent_calls_by_age')
    .on('recent_calls')
    .columns(['attempted_at', 'call_sid'])
    .execute()
  // Inbound calls that the platform refused, which are kept for a shorter time: expired-rows.ts.
  await db.schema
    .createIndex('recent_calls_refused')
    .on('recent_calls')
    .columns(['attempted_at', 'call_sid'])
    .where(sql<boolean>`direction = 'inbound' and answered = 0 and failure is not null`)
    .execute()
  await db.schema
    .createIndex('recent_calls_by_sip_call_id')
    .on('recent_calls')
    .columns(['sip_call_id', 'account_sid'])
    .execute()
}

const pages = [
  { name: 'recent_calls_newest', owner: 'account_sid', others: ['service_provider_sid'] },
  { name: 'recent_calls_newest_of_provider', owner: 'service_provider_sid', others: [] },
]

/**
 * Creates the index of pages, which is read backwards for "newest first". It also holds every column that a page can
 * be filtered by, so that no record is read only to be skipped.
 */
async function indexPages(
  db: Kysely<unknown>,
  name: string,
  by: readonly string[],
  others: readonly string[],
): Promise<void> {
  const compared = ['answered', 'direction', 'trunk', 'from', 'to'].filter((column) => !by.includes(column))
  await db.schema
    .createIndex(name)
    .on('recent_calls')
    .columns([...by, 'attempted_at', 'call_sid', ...others, ...compared])
    .execute()
}

async function createJournal(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .createTable('call_journal')
    .addColumn('call_sid', 'text', required)
    .addColumn('first_seq', 'integer', required)
    .addColumn('account_sid', 'text', required)
    // JSON text: an array of events, in the order they happened.
    .addColumn('events', 'text', required)
    .addColumn('created_at', 'bigint', required)
    .addPrimaryKeyConstraint('call_journal_order', ['call_sid', 'first_seq'])
    .execute()
  // Calls with a journal but no end yet: a killed process leaves them behind.
  await db.schema
    .createTable('open_calls')
    .addColumn('call_sid', 'text', id)
    .addColumn('account_sid', 'text', required)
    .addColumn('created_at', 'bigint', required)
    // The node that serves the call.
    .addColumn('node_id', 'text', required)
    // JSON text, encrypted: what a BYE in its dialog needs; null until it is answered.
    .addColumn('dialog', 'text')
    // The last sign of life of the node that carried the call, by its own clock; null while the node is in `nodes`.
    .addColumn('alive_at', 'bigint')
    .execute()
  // Calls that ended without a record, as their account wants it. The time gives the age of their journals.
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

/** Creates the table of processes that serve calls, so that a node closes only the calls of nodes that are gone. */
async function createNodes(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .createTable('nodes')
    .addColumn('node_id', 'text', id)
    // An identifier that only one process can hold at a time; null if the process holds none.
    .addColumn('place', 'text')
    // Rises while the process is alive.
    .addColumn('beats', 'bigint', preset(0))
    // The time of the last beat, by the clock of the process.
    .addColumn('alive_at', 'bigint')
    .execute()
}

async function createOutbox(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .createTable('outbox')
    .addColumn('id', 'bigint', id)
    .addColumn('account_sid', 'text', required)
    .addColumn('call_sid', 'text', required)
    // 1, 2, 3 ... within the call.
    .addColumn('sequence', 'integer', required)
    .addColumn('url', 'text', required)
    // Scheme, host and port of the URL.
    .addColumn('destination', 'text', required)
    .addColumn('method', 'text', required)
    .addColumn('username', 'text')
    .addColumn('password', 'text')
    .addColumn('payload', 'text', required)
    .addColumn('attempts', 'integer', preset(0))
    // The time of its delivery or the end of its lease; null while an earlier one of its call and URL is unsettled.
    .addColumn('due_at', 'bigint')
    .addColumn('created_at', 'bigint', required)
    .addUniqueConstraint('outbox_order', ['call_sid', 'sequence'])
    .execute()
  // Several nodes number notifications, so the database gives out the numbers.
  if (isPostgres(db)) await sql`create sequence outbox_ids`.execute(db)
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
