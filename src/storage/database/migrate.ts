// Brings a database to the schema of this version. Forward only; the database of another version is refused, never guessed at.
import {
  CreateTableNode,
  DummyDriver,
  Kysely,
  SqliteAdapter,
  SqliteIntrospector,
  SqliteQueryCompiler,
  type TableMetadata,
} from 'kysely'
import { Migrator, type Migration } from 'kysely/migration'
import * as initial from '../../../migrations/0001-initial.ts'
import { StartError } from '../../lib/start-error.ts'
import type { Schema } from '../tables.ts'

export const migrations: Readonly<Record<string, Migration>> = {
  '0001-initial': initial,
}

// The first migration of what ran before the first release. No release ever applied it.
const beforeFirstRelease = '0001-first-call'

export async function migrate(db: Kysely<Schema>, known = migrations): Promise<void> {
  const tables = await db.introspection.getTables({ withInternalKyselyTables: true })
  const applied = await appliedMigrations(db, tables)
  if (applied.includes(beforeFirstRelease))
    throw new StartError(
      'The database was made by a version of Switchhook from before its first release, which this version cannot read. ' +
        'Start on an empty one: name another directory in SWITCHHOOK_DATA_DIR, or another database in SWITCHHOOK_DATABASE_URL.',
    )
  const unknown = applied.filter((name) => !(name in known))
  if (unknown.length > 0)
    throw new StartError(
      `The database was last used by a newer version of Switchhook (it has ${unknown.join(', ')}). ` +
        'Start that version, or restore a backup made before the upgrade.',
    )
  if (Object.keys(known).every((name) => applied.includes(name))) {
    if (known === migrations) await demandColumns(tables)
    return
  }
  const migrator = new Migrator({
    db,
    provider: { getMigrations: () => Promise.resolve({ ...known }) },
    // The caller holds one transaction around all of them.
    disableTransactions: true,
  })
  const { error } = await migrator.migrateToLatest()
  if (error instanceof StartError) throw error
  if (error !== undefined)
    throw new Error('The database could not be brought to this version; it was left as it was.', {
      cause: error,
    })
}

/** Before the first release the first migration grew: a database of an earlier build has applied it and lacks later columns. */
async function demandColumns(tables: readonly TableMetadata[]): Promise<void> {
  const present = new Map(tables.map(({ name, columns: own }) => [name, new Set(own.map((one) => one.name))]))
  const lacks = [...(await createdColumns())].flatMap(([table, names]) => {
    const own = present.get(table)
    if (own === undefined) return [table]
    return names.filter((name) => !own.has(name)).map((name) => `${table}.${name}`)
  })
  if (lacks.length === 0) return
  throw new StartError(
    `The database was made by another build from before the first release: it lacks ${shown(lacks)}. ` +
      'Start that build, or start on an empty database: name another directory in SWITCHHOOK_DATA_DIR, or another database in SWITCHHOOK_DATABASE_URL.',
  )
}

/** The columns of each table that the first migration creates, which are the same on both stores. */
async function createdColumns(): Promise<ReadonlyMap<string, readonly string[]>> {
  const created = new Map<string, readonly string[]>()
  const recorder = new Kysely<unknown>({
    dialect: {
      createAdapter: () => new SqliteAdapter(),
      createDriver: () => new DummyDriver(),
      createIntrospector: (db) => new SqliteIntrospector(db),
      createQueryCompiler: () => new SqliteQueryCompiler(),
    },
    plugins: [
      {
        transformQuery({ node }) {
          if (CreateTableNode.is(node))
            created.set(
              node.table.table.identifier.name,
              node.columns.map(({ column }) => column.column.name),
            )
          return node
        },
        transformResult: ({ result }) => Promise.resolve(result),
      },
    ],
  })
  await initial.up(recorder)
  return created
}

const maxShown = 3

function shown(names: readonly string[]): string {
  const more = names.length - maxShown
  return `${names.slice(0, maxShown).join(', ')}${more > 0 ? ` and ${more} more` : ''}`
}

async function appliedMigrations(db: Kysely<Schema>, tables: readonly TableMetadata[]): Promise<string[]> {
  if (!tables.some(({ name }) => name === 'kysely_migration')) return []
  const rows = await db
    .withTables<{ kysely_migration: { name: string } }>()
    .selectFrom('kysely_migration')
    .select('name')
    .execute()
  return rows.map(({ name }) => name)
}
