// Pages of call records, newest first. What reads few rows, however many there are, runs on the main thread; a statement
// that has to pass by many runs off it.
import type { Kysely } from 'kysely'
import { createCallCounts, isCounted } from './call-counts.ts'
import type { CallPlace } from './call-counts.ts'
import { matching, shapeOf, valuesOf } from './call-match.ts'
import type { CallMatch } from './call-match.ts'
import type { Database, Session } from './database.ts'
import { createPreparedCache, rowSlot, slot } from './prepared.ts'
import type { RecentCallRow, Schema } from './tables.ts'

export interface RecentCallPage {
  readonly total: number
  readonly rows: readonly RecentCallRow[]
}

export interface CallPages {
  read(match: CallMatch, window: CallWindow): Promise<RecentCallPage>
}

export interface CallWindow {
  readonly offset: number
  readonly limit: number
  /** Whoever asks may go away: what has not begun by then is not read. */
  readonly whenGone?: (() => AbortSignal) | undefined
}

/** Made only where it is used: a signal costs as much as a short read. */
type SlowSession = () => Session

// Passing by so many entries of an index takes less than handing the statement to another thread.
const maxPassed = 1000

export function createCallPages({
  builder: db,
  reader,
  slowReader,
}: Pick<Database, 'builder' | 'reader' | 'slowReader'>): CallPages {
  const counts = createCallCounts(db)
  const queries = createQueries(db)

  function total(match: CallMatch, slow: SlowSession): Promise<number> {
    if (!isCounted(match)) return queries.count(slow(), match)
    // The hours at both ends are counted record by record.
    const isQuick = match.start === undefined && match.end === undefined
    return counts.total(isQuick ? reader : slow(), match)
  }

  async function placeOf(
    match: CallMatch,
    offset: number,
    slow: SlowSession,
  ): Promise<CallPlace | undefined> {
    const { end = Number.MAX_SAFE_INTEGER } = match
    const first = { upTo: end, skip: offset }
    if (offset <= maxPassed || !isCounted(match)) return first
    const isQuick = match.end === undefined
    const newer = isQuick ? 0 : await counts.afterEnd(slow(), match)
    const place = await counts.place(reader, match, newer + offset)
    return place !== undefined && place.upTo > end ? first : place
  }

  async function rows(
    match: CallMatch,
    { offset, limit }: CallWindow,
    slow: SlowSession,
  ): Promise<readonly RecentCallRow[]> {
    const place = await placeOf(match, offset, slow)
    if (place === undefined) return []
    const { answered, direction } = match
    const isQuick =
      place.skip <= maxPassed && isCounted(match) && answered === undefined && direction === undefined
    return queries.rows(isQuick ? reader : slow(), match, { ...place, limit })
  }

  return {
    async read(match, window) {
      const { whenGone } = window
      const slow = (): Session => (whenGone === undefined ? slowReader : slowReader.until(whenGone()))
      const [counted, found] = await Promise.all([total(match, slow), rows(match, window, slow)])
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
