// The conditions on the call records of a page, with slots: those of the query, and the limits of the tenancy.
import { sql, type RawBuilder, type SelectQueryBuilder } from 'kysely'
import type { Tenancy } from '../../contracts/caller.ts'
import { rowSlot, slot, type Values } from '../database/prepared.ts'
import { tenancyFilter } from '../rows/ownership.ts'
import type { Schema } from '../tables.ts'

export interface RecentCallQuery {
  /** Counted from 1. */
  readonly page: number
  readonly count: number
  /** The last N x 24 hours; overrides start and end. */
  readonly days?: number | undefined
  /** Epoch ms of the attempt; both ends are inclusive. */
  readonly start?: number | undefined
  readonly end?: number | undefined
  readonly answered?: boolean | undefined
  readonly direction?: Schema['recent_calls']['direction'] | undefined
  readonly trunk?: string | undefined
  /** A substring of from or to, or a whole call_sid. */
  readonly filter?: string | undefined
}

export type CallOwner = { readonly account_sid: string } | { readonly service_provider_sid: string }

/** The conditions of a page. An undefined one narrows nothing; account or provider is always set. */
export interface CallMatch extends Omit<RecentCallQuery, 'page' | 'count' | 'days'> {
  readonly account_sid: string | undefined
  readonly service_provider_sid: string | undefined
}

const dayMs = 86_400_000

/** Returns undefined when the tenancy sees nothing of the owner, or when the start is later than the end. */
export function matchOf(
  tenancy: Tenancy,
  owner: CallOwner,
  query: RecentCallQuery,
  now: number,
): CallMatch | undefined {
  const asked = { account_sid: undefined, service_provider_sid: undefined, ...owner }
  const seen = tenancyFilter(tenancy)
  for (const column of ['account_sid', 'service_provider_sid'] as const)
    if (asked[column] !== undefined && seen[column] !== undefined && asked[column] !== seen[column])
      return undefined
  const { page: _page, count: _count, days, ...conditions } = query
  const start = days === undefined ? query.start : now - days * dayMs
  const end = days === undefined ? query.end : undefined
  if (start !== undefined && end !== undefined && start > end) return undefined
  return {
    ...conditions,
    start,
    end,
    account_sid: asked.account_sid ?? seen.account_sid,
    service_provider_sid: asked.service_provider_sid ?? seen.service_provider_sid,
  }
}

/** Returns the names of the conditions, so that a statement is compiled once for all matches with the same ones. */
export function shapeOf(match: CallMatch): string {
  return Object.entries(match)
    .filter(([, value]) => value !== undefined)
    .map(([name]) => name)
    .join()
}

export type SelectingCalls<O> = SelectQueryBuilder<Schema, 'recent_calls', O>

/** Adds every condition except those on time and on numbers. */
export function matching<O>(query: SelectingCalls<O>, match: CallMatch): SelectingCalls<O> {
  let result = query
  for (const column of ['account_sid', 'service_provider_sid', 'answered', 'direction', 'trunk'] as const)
    if (match[column] !== undefined)
      result =
        column === 'service_provider_sid' && match.account_sid !== undefined
          ? result.where(asExpression(column), '=', slot(column))
          : result.where(column, '=', slot(column))
  return result
}

/**
 * Returns the column as an expression. No index begins with an expression, so the planner uses the index of the
 * account, which holds fewer calls than that of its provider. SQLite cannot find out which holds fewer and prefers the
 * provider's: 5 million entries instead of 2.5 in the benchmark.
 */
function asExpression(column: 'service_provider_sid'): RawBuilder<string> {
  return sql<string>`${sql.ref(column)} || ''`
}

/** Limits to calls attempted at `upTo` or before, and not before the start of the match. */
export function inTime<O>(query: SelectingCalls<O>, { start }: CallMatch): SelectingCalls<O> {
  const ended = query.where('attempted_at', '<=', slot('upTo'))
  return start === undefined ? ended : ended.where('attempted_at', '>=', slot('start'))
}

/** Selects the records of one page: `limit` of them, after `skip`. */
export function newestFirst(query: SelectingCalls<object>) {
  return query
    .selectAll()
    .orderBy('attempted_at', 'desc')
    .orderBy('call_sid', 'desc')
    .limit(rowSlot('limit'))
    .offset(rowSlot('skip'))
}

/** Returns the values for the slots of `matching` and `inTime`. */
export function valuesOf(match: CallMatch): Values {
  const { answered } = match
  return { ...match, answered: answered === undefined ? undefined : answered ? 1 : 0 }
}
