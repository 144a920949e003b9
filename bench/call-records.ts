// Pages over many call records, and their removal while another client writes, on both stores. It takes some minutes.
//   node bench/call-records.ts [--records 5000000] [--store SQLite]
import { mkdtemp, rm } from 'node:fs/promises'
import { DatabaseSync } from 'node:sqlite'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { runOn, startPostgres } from '../test/support/postgres-server.ts'
import { isMissing } from '../test/support/tools.ts'
import { systemTenancy, type Tenancy } from '../src/contracts/caller.ts'
import { systemClock } from '../src/lib/clock.ts'
import { silentLogger } from '../src/lib/log.ts'
import type { RecentCallQuery } from '../src/storage/calls/call-match.ts'
import { createStorage } from '../src/storage/create-storage.ts'
import type { Storage } from '../src/storage/storage.ts'
import { createRetention } from '../src/storage/retention.ts'
import { median, toTable, type Figure } from './figure.ts'

const { values: options } = parseArgs({
  options: { records: { type: 'string', default: '5000000' }, store: { type: 'string' } },
})
const records = Number(options.records)
const dayMs = 86_400_000
const days = 90
const rounds = 40

interface Place {
  readonly databaseUrl?: string
  /** Runs SQL directly on the database of the storage. */
  run(sql: string): Promise<void>
  /** Returns a table of the numbers from `first` to `last`, in a column named i. */
  series(first: number, last: number): string
  close(): Promise<void>
}

async function sqlitePlace(dataDir: string): Promise<Place> {
  return {
    async run(sql) {
      const file = new DatabaseSync(join(dataDir, 'switchhook.db'))
      file.exec(`PRAGMA synchronous = OFF; ${sql}; PRAGMA wal_checkpoint(TRUNCATE)`)
      file.close()
    },
    series: (first, last) =>
      `(with recursive n(i) as (select ${first} union all select i + 1 from n where i < ${last}) select i from n) as n`,
    close: () => Promise.resolve(),
  }
}

async function postgresPlace(): Promise<Place> {
  const server = await startPostgres()
  const url = server.url('postgres')
  return {
    databaseUrl: url,
    run: async (sql) => void (await runOn(url, sql)),
    series: (first, last) => `generate_series(${first}, ${last}) as n(i)`,
    close: () => server.stop(),
  }
}

/** Adds records over ninety days: half of them for one account, the others for nine more accounts of its provider. */
async function addRecords(place: Place, account: string, provider: string): Promise<void> {
  const perStatement = 250_000
  const newest = Date.now()
  const everyMs = Math.floor((days * dayMs) / records)
  for (let first = 0; first < records; first += perStatement) {
    const last = Math.min(first + perStatement, records) - 1
    const at = `${newest} - cast(i as bigint) * ${everyMs}`
    await place.run(`
      insert into recent_calls (call_sid, account_sid, service_provider_sid, sip_call_id, "from", "to", direction,
        answered, sip_status, duration, attempted_at, terminated_at, termination_reason, host, remote_host, trunk, trace_id)
      select 'c0de0000-0000-4000-8000-' || (100000000000 + i), case when i % 2 = 0 then '${account}' else 'other ' || (i % 9) end,
        '${provider}', i || '@bench', '+1555' || i, '+1666' || (i % 5000),
        case when i % 6 < 3 then 'inbound' else 'outbound' end, case when i % 5 > 1 then 1 else 0 end, 200, i % 300,
        ${at}, ${at} + 1000, 'caller hungup', '127.0.0.1', '127.0.0.1', case when i % 7 = 0 then 'carrier' else 'user' end, '0123456789abcdef0123456789abcdef'
      from ${place.series(first, last)}`)
  }
}

async function measurePages({ recentCalls }: Storage, tenancy: Tenancy, account: string): Promise<Figure[]> {
  const figures: Figure[] = []
  const asked: readonly (readonly [
    string,
    Partial<RecentCallQuery> & { page: number },
    number | undefined,
  ])[] = [
    ['first page', { page: 1 }, 50],
    ['page 100', { page: 100 }, 200],
    ['page 50,000', { page: 50_000 }, undefined],
    ['page 100, answered and outbound', { page: 100, answered: true, direction: 'outbound' }, 200],
    ['page 100 of 7 days', { page: 100, days: 7 }, 200],
    ['first page of a trunk', { page: 1, trunk: 'user' }, 50],
    ['page 100 of a trunk', { page: 100, trunk: 'carrier' }, 200],
    ['first page of a number that two calls have', { page: 1, filter: '+15551234567' }, 50],
    ['first page of a part that 50 calls have', { page: 1, filter: '55512345' }, 50],
    ['page 100 of a part that 5,000 calls have', { page: 100, filter: '+1666123' }, 200],
    ['first page of a part that all calls have', { page: 1, filter: '+1555' }, undefined],
    ['first page of two characters, of 7 days', { page: 1, filter: '77', days: 7 }, undefined],
  ]
  for (const [name, query, maxMs] of asked) {
    const times: number[] = []
    const { user, system } = process.threadCpuUsage()
    for (let round = 0; round < rounds; round++) {
      const startedAt = performance.now()
      await recentCalls.page(tenancy, account, { count: 25, ...query })
      times.push(performance.now() - startedAt)
    }
    const cpu = process.threadCpuUsage()
    const cpuMs = (cpu.user + cpu.system - user - system) / 1000 / times.length
    const [first = NaN, worst] = [times[0], Math.max(...times)]
    figures.push({
      what: name,
      target: maxMs === undefined ? '-' : `under ${maxMs} ms`,
      figure: `p50 ${median(times).toFixed(1)} ms, max ${worst.toFixed(1)} ms (the first ${first.toFixed(1)} ms); main thread ${cpuMs.toFixed(2)} ms`,
      isMet: maxMs === undefined ? undefined : worst < maxMs,
    })
  }
  return figures
}

