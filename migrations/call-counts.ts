// A table of how many call records each owner has in each hour and day, and the triggers that keep it. What a released
// migration uses must not change.
import { PostgresAdapter, sql } from 'kysely'
import type { Kysely } from 'kysely'
import { required } from './columns.ts'

export interface CallCountTable {
  readonly name: string
  /** Of its triggers, with the change after it. */
  readonly triggers: string
  /** Columns of a record by which an owner's records are told apart. */
  readonly by: readonly string[]
}

export async function createCallCounts(db: Kysely<unknown>, counts: CallCountTable): Promise<void> {
  const isPostgres = db.getExecutor().adapter instanceof PostgresAdapter
  await createTable(db, counts, isPostgres)
  await sql
    .raw(`insert into ${counts.name} (${columnsOf(counts)}) ${countsOf(counts, 'recent_calls')}`)
    .execute(db)
  await (isPostgres ? countByStatement(db, counts) : countByRow(db, counts))
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
const isEmpty = kinds.map(({ column }) => `${column} = 0`).join(' and ')

/** What names a place in time of an owner. The provider comes last: it tells apart what one place holds. */
function placeOf({ by }: CallCountTable): string[] {
  return ['owner_sid', ...by, 'span_ms', 'starts_at']
}

function keyOf(counts: CallCountTable): string[] {
  return [...placeOf(counts), 'service_provider_sid']
}

function columnsOf(counts: CallCountTable): string {
  return [...keyOf(counts), ...kinds.map(({ column }) => column)].join(', ')
}

function adding(counts: CallCountTable): string {
  const added = kinds.map(({ column }) => `${column} = ${counts.name}.${column} + excluded.${column}`)
  return `on conflict (${keyOf(counts).join(', ')}) do update set ${added.join(', ')}`
}

function tidying(counts: CallCountTable, touched: string): string {
  return `delete from ${counts.name} where ${isEmpty} and (${placeOf(counts).join(', ')}) in (${touched});`
}

/** What one record changes in each column. */
function changesBy(one: '1' | '-1', row = ''): string[] {
  return kinds.map(
    ({ direction, answered }) =>
      `case when ${row}direction = '${direction}' and ${row}answered = ${answered} then ${one} else 0 end`,
  )
}

async function createTable(db: Kysely<unknown>, counts: CallCountTable, isPostgres: boolean): Promise<void> {
  let table = db.schema.createTable(counts.name).addColumn('owner_sid', 'text', required)
  for (const column of counts.by) table = table.addColumn(column as never, 'text', required)
  table = table
    .addColumn('span_ms', 'integer', required)
    .addColumn('starts_at', 'bigint', required)
    .addColumn('service_provider_sid', 'text', required)
  for (const { column } of kinds) table = table.addColumn(column as never, 'bigint', required)
  table = table.addPrimaryKeyConstraint(`${counts.name}_of_owner`, keyOf(counts) as never[])
  // The rows stand in the index itself: sums read nothing else.
  await (isPostgres ? table : table.modifyEnd(sql`without rowid`)).execute()
}

/** What all records of a table change, in the order of the key. */
function countsOf({ by }: CallCountTable, table: string, one: '1' | '-1' = '1'): string {
  const sums = changesBy(one).map((change) => `sum(${change})`)
  const order = Array.from({ length: by.length + 4 }, (_, index) => index + 1).join(', ')
  const parts = owners.flatMap((owner) =>
    spansMs.map((ms) => {
      const key = [
        `${owner} as owner_sid`,
        ...by,
        `${ms} as span_ms`,
        `attempted_at - attempted_at % ${ms} as starts_at`,
        'service_provider_sid',
      ]
      return `select ${[...key, ...sums].join(', ')} from ${table} group by ${order}`
    }),
  )
  return `${parts.join(' union all ')} order by ${order}`
}

/**
 * Once for all records of a statement. The counts are locked in the order of their key: transactions that meet there wait
 * for each other and never in a circle, as long as each writes its records in one statement.
 */
async function countByStatement(db: Kysely<unknown>, counts: CallCountTable): Promise<void> {
  const counting = (one: '1' | '-1'): string =>
    `insert into ${counts.name} (${columnsOf(counts)}) ${countsOf(counts, 'changed', one)} ${adding(counts)};`
  const touched = `select ${placeOf(counts).join(', ')} from (${countsOf(counts, 'changed')}) as touched`
  for (const { change, rows, statements } of [
    { change: 'insert', rows: 'new', statements: counting('1') },
    { change: 'delete', rows: 'old', statements: `${counting('-1')} ${tidying(counts, touched)}` },
  ]) {
    const name = `${counts.triggers}_on_${change}`
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

async function countByRow(db: Kysely<unknown>, counts: CallCountTable): Promise<void> {
  const places = (row: string): string[] =>
    owners.flatMap((owner) =>
      spansMs.map((ms) =>
        [
          `${row}${owner}`,
          ...counts.by.map((column) => `${row}${column}`),
          `${ms}`,
          `${row}attempted_at - ${row}attempted_at % ${ms}`,
        ].join(', '),
      ),
    )
  const counting = (row: string, one: '1' | '-1'): string => {
    const rest = `${row}service_provider_sid, ${changesBy(one, row).join(', ')}`
    const rows = places(row).map((place) => `(${place}, ${rest})`)
    return `insert into ${counts.name} (${columnsOf(counts)}) values ${rows.join(', ')} ${adding(counts)};`
  }
  const touched = `values ${places('old.')
    .map((place) => `(${place})`)
    .join(', ')}`
  for (const { change, statements } of [
    { change: 'insert', statements: counting('new.', '1') },
    { change: 'delete', statements: `${counting('old.', '-1')} ${tidying(counts, touched)}` },
  ])
    await sql
      .raw(
        `create trigger ${counts.triggers}_on_${change} after ${change} on recent_calls begin ${statements} end`,
      )
      .execute(db)
}
