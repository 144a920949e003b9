// Reads what calls have left: pages of recent calls, single records, journals. Also removes what has grown old.
import type { Kysely, SelectQueryBuilder } from 'kysely'
import type { Asker } from '../lib/asker.ts'
import type { Tenancy } from '../lib/caller.ts'
import type { Clock } from '../lib/clock.ts'
import type { JournalEvent } from './call-batch.ts'
import { matchOf } from './call-match.ts'
import type { CallOwner, RecentCallQuery } from './call-match.ts'
import { createCallPages } from './call-pages.ts'
import type { RecentCallPage } from './call-pages.ts'
import { recordColumns } from './call-record-writer.ts'
import { parseEvents } from './adoption.ts'
import type { Database, Parameter, Session } from './database.ts'
import { prepare, slot } from './prepared.ts'
import type { RecentCallRow, Schema } from './tables.ts'

export interface RecentCalls {
  page(tenancy: Tenancy, account_sid: string, query: RecentCallQuery, asker?: Asker): Promise<RecentCallPage>
  find(
    tenancy: Tenancy,
    account_sid: string,
    call_sid: string,
    asker?: Asker,
  ): Promise<RecentCallRow | undefined>
  /** Of all accounts of a service provider. */
  pageOfProvider(
    tenancy: Tenancy,
    service_provider_sid: string,
    query: RecentCallQuery,
    asker?: Asker,
  ): Promise<RecentCallPage>
  /** The legs that one SIP Call-ID was used for, oldest first. */
  bySipCallId(
    tenancy: Tenancy,
    owner: CallOwner,
    sip_call_id: string,
    asker?: Asker,
  ): Promise<readonly RecentCallRow[]>
}

export interface Journal {
  /** Undefined when there is no such call within the tenancy. */
  read(
    tenancy: Tenancy,
    account_sid: string,
    call_sid: string,
    asker?: Asker,
  ): Promise<JournalEvent[] | undefined>
}

export interface CallRecords {
  readonly recentCalls: RecentCalls
  readonly journal: Journal
  /** Removes up to `limit` calls before `before`, records and journals; returns how many. */
  prune(before: number, limit: number): Promise<number>
}

// A Call-ID names one dialog, or the few forks of one; whoever uses it for more gets no more shown.
const maxLegs = 20

type Selecting<O> = SelectQueryBuilder<Schema, 'recent_calls', O>

export function createCallRecords(database: Database, clock: Clock): CallRecords {
  const db = database.builder
  const queries = createQueries(db)
  const pages = createCallPages(database)

  async function isVisible(reader: Session, tenancy: Tenancy, account_sid: string): Promise<boolean> {
    if (tenancy.level === 'account') return tenancy.account_sid === account_sid
    if (tenancy.level !== 'service_provider') return true
    const { service_provider_sid } = tenancy
    const rows = await queries.account.all(reader, { account_sid, service_provider_sid })
    return rows.length > 0
  }

  async function page(
    tenancy: Tenancy,
    owner: CallOwner,
    query: RecentCallQuery,
    asker: Asker | undefined,
  ): Promise<RecentCallPage> {
    const match = matchOf(tenancy, owner, query, clock.now())
    if (match === undefined) return { total: 0, rows: [] }
    const window = { offset: (query.page - 1) * query.count, limit: query.count }
    return pages.read(database.readersFor(asker), match, window)
  }

  return {
    recentCalls: {
      page: (tenancy, account_sid, query, asker) => page(tenancy, { account_sid }, query, asker),
      pageOfProvider: (tenancy, service_provider_sid, query, asker) =>
        page(tenancy, { service_provider_sid }, query, asker),
      async bySipCallId(tenancy, owner, sip_call_id, asker) {
        const query = of(within(db.selectFrom('recent_calls').select(recordColumns), tenancy), owner)
          .where('sip_call_id', '=', sip_call_id)
          .orderBy('attempted_at')
          .limit(maxLegs)
          .compile()
        const { reader } = database.readersFor(asker)
        const rows = await reader.all(query.sql, query.parameters as readonly Parameter[])
        return rows as unknown as RecentCallRow[]
      },
      async find(tenancy, account_sid, call_sid, asker) {
        const query = within(db.selectFrom('recent_calls').select(recordColumns), tenancy)
          .where('account_sid', '=', account_sid)
          .where('call_sid', '=', call_sid)
          .compile()
        const { reader } = database.readersFor(asker)
        const [row] = await reader.all(query.sql, query.parameters as readonly Parameter[])
        return row as RecentCallRow | undefined
      },
    },
    journal: {
      async read(tenancy, account_sid, call_sid, asker) {
        const { reader } = database.readersFor(asker)
        if (!(await isVisible(reader, tenancy, account_sid))) return undefined
        const rows = await queries.journal.all(reader, { account_sid, call_sid })
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
  const recorded = await queries.removeOldest.all(session, { before, limit })
  const unrecorded = await queries.removeUnrecorded.all(session, { before, limit: limit - recorded.length })
  const removed = [...recorded, ...unrecorded]
  for (const row of removed) await queries.removeJournal.all(session, { call_sid: String(row['call_sid']) })
  return removed.length
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
    // In one statement, as they were written: what it locks besides is locked in order.
    removeOldest: prepare(
      db
        .deleteFrom('recent_calls')
        .where('call_sid', 'in', (eb) =>
          eb
            .selectFrom('recent_calls as old')
            .select('old.call_sid')
            .where('old.attempted_at', '<', slot('before'))
            .orderBy('old.attempted_at')
            .limit(slot('limit')),
        )
        .returning('call_sid'),
    ),
    removeUnrecorded: prepare(
      db
        .deleteFrom('unrecorded_calls')
        .where('call_sid', 'in', (eb) =>
          eb
            .selectFrom('unrecorded_calls as old')
            .select('old.call_sid')
            .where('old.ended_at', '<', slot('before'))
            .orderBy('old.ended_at')
            .limit(slot('limit')),
        )
        .returning('call_sid'),
    ),
    removeJournal: prepare(db.deleteFrom('call_journal').where('call_sid', '=', slot('call_sid'))),
  }
}
