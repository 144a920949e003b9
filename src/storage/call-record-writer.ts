// Inserts the call records of one transaction in one statement: the counts of all of them are then raised at once, in one
// order for every node. migrations/0006-call-counts.ts says what would happen otherwise.
import type { Kysely } from 'kysely'
import type { RecentCall } from './call-batch.ts'
import type { Session } from './database.ts'
import { createPreparedCache, slot } from './prepared.ts'
import type { Schema } from './tables.ts'

/** A call that has its record keeps it as it is. */
export type WriteCallRecords = (session: Session, records: readonly RecentCall[]) => Promise<void>

/** All but the integer key that the embedded database keeps for itself. */
export const recordColumns = [
  'call_sid',
  'account_sid',
  'service_provider_sid',
  'application_sid',
  'sip_call_id',
  'sip_parent_call_id',
  'from',
  'to',
  'direction',
  'answered',
  'sip_status',
  'duration',
  'attempted_at',
  'answered_at',
  'terminated_at',
  'termination_reason',
  'host',
  'remote_host',
  'trunk',
  'trace_id',
] as const satisfies readonly (keyof RecentCall)[]

export function createCallRecordWriter(db: Kysely<Schema>): WriteCallRecords {
  const once = createPreparedCache()
  return async (session, records) => {
    if (records.length === 0) return
    const query = once(`${records.length}`, () =>
      db
        .insertInto('recent_calls')
        .values(records.map((_, index) => slotsOf(index)))
        .onConflict((conflict) => conflict.column('call_sid').doNothing()),
    )
    await query.all(session, Object.assign({}, ...records.map(valuesOf)) as ReturnType<typeof valuesOf>)
  }
}

function slotsOf(index: number) {
  const slots = recordColumns.map((column) => [column, slot(`${column}_${index}`)] as const)
  return Object.fromEntries(slots) as Record<(typeof recordColumns)[number], never>
}

function valuesOf(record: RecentCall, index: number): Record<string, string | number | null> {
  const values: Record<string, string | number | null> = {}
  for (const column of recordColumns) {
    const value = record[column]
    values[`${column}_${index}`] = typeof value === 'boolean' ? Number(value) : value
  }
  return values
}
