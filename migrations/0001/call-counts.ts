// The number of call records of each owner in each hour and day, with the triggers that maintain it. It gives exact
// totals and distant pages without reading the records one by one. docs/decisions/0008-call-counts.md says why.
import { sql, type Kysely } from 'kysely'
import { isPostgres, required } from './columns.ts'

export async function createCallCounts(db: Kysely<unknown>): Promise<void> {
  await createTable(db)
  await (isPostgres(db) ? countByStatement(db) : countByRow(db))
}

const counts = 'recent_call_counts'
const spansMs = [3_600_000, 86_400_000]
// A call counts for its account and for the account's provider.
const owners = ['account_sid', 'service_provider_sid']
const kinds = [
  { column: 'inbound_answered', direction: 'inbound', answered: 1 },
  { column: 'inbound_unanswered', direction: 'inbound', answered: 0 },
  { column: 'outbound_answered', direction: 'outbound', answered: 1 },
  { column: 'outbound_unanswered', direction: 'outbound', answered: 0 },
]
const isEmpty = kinds.map(({ column }) => `${column} = 0`).join(' and ')

// The columns that name a span of an owner. The provider comes last: it subdivides the calls of one span.
const place = ['owner_sid', 'span_ms', 'starts_at']
const key = [...place, 'service_provider_sid']
const columns = [...key, ...kinds.map(({ column }) => column)].join(', ')

const added = kinds.map(({ column }) => `${column} = ${counts}.${column} + excluded.${column}`)
const adding = `on conflict (${key.join(', ')}) do update set ${added.join(', ')}`

function tidying(touched: string): string {
  return `delete from ${counts} where ${isEmpty} and (${place.join(', ')}) in (${touched});`
}

/** Returns the change that one record makes to each column. */
function changesBy(one: '1' | '-1', row = ''): string[] {
  return kinds.map(
    ({ direction, answered }) =>
      `case when ${row}direction = '${direction}' and ${row}answered = ${answered} then ${one} else 0 end`,
  )
}

async function createTable(db: Kysely<unknown>): Promise<void> {
  let table = db.schema
    .createTable(counts)
    .addColumn('owner_sid', 'text', required)
    .addColumn('span_ms', 'integer', required)
    .addColumn('starts_at', 'bigint', required)
    .addColumn('service_provider_sid', 'text', required)
  for (const { column } of kinds) table = table.addColumn(column as never, 'bigint', required)
  table = table.addPrimaryKeyConstraint('recent_call_counts_of_owner', key as never[])
  // On SQLite the rows are stored in the index itself, so that sums read nothing else.
  await (isPostgres(db) ? table : table.modifyEnd(sql`without rowid`)).execute()
}

/** Returns the query for the changes that the records of a table make, in the order of the key. */
function countsOf(table: string, one: '1' | '-1' = '1'): string {
  const sums = changesBy(one).map((change) => `sum(${change})`)
  const order = key.map((_, index) => index + 1).join(', ')
  const parts = owners.flatMap((owner) =>
    spansMs.map((ms) => {
      const values = [
        `${owner} as owner_sid`,
        `${ms} as span_ms`,
        `attempted_at - attempted_at % ${ms} as starts_at`,
        'service_provider_sid',
      ]
      return `select ${[...values, ...sums].join(', ')} from ${table} group by ${order}`
    }),
  )
  return `${parts.join(' union all ')} order by ${order}`
}

/**
 * Creates triggers that count once for all records of a statement. They lock the counts in the order of the key:
 * transactions that meet there wait for each other but never deadlock, as long as each writes its records in one
 * statement.
 */
async function countByStatement(db: Kysely<unknown>): Promise<void> {
  const counting = (one: '1' | '-1'): string =>
    `insert into ${counts} (${columns}) ${countsOf('changed', one)} ${adding};`
  const touched = `select ${place.join(', ')} from (${countsOf('changed')}) as touched`
  for (const { change, rows, statements } of [
    { change: 'insert', rows: 'new', statements: counting('1') },
    { change: 'delete', rows: 'old', statements: `${counting('-1')} ${tidying(touched)}` },
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
      spansMs.map((ms) =>
        [`${row}${owner}`, `${ms}`, `${row}attempted_at - ${row}attempted_at % ${ms}`].join(', '),
      ),
    )
  const counting = (row: string, one: '1' | '-1'): string => {
    const rest = `${row}service_provider_sid, ${changesBy(one, row).join(', ')}`
    const rows = places(row).map((span) => `(${span}, ${rest})`)
    return `insert into ${counts} (${columns}) values ${rows.join(', ')} ${adding};`
  }
  const touched = places('old.').map((span) => `(${span})`)
  for (const { change, statements } of [
    { change: 'insert', statements: counting('new.', '1') },
    { change: 'delete', statements: `${counting('old.', '-1')} ${tidying(`values ${touched.join(', ')}`)}` },
  ])
    await sql
      .raw(
        `create trigger recent_calls_counted_on_${change} after ${change} on recent_calls begin ${statements} end`,
      )
      .execute(db)
}
