// How many call records each owner has in each hour and day: exact totals and far pages without reading the records one
// by one. docs/decisions/0008-call-counts.md says why so.
import type { Kysely } from 'kysely'
import { createCallCounts } from './call-counts.ts'

export function up(db: Kysely<unknown>): Promise<void> {
  return createCallCounts(db, { name: 'recent_call_counts', triggers: 'recent_calls_counted', by: [] })
}
