// Reads what calls have left: pages of recent calls, single records, journals. Also removes what has grown old.
import { sql } from 'kysely'
import type { ExpressionBuilder, Kysely, SelectQueryBuilder } from 'kysely'
import type { Tenancy } from '../lib/caller.ts'
import type { Clock } from '../lib/clock.ts'
import type { JournalEvent } from './call-batch.ts'
import { parseEvents } from './call-store.ts'
import type { Database, Parameter, Session } from './database.ts'
import { prepare, slot } from './prepared.ts'
import { containing } from './table-queries.ts'
import type { RecentCallRow, Schema } from './tables.ts'

export interface RecentCallQuery {
  /** From 1. */
  readonly page: number
  readonly count: number
  /** The last N x 24 hours; overrides start and end. */
  readonly days?: number
  /** Epoch ms of the attempt, both inclusive. */
  readonly start?: number
  readonly end?: number
  readonly answered?: boolean
  readonly direction?: 'inbound' | 'outbound'
  readonly trunk?: string
  /** Substring of from or to, or a whole call_sid. */
  readonly filter?: string
}

export interface RecentCallPage {
  readonly total: number
  readonly rows: readonly RecentCallRow[]
}

export interface RecentCalls {
  page(tenancy: Tenancy, account_sid: string, query: RecentCallQuery): Promise<RecentCallPage>
  find(tenancy: Tenancy, account_sid: string, call_sid: string): Promise<RecentCallRow | undefined>
  /** Of all accounts of a service provider. */
  pageOfProvider(
    tenancy: Tenancy,
    service_provider_sid: string,
    query: RecentCallQuery,
  ): Promise<RecentCallPage>
  /** The legs that one SIP Call-ID was used for, oldest first. */
  bySipCallId(tenancy: Tenancy, owner: CallOwner, sip_call_id: string): Promise<readonly RecentCallRow[]>
}

export type CallOwner = { readonly account_sid: string } | { readonly service_provider_sid: string }

export interface Journal {
  /** Undefined when there is no such call within the tenancy. */
  read(tenancy: Tenancy, account_sid: string, call_sid: string): Promise<JournalEvent[] | undefined>
}

export interface CallRecords {
  readonly recentCalls: RecentCalls
  readonly journal: Journal
  /** Removes up to `limit` records attempted before `before`, with their journals; returns how many. */
  prune(before: number, limit: number): Promise<number>
}

const dayMs = 86_400_000
// A Call-ID names one dialog, or the few forks of one; whoever uses it for more gets no more shown.
const maxLegs = 20

type Selecting<O> = SelectQueryBuilder<Schema, 'recent_calls', O>

export function createCallRecords(database: Database, clock: Clock): CallRecords {
  const db = database.builder
  const queries = createQueries(db)

  async function isVisible(tenancy: Tenancy, account_sid: string): Promise<boolean> {
    if (tenancy.level === 'account') return tenancy.account_sid === account_sid
    if (tenancy.level !== 'service_provider') return true
    const { service_provider_sid } = tenancy
    const rows = await queries.account.all(database.reader, { account_sid, service_provider_sid })
    return rows.length > 0
  }

  async function page(tenancy: Tenancy, owner: CallOwner, query: RecentCallQuery): Promise<RecentCallPage> {
    const matching = <O>(select: Selecting<O>): Selecting<O> =>
      of(within(filtered(select, query, clock.now()), tenancy), owner)
    const total = matching(db.selectFrom('recent_calls').select((eb) => eb.fn.countAll().as('total')))
    const rows = matching(db.selectFrom('recent_calls').selectAll())
      .orderBy('attempted_at', 'desc')
      .orderBy('call_sid', 'desc')
      .limit(query.count)
      .offset((query.page - 1) * query.count)
    const run = ({ sql: text, parameters }: { sql: string; parameters: readonly unknown[] }) =>
      database.slowReader.all(text, parameters as readonly Parameter[])
    const [counted, found] = await Promise.all([run(total.compile()), run(rows.compile())])
    return {
      total: Number(counted[0]?.['total'] ?? 0),
      rows: found as unknown as RecentCallRow[],
    }
  }

  return {
    recentCalls: {
      page: (tenancy, account_sid, query) => page(tenancy, { account_sid }, query),
      pageOfProvider: (tenancy, service_provider_sid, query) =>
        page(tenancy, { service_provider_sid }, query),
      async bySipCallId(tenancy, owner, sip_call_id) {
        const query = of(within(db.selectFrom('recent_calls').selectAll(), tenancy), owner)
          .where('sip_call_id', '=', sip_call_id)
          .orderBy('attempted_at')
          .limit(maxLegs)
          .compile()
        const rows = await database.reader.all(query.sql, query.parameters as readonly Parameter[])
        return rows as unknown as RecentCallRow[]
      },
      async find(tenancy, account_sid, call_sid) {
        const query = within(db.selectFrom('recent_calls').selectAll(), tenancy)
          .where('account_sid', '=', account_sid)
          .where('call_sid', '=', call_sid)
          .compile()
        const [row] = await database.reader.all(query.sql, query.parameters as readonly Parameter[])
        return row as RecentCallRow | undefined
      },
    },
    journal: {
      async read(tenancy, account_sid, call_sid) {
        if (!(await isVisible(tenancy, account_sid))) return undefined
        const rows = await queries.journal.all(database.reader, { account_sid, call_sid })
        return rows.length === 0 ? undefined : rows.flatMap((row) => parseEvents(row['events']))
      },
    },
    prune: (before, limit) => database.commitBeside((session) => pruneIn(session, queries, before, limit)),
  }
}

