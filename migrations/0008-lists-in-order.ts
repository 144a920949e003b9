// Long lists go out chunk by chunk in the order of their ids: without an index that has this order, each chunk would
// read and sort everything its caller may see.
import type { Kysely } from 'kysely'
import { owner } from './columns.ts'

// What an account has thousands of.
const keys = { applications: 'application_sid', clients: 'client_sid' }

export async function up(db: Kysely<unknown>): Promise<void> {
  for (const [table, key] of Object.entries(keys)) {
    await db.schema.dropIndex(`${table}_by_owner`).execute()
    await db.schema
      .createIndex(`${table}_by_owner`)
      .on(table)
      .columns([...owner, key])
      .execute()
    await db.schema
      .createIndex(`${table}_of_provider`)
      .on(table)
      .columns(['service_provider_sid', key])
      .execute()
  }
}
