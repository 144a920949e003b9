// Pages of call records, newest first. What reads few rows, however many there are, runs on the main thread; a statement
// that has to pass by many runs off it.
import type { Kysely } from 'kysely'
import { createCallCounts, isCounted } from './call-counts.ts'
import type { CallPlace } from './call-counts.ts'
import { matching, shapeOf, valuesOf } from './call-match.ts'
import type { CallMatch } from './call-match.ts'
import type { Readers, Session } from './database.ts'
import { createPreparedCache, rowSlot, slot } from './prepared.ts'
import type { RecentCallRow, Schema } from './tables.ts'

export interface RecentCallPage {
  readonly total: number
  readonly rows: readonly RecentCallRow[]
}

export interface CallPages {
  read(readers: Readers, match: CallMatch, window: CallWindow): Promise<RecentCallPage>
}

export interface CallWindow {
  readonly offset: number
  readonly limit: number
}

// Passing by so many entries of an index takes less than handing the statement to another thread.
const maxPassed = 1000

export function createCallPages(db: Kysely<Schema>): CallPages {
  const counts = createCallCounts(db)
  const queries = createQueries(db)

  function total({ reader, slowReader }: Readers, match: CallMatch): Promise<number> {
    if (!isCounted(match)) return queries.count(slowReader, match)
    // The hours at both ends are counted record by record.
    const isQuick = match.start === undefined && match.end === undefined
    return counts.total(isQuick ? reader : slowReader, match)
  }

  async function placeOf(
    { reader, slowReader }: Readers,
    match: CallMatch,
    offset: number,
  ): Promise<CallPlace | undefined> {
    const { end = Number.MAX_SAFE_INTEGER } = match
    const first = { upTo: end, skip: offset }
    if (offset <= maxPassed || !isCounted(match)) return first
    const isQuick = match.end === undefined
    const newer = isQuick ? 0 : await counts.afterEnd(slowReader, match)
    const place = await counts.place(reader, match, newer + offset)
    return place !== undefined && place.upTo > end ? first : place
  }

  async function rows(
    readers: Readers,
    match: CallMatch,
    { offset, limit }: CallWindow,
  ): Promise<readonly RecentCallRow[]> {
    const place = await placeOf(readers, match, offset)
    if (place === undefined) return []
    const { answered, direction } = match
    const isQuick =
      place.skip <= maxPassed && isCounted(match) && answered === undefined && direction === undefined
    return queries.rows(isQuick ? readers.reader : readers.slowReader, match, { ...place, limit })
  }

  return {
    async read(readers, match, window) {
      const [counted, found] = await Promise.all([total(readers, match), rows(readers, match, window)])
      return { total: counted, rows: found }
    },
  }
}

function createQueries(db: Kysely<Schema>) {
  const once = createPreparedCache()

  const from = (match: CallMatch) => {
    const query = matching(db.selectFrom('recent_calls'), match)
    return match.start === undefined ? query : query.where('attempted_at', '>=', slot('start'))
  }

  return {
    async rows(
      session: Session,
      match: CallMatch,
      { upTo, skip, limit }: CallPlace & { readonly limit: number },
    ): Promise<readonly RecentCallRow[]> {
      const query = once(`rows ${shapeOf(match)}`, () =>
        from(match)
          .selectAll()
          .where('attempted_at', '<=', slot('upTo'))
          .orderBy('attempted_at', 'desc')
          .orderBy('call_sid', 'desc')
          .limit(rowSlot('limit'))
          .offset(rowSlot('skip')),
      )
      const found = await query.all(session, { ...valuesOf(match), upTo, skip, limit })
      return found as unknown as RecentCallRow[]
    },
    /** Reads every record of the owner in the time asked for. */
    async count(session: Session, match: CallMatch): Promise<number> {
      const { end = Number.MAX_SAFE_INTEGER } = match
      const query = once(`count ${shapeOf(match)}`, () =>
        from(match)
          .select((eb) => eb.fn.countAll().as('calls'))
          .where('attempted_at', '<=', slot('upTo')),
      )
      const [row] = await query.all(session, { ...valuesOf(match), upTo: end })
      return Number(row?.['calls'] ?? 0)
    },
  }
}
