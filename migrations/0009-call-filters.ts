// What narrows a page of call records is found in an index: trunks in one that begins with them, parts of numbers in one
// of their trigrams. docs/decisions/0015-call-filters.md says why so.
import { PostgresAdapter, sql } from 'kysely'
import type { Kysely } from 'kysely'
import { StartError } from '../src/lib/start-error.ts'
import { createCallCounts } from './call-counts.ts'

export async function up(db: Kysely<unknown>): Promise<void> {
  const isPostgres = db.getExecutor().adapter instanceof PostgresAdapter
  if (!isPostgres) await numberRecords(db)
  await createIndexes(db)
  await createCallCounts(db, {
    name: 'recent_call_counts_by_trunk',
    triggers: 'recent_calls_counted_by_trunk',
    by: ['trunk'],
  })
  await (isPostgres ? indexTrigrams(db) : createNumberTable(db))
}

// Those that there are get more columns.
const indexes = [
  { name: 'recent_calls_newest', owner: 'account_sid', others: ['service_provider_sid'] },
  { name: 'recent_calls_newest_of_provider', owner: 'service_provider_sid', others: [] },
]

async function createIndexes(db: Kysely<unknown>): Promise<void> {
  for (const { name, owner, others } of indexes) {
    await db.schema.dropIndex(name).ifExists().execute()
    // Whatever a page is narrowed by is in the index that gives its order: no record is read to be passed by.
    await db.schema
      .createIndex(name)
      .on('recent_calls')
      .columns([owner, 'attempted_at', 'call_sid', ...others, 'answered', 'direction', 'trunk', 'from', 'to'])
      .execute()
    await db.schema
      .createIndex(`${name}_by_trunk`)
      .on('recent_calls')
      .columns([owner, 'trunk', 'attempted_at', 'call_sid'])
      .execute()
  }
}

async function indexTrigrams(db: Kysely<unknown>): Promise<void> {
  try {
    await sql`create extension if not exists pg_trgm`.execute(db)
  } catch (error) {
    throw new StartError(
      'The database needs the extension pg_trgm, which is part of PostgreSQL, and its user may not create it. ' +
        'Let an administrator of the database run: CREATE EXTENSION pg_trgm.',
      { cause: error },
    )
  }
  // In kilobytes: new entries wait in a list, and whoever fills it up sorts them into the index while others wait. A short
  // list takes milliseconds.
  await sql`create index recent_calls_by_number on recent_calls
    using gin (lower("from") gin_trgm_ops, lower("to") gin_trgm_ops)
    with (gin_pending_list_limit = 256)`.execute(db)
}

/**
 * The table of numbers knows a record by its row id, which VACUUM may change unless it is a column. SQLite adds no such column
 * to a table that is there: the records move to another (https://sqlite.org/lang_altertable.html#otheralter).
 */
async function numberRecords(db: Kysely<unknown>): Promise<void> {
  const parts = await sql<{ sql: string }>`select sql from sqlite_schema
    where tbl_name = 'recent_calls' and type in ('index', 'trigger') and sql is not null
    and name not in (${sql.join(indexes.map(({ name }) => name))})`.execute(db)
  const { rows: columns } = await sql<{ name: string; type: string; notnull: 0 | 1 }>`
    select name, type, "notnull" from pragma_table_info('recent_calls') order by cid`.execute(db)
  const definitions = columns.map(
    ({ name, type, notnull }) => `"${name}" ${type}${notnull === 1 ? ' not null' : ''}`,
  )
  await sql
    .raw(`create table recent_calls_numbered (id integer primary key, ${definitions.join(', ')})`)
    .execute(db)
  const names = sql.join(columns.map(({ name }) => sql.ref(name)))
  await sql`insert into recent_calls_numbered (${names}) select ${names} from recent_calls`.execute(db)
  await db.schema.dropTable('recent_calls').execute()
  await db.schema.alterTable('recent_calls_numbered').renameTo('recent_calls').execute()
  // A constraint of the table would have been kept up record by record, in the order of random ids.
  await db.schema.createIndex('recent_calls_of_call').on('recent_calls').column('call_sid').unique().execute()
  for (const part of parts.rows) await sql.raw(part.sql).execute(db)
}

/** Kept by triggers, as the counts are. It holds no text: a record that is found is read and compared. */
async function createNumberTable(db: Kysely<unknown>): Promise<void> {
  await sql`create virtual table recent_call_numbers using fts5(
    "from", "to", tokenize = 'trigram', content = '', contentless_delete = 1)`.execute(db)
  await sql`insert into recent_call_numbers (rowid, "from", "to") select id, "from", "to" from recent_calls`.execute(
    db,
  )
  await sql`create trigger recent_calls_numbers_on_insert after insert on recent_calls begin
    insert into recent_call_numbers (rowid, "from", "to") values (new.id, new."from", new."to"); end`.execute(
    db,
  )
  await sql`create trigger recent_calls_numbers_on_delete after delete on recent_calls begin
    delete from recent_call_numbers where rowid = old.id; end`.execute(db)
}
