// How many call records each owner has in each hour and day, kept by triggers: exact totals and far pages without reading
// the records one by one. docs/decisions/0008-call-counts.md says why so.
import { PostgresAdapter, sql } from 'kysely'
import type { Kysely } from 'kysely'
import { required } from './columns.ts'

export async function up(db: Kysely<unknown>): Promise<void> {
  const isPostgres = db.getExecutor().adapter instanceof PostgresAdapter
  await createCounts(db, isPostgres)
  await sql.raw(`insert into recent_call_counts (${columns}) ${countsOf('recent_calls')}`).execute(db)
  await (isPostgres ? countByStatement(db) : countByRow(db))
}

const spansMs = [3_600_000, 86_400_000]
// A call counts for its account and for the provider of it.
const owners = ['account_sid', 'service_provider_sid']
const kinds = [
  { column: 'inbound_answered', direction: 'inbound', answered: 1 },
  { column: 'inbound_unanswered', direction: 'inbound', answered: 0 },
  { column: 'outbound_answered', direction: 'outbound', answered: 1 },
  { column: 'outbound_unanswered', direction: 'outbound', answered: 0 },
]
const key = ['owner_sid', 'span_ms', 'starts_at', 'service_provider_sid']
const columns = [...key, ...kinds.map(({ column }) => column)].join(', ')
const added = kinds.map(({ column }) => `${column} = recent_call_counts.${column} + excluded.${column}`)
const adding = `on conflict (${key.join(', ')}) do update set ${added.join(', ')}`
const isEmpty = kinds.map(({ column }) => `${column} = 0`).join(' and ')

/** What one record changes in each column. */
function changesBy(one: '1' | '-1', row = ''): string[] {
  return kinds.map(
    ({ direction, answered }) =>
      `case when ${row}direction = '${direction}' and ${row}answered = ${answered} then ${one} else 0 end`,
  )
}

async function createCounts(db: Kysely<unknown>, isPostgres: boolean): Promise<void> {
  let table = db.schema
    .createTable('recent_call_counts')
    .addColumn('owner_sid', 'text', required)
    .addColumn('span_ms', 'integer', required)
    .addColumn('starts_at', 'bigint', required)
    .addColumn('service_provider_sid', 'text', required)
  for (const { column } of kinds) table = table.addColumn(column, 'bigint', required)
  table = table.addPrimaryKeyConstraint('recent_call_counts_of_owner', key as never[])
  // The rows stand in the index itself: sums read nothing else.
  await (isPostgres ? table : table.modifyEnd(sql`without rowid`)).execute()
}

/** What all records of a table change, in the order of the key. */
function countsOf(table: string, one: '1' | '-1' = '1'): string {
  const sums = changesBy(one).map((change) => `sum(${change})`)
  const parts = owners.flatMap((owner) =>
    spansMs.map(
      (ms) =>
        `select ${owner} as owner_sid, ${ms} as span_ms, attempted_at - attempted_at % ${ms} as starts_at, ` +
        `service_provider_sid, ${sums.join(', ')} from ${table} group by 1, 2, 3, 4`,
    ),
  )
  return `${parts.join(' union all ')} order by 1, 2, 3, 4`
}

/**
 * Once for all records of a statement. The counts are locked in the order of their key: transactions that meet there wait
 * for each other and never in a circle, as long as each writes its records in one statement.
 */
async function countByStatement(db: Kysely<unknown>): Promise<void> {
  const counting = (one: '1' | '-1'): string =>
    `insert into recent_call_counts (${columns}) ${countsOf('changed', one)} ${adding};`
  const tidying =
    `delete from recent_call_counts where ${isEmpty} and (owner_sid, span_ms, starts_at) in ` +
    `(select owner_sid, span_ms, starts_at from (${countsOf('changed')}) as touched);`
  for (const { change, rows, statements } of [
    { change: 'insert', rows: 'new', statements: counting('1') },
    { change: 'delete', rows: 'old', statements: `${counting('-1')} ${tidying}` },
  ]) {
    const name = `recent_calls_counted_on_${change}`
    await sql
      .raw(
        `create function ${name}() returns trigger language plpgsql as
        $$ begin ${statements} return null; end $$`,
      )
      .execute(db)
    await sql
      .raw(
        `create trigger ${name} after ${change} on recent_calls referencing ${rows} table as changed
        for each statement execute function ${name}()`,
      )
      .execute(db)
  }
}

async function countByRow(db: Kysely<unknown>): Promise<void> {
  const places = (row: string): string[] =>
    owners.flatMap((owner) =>
      spansMs.map((ms) => `${row}${owner}, ${ms}, ${row}attempted_at - ${row}attempted_at % ${ms}`),
    )
  const counting = (row: string, one: '1' | '-1'): string => {
    const rest = `${row}service_provider_sid, ${changesBy(one, row).join(', ')}`
    const rows = places(row).map((place) => `(${place}, ${rest})`)
    return `insert into recent_call_counts (${columns}) values ${rows.join(', ')} ${adding};`
  }
  const touched = places('old.').map((place) => `(${place})`)
  const tidying =
    `delete from recent_call_counts where ${isEmpty} and (owner_sid, span_ms, starts_at) in ` +
    `(values ${touched.join(', ')});`
  for (const { change, statements } of [
    { change: 'insert', statements: counting('new.', '1') },
    { change: 'delete', statements: `${counting('old.', '-1')} ${tidying}` },
  ])
    await sql
      .raw(
        `create trigger recent_calls_counted_on_${change} after ${change} on recent_calls begin ${statements} end`,
      )
      .execute(db)
}
