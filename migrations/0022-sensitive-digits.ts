// Whether the keys that the callers of an account press are hidden in everything that is kept of a call.
import type { Kysely } from 'kysely'
import { flag } from './columns.ts'

export async function up(db: Kysely<unknown>): Promise<void> {
  await db.schema.alterTable('accounts').addColumn('sensitive_digits', 'integer', flag(0)).execute()
}
