// A user is found by the address of mail in any case of its letters without a look at every other user: anybody may ask for
// that who has no token yet.
import { sql } from 'kysely'
import type { Kysely } from 'kysely'

export async function up(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .createIndex('users_by_email')
    .on('users')
    .expression(sql`lower(email)`)
    .execute()
}
