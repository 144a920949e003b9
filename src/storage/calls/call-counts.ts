// Counts of call records, from the hours and days that triggers keep, and the place of the n-th newest record among
// them. Both read a few hundred rows, however many records there are. docs/decisions/0008-call-counts.md says why.
import { sql, type Kysely, type RawBuilder } from 'kysely'
import { matching, shapeOf, valuesOf, type CallMatch } from './call-match.ts'
import type { Session } from '../database/database.ts'
import { createPreparedCache, slot } from '../database/prepared.ts'
import type { Schema } from '../tables.ts'

export interface CallCounts {
  /** Returns the number of matching records. */
  total(session: Session, match: CallMatch): Promise<number>
  /**
   * Returns the number of records that were attempted after the end of the match and fulfil its other conditions. Only
   * those within the hour of the end are read.
   */
  afterEnd(session: Session, match: CallMatch): Promise<number>
  /** Returns the place of the record with exactly `rank` newer ones, unbounded in time; undefined if there is none. */
  place(session: Session, match: CallMatch, rank: number): Promise<CallPlace | undefined>
}

/** A position in the list: behind the `skip` newest of the records attempted at `upTo` (epoch ms) or before. */
export interface CallPlace {
  readonly upTo: number
  readonly skip: number
}

/** Reports whether the counts give the total: they are kept by owner, direction and answer, not by trunk or number. */
export function isCounted({ filter, trunk }: CallMatch): boolean {
  return filter === undefined && trunk === undefined
}

const hourMs = 3_600_000
const dayMs = 86_400_000

export function createCallCounts(db: Kysely<Schema>): CallCounts {
  const once = createPreparedCache()

  /** Sums over the spans of one length that start after `from` and before `to`, which are names of slots. */
  function sumBetween(match: CallMatch, spanMs: number, from: string, to?: string) {
    let query = countsOf(db, match, spanMs)
      .select(sql<number>`coalesce(sum(${callsOf(match)}), 0)`.as('calls'))
      .where('starts_at', '>', slot(from))
    if (to !== undefined) query = query.where('starts_at', '<', slot(to))
    return query
  }

  /** Counts the calls after a moment: in the later days, the later hours of its day, the later part of its hour. */
  function after(match: CallMatch, moment: 'start' | 'end') {
    const records = matching(db.selectFrom('recent_calls'), match)
      .select((eb) => eb.fn.countAll<number>().as('calls'))
      .where('attempted_at', '>', slot(`${moment}_at`))
      .where('attempted_at', '<', slot(`${moment}_hour_end`))
    return sql<number>`(${sumBetween(match, dayMs, `${moment}_day`)})
      + (${sumBetween(match, hourMs, `${moment}_hour`, `${moment}_day_end`)}) + (${records})`
  }

  async function numberOf(
    session: Session,
    match: CallMatch,
    what: string,
    make: () => RawBuilder<number>,
  ): Promise<number> {
    const query = once(`${what} ${kindOf(match)} ${shapeOf(match)}`, () =>
      db.selectNoFrom(make().as('calls')),
    )
    const [row] = await query.all(session, {
      ...valuesOf(match),
      owner_sid: ownerOf(match),
      beginning: -1,
      // Counting starts after the millisecond before the start, so that the start itself is included.
      ...(match.start === undefined ? {} : moments('start', match.start - 1)),
      ...(match.end === undefined ? {} : moments('end', match.end)),
    })
    return Number(row?.['calls'] ?? 0)
  }

  /** Finds the span of one length, starting from `from` and before `to`, that holds the record with `rank` newer ones. */
  async function spanAt(
    session: Session,
    match: CallMatch,
    { spanMs, from, to, rank }: { spanMs: number; from: number; to: number; rank: number },
  ): Promise<{ readonly starts_at: number; readonly newer: number } | undefined> {
    const query = once(`span of ${spanMs} ${kindOf(match)} ${shapeOf(match)}`, () => {
      const calls = sql<number>`sum(${callsOf(match)})`
      const spans = countsOf(db, match, spanMs)
        .select(['starts_at', calls.as('calls')])
        .select(
          sql<number>`sum(${calls}) over (order by starts_at desc rows unbounded preceding)`.as('through'),
        )
        .where('starts_at', '>=', slot('from'))
        .where('starts_at', '<', slot('to'))
        .groupBy('starts_at')
        .as('spans')
      // The scan runs from the newest span and stops at the one found; a sort would read all spans first.
      return db
        .selectFrom(spans)
        .select(['starts_at', sql<number>`through - calls`.as('newer')])
        .where('through', '>', slot('rank'))
        .where(sql<number>`through - calls`, '<=', slot('rank'))
        .limit(1)
    })
    const values = { ...valuesOf(match), owner_sid: ownerOf(match), from, to, rank }
    const [row] = await query.all(session, values)
    return row && { starts_at: Number(row['starts_at']), newer: Number(row['newer']) }
  }

  return {
    total: (session, match) =>
      numberOf(session, match, 'total', () => {
        const all =
          match.start === undefined
            ? sql<number>`(${sumBetween(match, dayMs, 'beginning')})`
            : after(match, 'start')
        return match.end === undefined ? all : sql<number>`${all} - (${after(match, 'end')})`
      }),
    afterEnd: async (session, match) =>
      match.end === undefined ? 0 : numberOf(session, match, 'after end', () => after(match, 'end')),
    async place(session, match, rank) {
      const everything = { spanMs: dayMs, from: 0, to: Number.MAX_SAFE_INTEGER, rank }
      const day = await spanAt(session, match, everything)
      if (day === undefined) return undefined
      const [from, to, left] = [day.starts_at, day.starts_at + dayMs, rank - day.newer]
      const hour = await spanAt(session, match, { spanMs: hourMs, from, to, rank: left })
      return hour && { upTo: hour.starts_at + hourMs - 1, skip: left - hour.newer }
    },
  }
}

