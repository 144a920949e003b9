// Brings a database to the schema of this version. Forward only; a newer database is refused, never guessed at.
import type { Kysely } from 'kysely'
import { Migrator } from 'kysely/migration'
import type { Migration } from 'kysely/migration'
import * as firstCall from '../../migrations/0001-first-call.ts'
import * as trustworthyWrites from '../../migrations/0002-trustworthy-writes.ts'
import * as administration from '../../migrations/0003-administration.ts'
import * as carriers from '../../migrations/0004-carriers.ts'
import * as speech from '../../migrations/0005-speech.ts'
import * as callCounts from '../../migrations/0006-call-counts.ts'
import * as numberPatterns from '../../migrations/0007-number-patterns.ts'
import * as listsInOrder from '../../migrations/0008-lists-in-order.ts'
import * as callFilters from '../../migrations/0009-call-filters.ts'
import * as resetRequests from '../../migrations/0010-reset-requests.ts'
import * as nodes from '../../migrations/0011-nodes.ts'
import * as registrations from '../../migrations/0012-registrations.ts'
import * as carrierHosts from '../../migrations/0013-carrier-hosts.ts'
import * as usersByEmail from '../../migrations/0014-users-by-email.ts'
import * as ringing from '../../migrations/0020-ringing.ts'
import * as sensitiveDigits from '../../migrations/0022-sensitive-digits.ts'
import { StartError } from '../lib/start-error.ts'
import type { Schema } from './tables.ts'

export const migrations: Readonly<Record<string, Migration>> = {
  '0001-first-call': firstCall,
  '0002-trustworthy-writes': trustworthyWrites,
  '0003-administration': administration,
  '0004-carriers': carriers,
  '0005-speech': speech,
  '0006-call-counts': callCounts,
  '0007-number-patterns': numberPatterns,
  '0008-lists-in-order': listsInOrder,
  '0009-call-filters': callFilters,
  '0010-reset-requests': resetRequests,
  '0011-nodes': nodes,
  '0012-registrations': registrations,
  '0013-carrier-hosts': carrierHosts,
  '0014-users-by-email': usersByEmail,
  '0020-ringing': ringing,
  '0022-sensitive-digits': sensitiveDigits,
}

export async function migrate(db: Kysely<Schema>, known = migrations): Promise<void> {
  const unknown = (await appliedMigrations(db)).filter((name) => !(name in known))
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
