// Pages of the call records whose numbers contain a text. docs/decisions/0015-call-filters.md says why so.
import { sql } from 'kysely'
import type { ExpressionBuilder } from 'kysely'
import { inTime, matching, newestFirst, shapeOf, valuesOf } from './call-match.ts'
import type { CallMatch, SelectingCalls } from './call-match.ts'
import type { RecentCallPage } from './call-pages.ts'
import type { Database, Session } from './database.ts'
import { createPreparedCache, rowSlot, slot } from './prepared.ts'
import { containing } from './table-queries.ts'
import type { RecentCallRow, Schema } from './tables.ts'

export interface CallSearch {
  read(session: Session, match: CallMatch, window: SearchWindow): Promise<RecentCallPage>
}

export interface SearchWindow {
  readonly offset: number
  readonly limit: number
  /** How many records the owner has in the time asked for. */
  readonly all: number
}

/** Of records, as a JSON array: found once, and used by each statement of a page. */
type Ids = string

// An owner's records are passed by in their index at 0.15 us each. One found by its number is one of anybody's, and is
// looked up in the table: 3 us when it is in memory, many times that when it is not.
const entriesPerLookup = 20
// So many are passed by before a number could be looked up.
const maxPassed = 20_000
const maxLookups = 20_000
// The index knows the parts of numbers by three characters.
const minLength = 3

export function createCallSearch({
  builder: db,
  hasNumberTable,
}: Pick<Database, 'builder' | 'hasNumberTable'>): CallSearch {
  const once = createPreparedCache()

  // LIKE of the embedded database takes no notice of the case of ASCII letters.
  const contains = (eb: ExpressionBuilder<Schema, 'recent_calls'>, column: 'from' | 'to') =>
    hasNumberTable
      ? sql<boolean>`${eb.ref(column)} like ${slot('pattern')} escape '\\'`
      : sql<boolean>`lower(${eb.ref(column)}) like lower(${slot('pattern')}) escape '\\'`

  function matched(match: CallMatch, ids: Ids | undefined): SelectingCalls<object> {
    const candidates =
      ids === undefined ? db.selectFrom('recent_calls') : (db.selectFrom(named) as SelectingCalls<object>)
    const query = matching(candidates, match).where((eb) =>
      eb.or([contains(eb, 'from'), contains(eb, 'to'), eb('call_sid', '=', slot('filter'))]),
    )
    return inTime(query, match)
  }

  function valuesFor(match: CallMatch, ids?: Ids) {
    const { filter = '', end = Number.MAX_SAFE_INTEGER } = match
    return { ...valuesOf(match), upTo: end, pattern: containing(filter), ids }
  }

  /** The candidates by their numbers; undefined where the index that gives the order is to be read. */
  async function candidatesOf(session: Session, match: CallMatch, all: number): Promise<Ids | undefined> {
    const { filter = '' } = match
    if (!hasNumberTable || all <= maxPassed || Array.from(filter).length < minLength) return undefined
    const max = Math.min(maxLookups, Math.floor(all / entriesPerLookup))
    const query = once('candidates', () =>
      db
        .selectFrom(found)
        .select([sql<number>`count(*)`.as('calls'), sql<string>`json_group_array(id)`.as('ids')]),
    )
    const phrase = `"${filter.replaceAll('"', '""')}"`
    const [row] = await query.all(session, { filter, phrase, limit: max + 1 })
    return Number(row?.['calls']) > max ? undefined : String(row?.['ids'])
  }

  async function rows(
    session: Session,
    match: CallMatch,
    ids: Ids | undefined,
    { offset, limit }: SearchWindow,
  ): Promise<readonly RecentCallRow[]> {
    const query = once(`rows ${ids === undefined} ${shapeOf(match)}`, () => newestFirst(matched(match, ids)))
    const cells = await query.all(session, { ...valuesFor(match, ids), skip: offset, limit })
    return cells as unknown as RecentCallRow[]
  }

  async function count(session: Session, match: CallMatch, ids: Ids | undefined): Promise<number> {
    const query = once(`count ${ids === undefined} ${shapeOf(match)}`, () =>
      matched(match, ids).select((eb) => eb.fn.countAll().as('calls')),
    )
    const [row] = await query.all(session, valuesFor(match, ids))
    return Number(row?.['calls'] ?? 0)
  }

  return {
    async read(session, match, window) {
      const ids = await candidatesOf(session, match, window.all)
      const page = await rows(session, match, ids, window)
      const total = totalBy(page, window) ?? (await count(session, match, ids))
      return { total, rows: page }
    },
  }
}

/** How many there are, when the page tells it by ending before it is full. */
export function totalBy(
  { length }: readonly unknown[],
  { offset, limit }: Pick<SearchWindow, 'offset' | 'limit'>,
): number | undefined {
  return length < limit && (length > 0 || offset === 0) ? offset + length : undefined
}

/** Of the embedded database (migrations/0009-call-filters.ts): those whose numbers, or whose call_sid, may be meant. */
const found = sql`(select id from (select rowid as id from recent_call_numbers
    where recent_call_numbers match ${slot('phrase')} limit ${rowSlot('limit')})
  union select id from recent_calls where call_sid = ${slot('filter')})`.as('found')

// CROSS JOIN keeps the order: the ids lead to the records (https://sqlite.org/lang_select.html#crossjoin).
const named = sql<RecentCallRow>`(select recent_calls.*
  from json_each(${slot('ids')}) as found cross join recent_calls on recent_calls.id = found.value)`.as(
  'recent_calls',
)
