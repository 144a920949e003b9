// Reads of finished calls: pages of recent calls, single records, journals.
import type { Kysely } from 'kysely'
import type { Tenancy } from '../../contracts/caller.ts'
import type { Clock } from '../../lib/clock.ts'
import type { StoredEvent } from '../../contracts/journal.ts'
import { matchOf, type CallOwner, type RecentCallQuery } from './call-match.ts'
import { createCallPages, type RecentCallPage } from './call-pages.ts'
import { indexed } from './call-record-writer.ts'
import { parseEvents, selectEvents } from './journal-events.ts'
import type { Database, Readers, Session } from '../database/database.ts'
import { prepare, run, slot } from '../database/prepared.ts'
import { tenancyFilter } from '../rows/ownership.ts'
import type { Schema } from '../tables.ts'

export interface RecentCalls {
  page(tenancy: Tenancy, account_sid: string, query: RecentCallQuery): Promise<RecentCallPage>
  find(tenancy: Tenancy, account_sid: string, call_sid: string): Promise<Schema['recent_calls'] | undefined>
  /** Returns calls of all accounts of a service provider. */
  pageOfProvider(
    tenancy: Tenancy,
    service_provider_sid: string,
    query: RecentCallQuery,
  ): Promise<RecentCallPage>
  /** Returns the legs that used one SIP Call-ID, or the leg with this call_sid, oldest first. */
  bySipCallId(
    tenancy: Tenancy,
    owner: CallOwner,
    sip_call_id: string,
  ): Promise<readonly Schema['recent_calls'][]>
}

export interface Journal {
  /** Returns undefined when there is no such call within the tenancy. */
  read(tenancy: Tenancy, account_sid: string, call_sid: string): Promise<StoredEvent[] | undefined>
}

export interface CallRecords {
  recentCalls(readers: Readers): RecentCalls
  journal(readers: Readers): Journal
}

// A Call-ID names one dialog, or the few forks of one dialog.
const maxLegs = 20

export function createCallRecords(database: Database, clock: Clock): CallRecords {
  const db = database.builder
  const queries = createQueries(db)
  const pages = createCallPages(database)
  const seenBy = (tenancy: Tenancy) =>
    db
      .selectFrom('recent_calls')
      .selectAll()
      .where((eb) => eb.and(tenancyFilter(tenancy)))

  async function isVisible(reader: Session, tenancy: Tenancy, account_sid: string): Promise<boolean> {
    if (tenancy.level === 'account') return tenancy.account_sid === account_sid
    if (tenancy.level !== 'service_provider') return true
    const { service_provider_sid } = tenancy
    const rows = await queries.account.all(reader, { account_sid, service_provider_sid })
    return rows.length > 0
  }

  async function page(
    readers: Readers,
    tenancy: Tenancy,
    owner: CallOwner,
    query: RecentCallQuery,
  ): Promise<RecentCallPage> {
    const match = matchOf(tenancy, owner, query, clock.now())
    if (match === undefined) return { total: 0, rows: [] }
    return pages.read(readers, match, { offset: (query.page - 1) * query.count, limit: query.count })
  }

  return {
    recentCalls: (readers) => ({
      page: (tenancy, account_sid, query) => page(readers, tenancy, { account_sid }, query),
      pageOfProvider: (tenancy, service_provider_sid, query) =>
        page(readers, tenancy, { service_provider_sid }, query),
      async bySipCallId(tenancy, owner, sip_call_id) {
        const query = seenBy(tenancy)
          .where((eb) => eb.and(owner))
          .where((eb) =>
            eb.or([eb('sip_call_id', '=', indexed(sip_call_id)), eb('call_sid', '=', sip_call_id)]),
          )
          .orderBy('attempted_at')
          .limit(maxLegs)
        const rows = await run(readers.reader, query)
        return rows as unknown as Schema['recent_calls'][]
      },
      async find(tenancy, account_sid, call_sid) {
        const query = seenBy(tenancy).where('account_sid', '=', account_sid).where('call_sid', '=', call_sid)
        const [row] = await run(readers.reader, query)
        return row as Schema['recent_calls'] | undefined
      },
    }),
    journal: (readers) => ({
      async read(tenancy, account_sid, call_sid) {
        if (!(await isVisible(readers.reader, tenancy, account_sid))) return undefined
        const rows = await queries.journal.all(readers.reader, { account_sid, call_sid })
        return rows.length === 0 ? undefined : rows.flatMap((row) => parseEvents(row['events']))
      },
    }),
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
    journal: prepare(selectEvents(db).where('account_sid', '=', slot('account_sid'))),
  }
}
