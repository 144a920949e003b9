// Events that come after those of the call itself: who reports them does not have its journal, so they are numbered here.
import type { Kysely } from 'kysely'
import type { StoredEvent } from '../../contracts/journal.ts'
import type { Session } from '../database/database.ts'
import { prepare, slot } from '../database/prepared.ts'
import type { Schema } from '../tables.ts'
import type { MergedBatch } from './call-batch.ts'
import { parseEvents } from './journal-events.ts'

export type LaterEvents = (session: Session, batch: MergedBatch) => Promise<readonly StoredEvent[]>

export function createLaterEvents(db: Kysely<Schema>): LaterEvents {
  const last = prepare(
    db
      .selectFrom('call_journal')
      .select('events')
      .where('call_sid', '=', slot('call_sid'))
      .orderBy('first_seq', 'desc')
      .limit(1),
  )
  return async (session, { call_sid, events, later }) => {
    if (later.length === 0) return []
    const [row] = events.length > 0 ? [] : await last.all(session, { call_sid })
    const before = events.at(-1)?.seq ?? parseEvents(row?.['events']).at(-1)?.seq ?? 0
    return later.map((fact, index) => ({ ...fact, seq: before + 1 + index }))
  }
}
