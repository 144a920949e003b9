// Pages of call records, newest first. A statement that reads few rows, however many there are, runs on the main
// thread; one that may skip many runs off it.
import { sql, type Kysely } from 'kysely'
import { createCallCounts, isCounted, type CallPlace } from './call-counts.ts'
import {
  inTime,
  matching,
  newestFirst,
  shapeOf,
  valuesOf,
  type CallMatch,
  type SelectingCalls,
} from './call-match.ts'
import type { Database, Readers, Session } from '../database/database.ts'
import { createPreparedCache, slot } from '../database/prepared.ts'
import { containing } from '../rows/table-queries.ts'
import type { Schema } from '../tables.ts'

export interface RecentCallPage {
  readonly total: number
  readonly rows: readonly Schema['recent_calls'][]
}

export interface CallPages {
  read(readers: Readers, match: CallMatch, window: CallWindow): Promise<RecentCallPage>
}

export interface CallWindow {
  readonly offset: number
  readonly limit: number
}

// Skipping this many index entries takes less time than handing the statement to another thread.
const maxPassed = 1000

export function createCallPages(database: Pick<Database, 'builder' | 'matchesPattern'>): CallPages {
  const readCounted = createCountedPages(database.builder)
  const readUncounted = createUncountedPages(database)
  return {
    read: (readers, match, window) =>
      isCounted(match)
        ? readCounted(readers, match, window)
        : readUncounted(readers.slowReader, match, window),
  }
}

function createCountedPages(db: Kysely<Schema>): CallPages['read'] {
  const counts = createCallCounts(db)
  const once = createPreparedCache()

  function total({ reader, slowReader }: Readers, match: CallMatch): Promise<number> {
    // The hours at both ends are counted record by record, which may take long.
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
    if (offset <= maxPassed) return first
    const isQuick = match.end === undefined
    const newer = isQuick ? 0 : await counts.afterEnd(slowReader, match)
    const place = await counts.place(reader, match, newer + offset)
    return place !== undefined && place.upTo > end ? first : place
  }

  async function rows(
    readers: Readers,
    match: CallMatch,
    { offset, limit }: CallWindow,
  ): Promise<readonly Schema['recent_calls'][]> {
    const place = await placeOf(readers, match, offset)
    if (place === undefined) return []
    const { answered, direction } = match
    const isQuick = place.skip <= maxPassed && answered === undefined && direction === undefined
    const query = once(shapeOf(match), () =>
      newestFirst(inTime(matching(db.selectFrom('recent_calls'), match), match)),
    )
    const found = await query.all(isQuick ? readers.reader : readers.slowReader, {
      ...valuesOf(match),
      ...place,
      limit,
    })
    return found as unknown as Schema['recent_calls'][]
  }

  return async (readers, match, window) => {
    const [counted, found] = await Promise.all([total(readers, match), rows(readers, match, window)])
    // These are two statements: the total must agree with rows that were written between them.
    return { total: totalBy(found, window) ?? counted, rows: found }
  }
}

type ReadUncounted = (session: Session, match: CallMatch, window: CallWindow) => Promise<RecentCallPage>

/**
 * Returns a reader for matches narrowed by trunk or by a part of a number. The index of the owner, or of its trunk,
 * holds all columns that are compared.
 */
function createUncountedPages({
  builder: db,
  matchesPattern,
}: Pick<Database, 'builder' | 'matchesPattern'>): ReadUncounted {
  const once = createPreparedCache()

  function matched(match: CallMatch): SelectingCalls<object> {
    const query = inTime(matching(db.selectFrom('recent_calls'), match), match)
    if (match.filter === undefined) return query
    return query.where((eb) =>
      eb.or([
        matchesPattern(sql.ref('from'), slot('pattern')),
        matchesPattern(sql.ref('to'), slot('pattern')),
        eb('call_sid', '=', slot('filter')),
      ]),
    )
  }

  return async (session, match, window) => {
    const { filter = '', end: upTo = Number.MAX_SAFE_INTEGER } = match
    const values = { ...valuesOf(match), upTo, pattern: containing(filter) }
    const rows = once(`rows ${shapeOf(match)}`, () => newestFirst(matched(match)))
    const count = once(`count ${shapeOf(match)}`, () =>
      matched(match).select((eb) => eb.fn.countAll().as('calls')),
    )
    const page = await rows.all(session, { ...values, skip: window.offset, limit: window.limit })
    // A count visits every entry, so it is skipped where the page already shows the total.
    const total = totalBy(page, window) ?? Number((await count.all(session, values))[0]?.['calls'] ?? 0)
    return { total, rows: page as unknown as Schema['recent_calls'][] }
  }
}

/** Returns the number of records if the page shows it by ending before it is full. */
function totalBy({ length }: readonly unknown[], { offset, limit }: CallWindow): number | undefined {
  return length < limit && (length > 0 || offset === 0) ? offset + length : undefined
}