/** Measures durable writes, one after another, alone or while `work` runs. */
async function writesBeside(storage: Storage, work: () => Promise<unknown>): Promise<string> {
  const { service_providers } = storage.for(systemTenancy)
  const times: number[] = []
  let isOver = false
  const writing = (async () => {
    while (!isOver) {
      const startedAt = performance.now()
      await service_providers.insert({ name: `beside ${Math.random()}` })
      times.push(performance.now() - startedAt)
    }
  })()
  await work()
  isOver = true
  await writing
  times.sort((a, b) => a - b)
  const p99 = times[Math.floor(times.length * 0.99)] ?? NaN
  return `p50 ${median(times).toFixed(1)} ms, p99 ${p99.toFixed(1)} ms, max ${(times.at(-1) ?? NaN).toFixed(1)} ms`
}

const sweepMs = 20_000
const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms))

/** Runs the platform's own sweep for twenty seconds, without its initial wait of a minute. */
async function measureRetention(storage: Storage): Promise<Figure[]> {
  const quiet = await writesBeside(storage, () => pause(sweepMs))
  let removed = 0
  const retention = createRetention({
    expired: {
      async remove(table, before, limit) {
        const count = await storage.expired.remove(table, before, limit)
        if (table === 'recent_calls') removed += count
        return count
      },
    },
    deliveryLogDays: 30,
    callRecordDays: days / 2,
    refusedCallDays: 0,
    clock: { ...systemClock, after: (ms, action) => systemClock.after(ms === 60_000 ? 0 : ms, action) },
    log: silentLogger,
  })
  const swept = await writesBeside(storage, async () => {
    await retention.start()
    await pause(sweepMs)
    await retention.stop()
  })
  return [
    { what: 'durable writes of a lone client', target: '-', figure: quiet },
    {
      what: 'the same while old records are removed',
      target: 'not stalled',
      figure: `${swept}; ${Math.round(removed / (sweepMs / 1000))} records removed a second`,
    },
  ]
}

async function measureStore(name: string, makePlace: (dataDir: string) => Promise<Place>): Promise<string> {
  const dataDir = await mkdtemp(join(tmpdir(), 'switchhook-bench-'))
  const place = await makePlace(dataDir)
  const open = async (): Promise<Storage> => {
    const { databaseUrl } = place
    const storage = createStorage({ dataDir, databaseUrl, clock: systemClock, log: silentLogger })
    await storage.start()
    return storage
  }
  try {
    let storage = await open()
    const system = storage.for(systemTenancy)
    const { service_provider_sid } = await system.service_providers.insert({ name: 'bench' })
    const { account_sid } = await system.accounts.insert({
      name: 'bench',
      service_provider_sid,
      webhook_secret: 'secret',
    })
    await storage.stop()
    await addRecords(place, account_sid, service_provider_sid)
    if (place.databaseUrl !== undefined) await place.run('vacuum analyze')
    storage = await open()
    const tenancy: Tenancy = { level: 'account', account_sid, service_provider_sid }
    const figures = [
      ...(await measurePages(storage, tenancy, account_sid)),
      ...(await measureRetention(storage)),
    ]
    await storage.stop()
    return [`${records} records on ${name}, half of them of the account`, '', toTable(figures)].join('\n')
  } finally {
    await place.close()
    await rm(dataDir, { recursive: true, force: true })
  }
}

const stores = [
  { name: 'SQLite', makePlace: sqlitePlace, isThere: true },
  { name: 'PostgreSQL', makePlace: postgresPlace, isThere: !isMissing('postgres') },
]
const reports: string[] = []
for (const { name, makePlace, isThere } of stores) {
  if (options.store !== undefined && options.store !== name) continue
  reports.push(isThere ? await measureStore(name, makePlace) : `${name}: not measured, it is missing.`)
}
console.log(reports.join('\n\n'))