function countsOf(db: Kysely<Schema>, { service_provider_sid }: CallMatch, spanMs: number) {
  const query = db
    .selectFrom('recent_call_counts')
    .where('owner_sid', '=', slot('owner_sid'))
    .where('span_ms', '=', sql.lit(spanMs))
  return service_provider_sid === undefined
    ? query
    : query.where('service_provider_sid', '=', slot('service_provider_sid'))
}

/** Returns the owner of the counts: the account if given. With a provider, only calls made under it count. */
function ownerOf({ account_sid, service_provider_sid }: CallMatch): string | undefined {
  return account_sid ?? service_provider_sid
}

/** Returns the columns that hold the directions and answers of the match. */
function columnsOf({ direction, answered }: CallMatch) {
  const columns = [
    { name: 'inbound_answered', direction: 'inbound', answered: true },
    { name: 'inbound_unanswered', direction: 'inbound', answered: false },
    { name: 'outbound_answered', direction: 'outbound', answered: true },
    { name: 'outbound_unanswered', direction: 'outbound', answered: false },
  ] as const
  return columns.filter(
    (column) =>
      (direction === undefined || direction === column.direction) &&
      (answered === undefined || answered === column.answered),
  )
}

function callsOf(match: CallMatch): RawBuilder<number> {
  return sql.join(
    columnsOf(match).map(({ name }) => sql.ref(name)),
    sql` + `,
  )
}

function kindOf(match: CallMatch): string {
  return columnsOf(match)
    .map(({ name }) => name)
    .join('+')
}

function moments(name: 'start' | 'end', at: number): Record<string, number> {
  const hour = Math.floor(at / hourMs) * hourMs
  const day = Math.floor(at / dayMs) * dayMs
  return {
    [`${name}_at`]: at,
    [`${name}_hour`]: hour,
    [`${name}_hour_end`]: hour + hourMs,
    [`${name}_day`]: day,
    [`${name}_day_end`]: day + dayMs,
  }
}
