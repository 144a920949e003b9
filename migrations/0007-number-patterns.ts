// Tells phone numbers that are patterns from plain ones, so that the few of them are found among the many.
import { sql } from 'kysely'
import type { Kysely } from 'kysely'
import { flag } from './columns.ts'

export async function up(db: Kysely<unknown>): Promise<void> {
  await db.schema.alterTable('phone_numbers').addColumn('is_pattern', 'integer', flag(0)).execute()
  await sql`update phone_numbers set is_pattern = 1 where ltrim(number, '0123456789') <> ''`.execute(db)
  await db.schema
    .createIndex('phone_numbers_patterns')
    .on('phone_numbers')
    .columns(['voip_carrier_sid', 'is_pattern'])
    .execute()
}
