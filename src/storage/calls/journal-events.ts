// The events of a stored journal, read from its rows: each row holds the events of one write, as JSON.
import type { Kysely } from 'kysely'
import type { StoredEvent } from '../../contracts/journal.ts'
import { slot } from '../database/prepared.ts'
import type { Schema } from '../tables.ts'

/** Selects the rows of one call, in order. */
export function selectEvents(db: Kysely<Schema>) {
  return db
    .selectFrom('call_journal')
    .select('events')
    .where('call_sid', '=', slot('call_sid'))
    .orderBy('first_seq')
}

export function parseEvents(cell: unknown): StoredEvent[] {
  return typeof cell === 'string' ? (JSON.parse(cell) as StoredEvent[]) : []
}
