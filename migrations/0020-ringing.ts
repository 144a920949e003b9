// When a caller hears ringing while its application is being asked: a choice of the account, null for the platform's.
import type { Kysely } from 'kysely'

export async function up(db: Kysely<unknown>): Promise<void> {
  await db.schema.alterTable('accounts').addColumn('ringing_after_ms', 'integer').execute()
}
