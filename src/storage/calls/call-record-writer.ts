// Inserts of the call records of one transaction in one statement, so that the counts of all of them are raised
// together, in the same order on every node. migrations/0001/call-counts.ts says what would happen otherwise.
import type { Kysely } from 'kysely'
import type { RecentCall } from '../../contracts/call-record.ts'
import type { Session } from '../database/database.ts'
import { createPreparedCache, slot } from '../database/prepared.ts'
import type { Schema } from '../tables.ts'

/** Inserts records. A call that already has a record keeps it. */
export type WriteCallRecords = (session: Session, records: readonly RecentCall[]) => Promise<void>

export function createCallRecordWriter(db: Kysely<Schema>): WriteCallRecords {
  const once = createPreparedCache()
  return async (session, records) => {
    const rows = records.map(toRow)
    const [first] = rows
    if (first === undefined) return
    const columns = Object.keys(first) as (keyof Schema['recent_calls'])[]
    const slotsOf = (index: number) =>
      Object.fromEntries(columns.map((column) => [column, slot(`${column}_${index}`)])) as Record<
        keyof Schema['recent_calls'],
        never
      >
    const query = once(`${rows.length}`, () =>
      db
        .insertInto('recent_calls')
        .values(rows.map((_, index) => slotsOf(index)))
        .onConflict((conflict) => conflict.column('call_sid').doNothing()),
    )
    const values: Record<string, string | number | null> = {}
    rows.forEach((row, index) => {
      for (const column of columns) values[`${column}_${index}`] = row[column]
    })
    await query.all(session, values)
  }
}

// An entry of an index of PostgreSQL takes up to 2704 bytes, a character up to three, and one index holds three such
// texts. The far end chooses Call-ID and numbers, and its record must be kept whatever their length is.
const maxIndexedChars = 256

/** Returns as much of a text as an index holds. */
export function indexed(text: string): string {
  return text.slice(0, maxIndexedChars)
}

/** Returns the row of a record. Leaving out a column is a compile error. */
function toRow(record: RecentCall): Schema['recent_calls'] {
  const { sip_call_id, from, to, trunk, answered, attempts, stir_shaken, failure, media_failure } = record
  return {
    ...record,
    sip_call_id: indexed(sip_call_id),
    from: indexed(from),
    to: indexed(to),
    trunk: indexed(trunk),
    answered: answered ? 1 : 0,
    attempts: attempts && JSON.stringify(attempts),
    stir_shaken: stir_shaken && JSON.stringify(stir_shaken),
    failure: failure && JSON.stringify(failure),
    media_failure: media_failure && JSON.stringify(media_failure),
  }
}
