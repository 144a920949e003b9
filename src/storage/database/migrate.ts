// Brings a database to the schema of this version. Forward only; the database of another version is refused, never guessed at.
import type { Kysely } from 'kysely'
import { Migrator } from 'kysely/migration'
import type { Migration } from 'kysely/migration'
import * as initial from '../../../migrations/0001-initial.ts'
import { StartError } from '../../lib/start-error.ts'
import type { Schema } from '../tables.ts'

export const migrations: Readonly<Record<string, Migration>> = {
  '0001-initial': initial,
}

// The first migration of what ran before the first release. No release ever applied it.
const beforeFirstRelease = '0001-first-call'

export async function migrate(db: Kysely<Schema>, known = migrations): Promise<void> {
  const applied = await appliedMigrations(db)
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

async function appliedMigrations(db: Kysely<Schema>): Promise<string[]> {
  const tables = await db.introspection.getTables({ withInternalKyselyTables: true })
  if (!tables.some(({ name }) => name === 'kysely_migration')) return []
  const rows = await db
    .withTables<{ kysely_migration: { name: string } }>()
    .selectFrom('kysely_migration')
    .select('name')
    .execute()
  return rows.map(({ name }) => name)
}
