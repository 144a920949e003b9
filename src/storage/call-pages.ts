// Pages of call records, newest first. What reads few rows, however many there are, runs on the main thread; a statement
// that has to pass by many runs off it.
import type { Kysely } from 'kysely'
import { createCallCounts, isCounted } from './call-counts.ts'
import type { CallPlace } from './call-counts.ts'
import { inTime, matching, newestFirst, shapeOf, valuesOf } from './call-match.ts'
import type { CallMatch } from './call-match.ts'
import { createCallSearch, totalBy } from './call-search.ts'
import type { Database, Readers, Session } from './database.ts'
import { createPreparedCache } from './prepared.ts'
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

export function createCallPages(database: Pick<Database, 'builder' | 'hasNumberTable'>): CallPages {
  const counts = createCallCounts(database.builder)
  const search = createCallSearch(database)
  const readRows = createRowsQuery(database.builder)

  function total({ reader, slowReader }: Readers, match: CallMatch): Promise<number> {
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
  ): Promise<readonly RecentCallRow[]> {
    const place = await placeOf(readers, match, offset)
    if (place === undefined) return []
    const { answered, direction } = match
    const isQuick = place.skip <= maxPassed && answered === undefined && direction === undefined
    return readRows(isQuick ? readers.reader : readers.slowReader, match, { ...place, limit })
  }

  return {
    async read(readers, match, window) {
      if (!isCounted(match)) {
        const all = await total(readers, withoutConditions(match))
        return search.read(readers.slowReader, match, { ...window, all })
      }
      const [counted, found] = await Promise.all([total(readers, match), rows(readers, match, window)])
      // They are two statements: the total must not deny, nor miss, what was written between them.
      return { total: totalBy(found, window) ?? counted, rows: found }
    },
  }
}

/** Everything of the owner in the time asked for. */
function withoutConditions(match: CallMatch): CallMatch {
  return { ...match, answered: undefined, direction: undefined, trunk: undefined, filter: undefined }
}

function createRowsQuery(db: Kysely<Schema>) {
  const once = createPreparedCache()
  return async (
    session: Session,
    match: CallMatch,
    { upTo, skip, limit }: CallPlace & { readonly limit: number },
  ): Promise<readonly RecentCallRow[]> => {
    const query = once(shapeOf(match), () =>
      newestFirst(inTime(matching(db.selectFrom('recent_calls'), match), match)),
    )
    const found = await query.all(session, { ...valuesOf(match), upTo, skip, limit })
    return found as unknown as RecentCallRow[]
  }
}