async function pruneIn(
  session: Session,
  queries: ReturnType<typeof createQueries>,
  before: number,
  limit: number,
): Promise<number> {
  const old = await queries.old.all(session, { before, limit })
  for (const row of old) {
    const call_sid = String(row['call_sid'])
    await queries.removeJournal.all(session, { call_sid })
    await queries.removeRecord.all(session, { call_sid })
  }
  return old.length
}

function of<O>(query: Selecting<O>, owner: CallOwner): Selecting<O> {
  return 'account_sid' in owner
    ? query.where('account_sid', '=', owner.account_sid)
    : query.where('service_provider_sid', '=', owner.service_provider_sid)
}

function within<O>(query: Selecting<O>, tenancy: Tenancy): Selecting<O> {
  switch (tenancy.level) {
    case 'account':
      return query.where('account_sid', '=', tenancy.account_sid)
    case 'service_provider':
      return query.where('service_provider_sid', '=', tenancy.service_provider_sid)
    case 'admin':
    case 'system':
      return query
  }
}

function filtered<O>(query: Selecting<O>, wanted: RecentCallQuery, now: number): Selecting<O> {
  const { days, answered, direction, trunk, filter } = wanted
  const start = days === undefined ? wanted.start : now - days * dayMs
  const end = days === undefined ? wanted.end : undefined
  let result = query
  if (start !== undefined) result = result.where('attempted_at', '>=', start)
  if (end !== undefined) result = result.where('attempted_at', '<=', end)
  if (answered !== undefined) result = result.where('answered', '=', answered ? 1 : 0)
  if (direction !== undefined) result = result.where('direction', '=', direction)
  if (trunk !== undefined) result = result.where('trunk', '=', trunk)
  if (filter !== undefined) result = result.where((eb) => mentions(eb, filter))
  return result
}

function mentions(eb: ExpressionBuilder<Schema, 'recent_calls'>, filter: string) {
  const like = (column: 'from' | 'to') =>
    sql<boolean>`lower(${eb.ref(column)}) like lower(${containing(filter)}) escape '\\'`
  return eb.or([like('from'), like('to'), eb('call_sid', '=', filter)])
}

function createQueries(db: Kysely<Schema>) {
  return {
    account: prepare(
      db
        .selectFrom('accounts')
        .select('account_sid')
        .where('account_sid', '=', slot('account_sid'))
        .where('service_provider_sid', '=', slot('service_provider_sid')),
    ),
    journal: prepare(
      db
        .selectFrom('call_journal')
        .select('events')
        .where('call_sid', '=', slot('call_sid'))
        .where('account_sid', '=', slot('account_sid'))
        .orderBy('first_seq'),
    ),
    old: prepare(
      db
        .selectFrom('recent_calls')
        .select('call_sid')
        .where('attempted_at', '<', slot('before'))
        .orderBy('attempted_at')
        .limit(slot('limit')),
    ),
    removeJournal: prepare(db.deleteFrom('call_journal').where('call_sid', '=', slot('call_sid'))),
    removeRecord: prepare(db.deleteFrom('recent_calls').where('call_sid', '=', slot('call_sid'))),
  }
}
