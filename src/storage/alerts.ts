// Alerts: accepted immediately, written soon and in batches, read by page.
import { sql, type SelectQueryBuilder } from 'kysely'
import type { Alert, AlertOwner, Alerts } from '../contracts/alert.ts'
import type { Tenancy } from '../contracts/caller.ts'
import type { Clock, Timer } from '../lib/clock.ts'
import { createSid, sidOf } from '../lib/ids.ts'
import type { Logger } from '../lib/log.ts'
import { createOutageLog } from '../lib/outage-log.ts'
import { createTokenBuckets } from '../lib/bounds/token-buckets.ts'
import type { Database, Readers, Session } from './database/database.ts'
import { run } from './database/prepared.ts'
import { readPage, type PageOf, type PageQuery } from './database/read-page.ts'
import { tenancyFilter, type OwnerFilter } from './rows/ownership.ts'
import type { Schema } from './tables.ts'

export interface AlertQuery extends PageQuery {
  readonly alert_type?: string
  /** The last N x 24 hours; overrides start and end. */
  readonly days?: number
  /** Epoch ms; both are inclusive. */
  readonly start?: number
  readonly end?: number
}

export interface AlertPages {
  page(tenancy: Tenancy, owner: AlertOwner, query: AlertQuery): Promise<PageOf<Schema['alerts']>>
}

export interface AlertLog extends AlertPages, Alerts {}

export interface AlertStore extends Alerts {
  readWith(readers: Readers): AlertPages
  /** Resolves when everything raised so far is committed, or was refused by the database and waits. */
  flush(): Promise<void>
  stop(): Promise<void>
}

export interface AlertStoreOptions {
  readonly database: Database
  readonly clock: Clock
  readonly log: Logger
}

const dayMs = 86_400_000
const soonMs = 200
const retryMs = 5000
// The alerts that wait while the database cannot be written: of all accounts, and of one.
const maxWaiting = 1000
const maxWaitingOfOne = 100
// The alerts of one type that an account may raise in a minute: enough to be noticed, too few to bury the others.
const perTrouble = { capacity: 20, refillMs: 60_000 }
const maxLength = { message: 500, detail: 1024 }

export function createAlertStore({ database, clock, log }: AlertStoreOptions): AlertStore {
  const db = database.builder
  const troubles = createTokenBuckets(clock)
  const outage = createOutageLog(log, clock)
  let waiting: Schema['alerts'][] = []
  let timer: Timer | undefined
  let running: Promise<void> = Promise.resolve()
  let isStopped = false

  async function writeWaiting(): Promise<void> {
    const rows = [...waiting]
    if (rows.length === 0) return
    try {
      await database.commitBeside(async (session) => {
        for (const row of rows) await insert(session, row)
      })
    } catch (error) {
      outage({ err: error, alerts: rows.length }, 'alerts could not be written')
      // A row that breaks a rule would hold up the others for ever.
      if (database.brokenRule(error) === undefined) {
        if (!isStopped) later(retryMs)
        return
      }
    }
    waiting = waiting.slice(rows.length)
  }

  function later(ms: number): void {
    timer ??= clock.after(ms, () => void flush())
  }

  function hasRoom(owner: string): boolean {
    const own = waiting.filter((row) => (row.account_sid ?? row.service_provider_sid) === owner)
    return waiting.length < maxWaiting && own.length < maxWaitingOfOne
  }

  async function insert(session: Session, row: Schema['alerts']): Promise<void> {
    const provider =
      row.account_sid === null || row.service_provider_sid !== ''
        ? row.service_provider_sid
        : sql<string>`coalesce((select service_provider_sid from accounts where account_sid = ${row.account_sid}), '')`
    const query = db.insertInto('alerts').values({ ...row, service_provider_sid: provider })
    // Another node may have raised the same alert first.
    const once = query.onConflict((conflict) => conflict.column('alert_sid').doNothing())
    await run(session, once)
  }

  function flush(): Promise<void> {
    timer?.cancel()
    timer = undefined
    running = running.then(writeWaiting)
    return running
  }

  return {
    raise(alert) {
      const owner = alert.account_sid ?? alert.service_provider_sid ?? ''
      const isFlood = troubles.take(`${owner} ${alert.alert_type}`, perTrouble) > 0
      // A call that ends while the platform stops may still raise an alert.
      if (isFlood || isStopped || !hasRoom(owner)) return
      waiting.push(toRow(alert, clock.now()))
      later(soonMs)
    },
    readWith: ({ slowReader }) => ({
      async page(tenancy, owner, query) {
        const matching = filtered(db.selectFrom('alerts'), query, clock.now())
          .where((eb) => eb.and(filterOf(owner)))
          // The second line of defence.
          .where((eb) => eb.and(tenancyFilter(tenancy)))
        const newestFirst = matching.selectAll().orderBy('time', 'desc').orderBy('alert_sid', 'desc')
        return readPage(slowReader, matching, newestFirst, query)
      },
    }),
    flush,
    stop() {
      isStopped = true
      return flush()
    },
  }
}

type Selecting = SelectQueryBuilder<Schema, 'alerts', object>

function toRow(alert: Alert, time: number): Schema['alerts'] {
  const { account_sid, service_provider_sid, alert_type, message, detail, vendor, call_sid, once } = alert
  const owner = account_sid ?? service_provider_sid ?? ''
  return {
    alert_sid: once === undefined ? createSid() : sidOf(`${owner} ${alert_type} ${once}`),
    account_sid: account_sid ?? null,
    service_provider_sid: service_provider_sid ?? '',
    alert_type,
    message: message.slice(0, maxLength.message),
    detail: detail?.slice(0, maxLength.detail) ?? null,
    vendor: vendor ?? null,
    call_sid: call_sid ?? null,
    time,
  }
}

function filtered(query: Selecting, wanted: AlertQuery, now: number): Selecting {
  const { days, alert_type } = wanted
  const start = days === undefined ? wanted.start : now - days * dayMs
  const end = days === undefined ? wanted.end : undefined
  let result = query
  if (start !== undefined) result = result.where('time', '>=', start)
  if (end !== undefined) result = result.where('time', '<=', end)
  if (alert_type !== undefined) result = result.where('alert_type', '=', alert_type)
  return result
}

function filterOf({ account_sid, service_provider_sid }: AlertOwner): OwnerFilter {
  return account_sid !== undefined ? { account_sid } : { service_provider_sid }
}
