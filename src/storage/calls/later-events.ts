// Events that are added behind those of the call itself. The code that reports them does not have the call's journal,
// so they are numbered here. The journal may continue meanwhile without counting them: from then on its numbers are
// raised, so that its events come behind them.
import type { Kysely } from 'kysely'
import type { CallBatch } from '../../contracts/call-record.ts'
import type { StoredEvent } from '../../contracts/journal.ts'
import type { Session } from '../database/database.ts'
import { prepare, slot } from '../database/prepared.ts'
import type { Schema } from '../tables.ts'
import type { MergedBatch } from './call-batch.ts'
import { parseEvents, selectEvents } from './journal-events.ts'

export interface LaterEvents {
  /**
   * Returns by how much the numbers of the batch must be raised, according to the stored journal: for a call whose
   * state is not in memory. Undefined if the batch has no events.
   */
  shiftOf(session: Session, batch: Pick<MergedBatch, 'call_sid' | 'events'>): Promise<number | undefined>
  /** Reports whether the first event of the batch, or else its first later fact, is stored. */
  isStored(session: Session, batch: Pick<CallBatch, 'call_sid' | 'events' | 'later'>): Promise<boolean>
  /** Returns all events of the batch, with the numbers under which they are stored. */
  numbered(session: Session, batch: MergedBatch, shift: number): Promise<readonly StoredEvent[]>
}

export function createLaterEvents(db: Kysely<Schema>): LaterEvents {
  const all = prepare(selectEvents(db))
  const last = prepare(
    db
      .selectFrom('call_journal')
      .select('events')
      .where('call_sid', '=', slot('call_sid'))
      .orderBy('first_seq', 'desc')
      .limit(1),
  )
  async function read(session: Session, call_sid: string): Promise<readonly StoredEvent[]> {
    const rows = await all.all(session, { call_sid })
    return rows.flatMap((row) => parseEvents(row['events']))
  }
  const sameAs = (first: StoredEvent, stored: readonly StoredEvent[]): StoredEvent | undefined =>
    stored.find((event) => event.seq >= first.seq && textOf(event) === textOf(first))
  return {
    async isStored(session, { call_sid, events, later = [] }) {
      // The number of a later fact is not known: it may be any.
      const [first] = [...events, ...later.map((fact) => ({ ...fact, seq: 0 }))]
      return first !== undefined && sameAs(first, await read(session, call_sid)) !== undefined
    },
    async shiftOf(session, { call_sid, events: [first] }) {
      if (first === undefined) return undefined
      if (first.seq === 1) return 0
      const stored = await read(session, call_sid)
      // An earlier write of unknown outcome did succeed: the stored event is the same one.
      const same = sameAs(first, stored)
      const end = stored.at(-1)?.seq ?? 0
      return same === undefined ? Math.max(0, end - first.seq + 1) : same.seq - first.seq
    },
    async numbered(session, { call_sid, events, later }, shift) {
      const own = shift === 0 ? events : events.map((event) => ({ ...event, seq: event.seq + shift }))
      if (later.length === 0) return own
      const [row] = own.length > 0 ? [] : await last.all(session, { call_sid })
      const before = own.at(-1)?.seq ?? parseEvents(row?.['events']).at(-1)?.seq ?? 0
      return [...own, ...later.map((fact, index) => ({ ...fact, seq: before + 1 + index }))]
    },
  }
}

/** Returns the content of an event without its number. */
function textOf(event: StoredEvent): string | undefined {
  try {
    return JSON.stringify({ ...event, seq: 0 })
  } catch {
    return undefined
  }
}
