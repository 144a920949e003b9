// Writes src/storage/tables.ts: the row types and references of the schema that the migrations make.
import { Kysely, SqliteDialect } from 'kysely'
import { migrate } from '../../src/storage/database/migrate.ts'
import { openConnection, type Connection } from '../../src/storage/sqlite/sqlite-connection.ts'
import type { Schema } from '../../src/storage/tables.ts'
import { columnTypes } from './column-types.ts'

interface Column {
  readonly name: string
  readonly type: string
  readonly isNullable: boolean
  readonly preset: string | null
}

interface Table {
  readonly name: string
  readonly columns: readonly Column[]
  /** Columns that point at rows, except at the owner, by the tables of these rows. */
  readonly references: Readonly<Record<string, string>>
}

const introduction = `// The columns of every table as rows in memory. Generated from the migrations by \`npm run docs\`: edit a migration, or
// scripts/reference/column-types.ts where a column holds fewer values than its type in the database.
// Columns ending in _sid are ids; times are epoch ms; flags are 0 or 1; JSON travels as text. \`version\` starts at 1 and
// rises with every update. Which rows a caller may touch, and which columns are secrets, stands in descriptors.ts.

type Flag = 0 | 1
`

export async function tablesFile(): Promise<string> {
  const tables = await readTables()
  refuseUnknown(tables)
  const isVersioned = ({ columns }: Table): boolean => columns.some(({ name }) => name === 'version')
  const [ofRepositories, ofStores] = [
    tables.filter(isVersioned),
    tables.filter((table) => !isVersioned(table)),
  ]
  return [
    introduction,
    '/** The tables that a repository reads and writes. */',
    `export interface Tables {\n${ofRepositories.map(member).join('')}}\n`,
    '/** Every table: those of the repositories, and those that have a store of their own. */',
    `export interface Schema extends Tables {\n${ofStores.map(member).join('')}}\n`,
    'type References = { readonly [T in keyof Tables]?: { readonly [C in keyof Tables[T]]?: keyof Tables } }\n',
    '/** By table: the columns that point at rows of other tables, and which tables these are. Owners are left out. */',
    `export const references: References = {\n${ofRepositories.map(pointers).join('')}}\n`,
  ].join('\n')
}

async function readTables(): Promise<Table[]> {
  const connection = openConnection({ path: ':memory:', readOnly: false, synchronous: 'NORMAL' })
  try {
    const db = new Kysely<Schema>({ dialect: new SqliteDialect({ database: connection.forKysely }) })
    await migrate(db)
    const names = connection.all(
      "select name from sqlite_schema where type = 'table' and name not like 'kysely_%' order by name",
      [],
    )
    return names.map(({ name }) => readTable(connection, String(name)))
  } finally {
    connection.close()
  }
}

function readTable(connection: Connection, name: string): Table {
  const columns = connection.all(
    'select name, type, "notnull", dflt_value from pragma_table_info(?) order by cid',
    [name],
  )
  const keys = connection.all(
    `select "from", "table" from pragma_foreign_key_list(?)
     where "table" not in ('accounts', 'service_providers') order by "from"`,
    [name],
  )
  return {
    name,
    columns: columns.map((column) => ({
      name: String(column['name']),
      type: String(column['type']).toLowerCase(),
      isNullable: column['notnull'] === 0,
      preset: column['dflt_value'] === null ? null : String(column['dflt_value']),
    })),
    references: Object.fromEntries(keys.map((key) => [String(key['from']), String(key['table'])])),
  }
}

/** A type for a column that no longer exists would stay for ever. */
function refuseUnknown(tables: readonly Table[]): void {
  const known = new Set(
    tables.flatMap(({ name, columns }) => columns.map((column) => `${name}.${column.name}`)),
  )
  for (const [table, types] of Object.entries(columnTypes))
    for (const column of Object.keys(types))
      if (!known.has(`${table}.${column}`))
        throw new Error(`column-types.ts names ${table}.${column}, which is no column`)
}

function pointers({ name, references }: Table): string {
  const members = Object.entries(references).map(([column, table]) => `    ${column}: '${table}',\n`)
  return members.length === 0 ? '' : `  ${name}: {\n${members.join('')}  },\n`
}

function member({ name, columns }: Table): string {
  const members = columns.map((column) => `    readonly ${column.name}: ${typeOf(name, column)}\n`)
  return `  readonly ${name}: {\n${members.join('')}  }\n`
}

function typeOf(table: string, { name, type, isNullable, preset }: Column): string {
  const narrower = columnTypes[table]?.[name]
  if (narrower !== undefined) return narrower
  // A column that begins as 0 or 1 is a flag, unless column-types.ts or its name says that it counts.
  const isFlag = type === 'integer' && !isNullable && (preset === '0' || preset === '1') && name !== 'version'
  const plain = isFlag ? 'Flag' : type === 'text' ? 'string' : 'number'
  return isNullable ? `${plain} | null` : plain
}
