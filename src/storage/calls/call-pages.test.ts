import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { systemTenancy, type Tenancy } from '../../contracts/caller.ts'
import { systemClock } from '../../lib/clock.ts'
import { createSid } from '../../lib/ids.ts'
import { silentLogger } from '../../lib/log.ts'
import type { RecentCallQuery } from './call-match.ts'
import { createCallRecords } from './call-records.ts'
import type { Parameter, Session } from '../database/database.ts'
import { migrate } from '../database/migrate.ts'
import { openSqlite } from '../sqlite/sqlite.ts'
import { endedCall } from '../../../test/support/ended-calls.ts'
import {
  makeAccount,
  onEachStore,
  type TestAccount,
  type TestStorage,
} from '../../../test/support/each-store.ts'

const dayMs = 86_400_000
const newest = Date.parse('2026-11-20T13:37:00.123Z')

interface Call {
  readonly call_sid: string
  readonly account: TestAccount
  readonly from: string
  readonly to: string
  readonly direction: 'inbound' | 'outbound'
  readonly answered: boolean
  readonly attempted_at: number
  readonly trunk: string
  /** The texts that a search covers. */
  readonly texts: readonly string[]
}

const lower = (text: string): string => text.replace(/[A-Z]/g, (letter) => letter.toLowerCase())

onEachStore(({ name, open }) => {
  let test: TestStorage
  let busy: TestAccount
  let quiet: TestAccount
  let foreign: TestAccount
  let calls: readonly Call[]

  /** Returns many calls, and a few with texts that have a meaning in search syntax or SQL. */
  function makeCalls(): Call[] {
    const odd = [
      'Alice',
      'ALICE',
      'say "hi"',
      '50%_off',
      'back\\slash',
      'a*b',
      'NEAR(x y)',
      'Ünal',
      '日本語電話',
    ]
    return Array.from({ length: 7000 }, (_, n) => {
      const account = n % 50 === 7 ? quiet : n % 50 === 9 ? foreign : busy
      const from = n % 1000 < odd.length ? (odd[n % 1000] ?? '') : `+49301${String(n).padStart(6, '0')}`
      const to = `+1666${n % 500}`
      return {
        call_sid: createSid(),
        account,
        from,
        to,
        texts: [lower(from), lower(to)],
        direction: n % 3 === 0 ? 'outbound' : 'inbound',
        answered: n % 2 === 0,
        attempted_at: newest - Math.floor(n / 3) * 300_000,
        trunk: n % 7 === 0 ? 'carrier' : 'user',
      }
    })
  }

  beforeAll(async () => {
    test = await open()
    busy = await makeAccount(test.storage)
    quiet = await makeAccount(test.storage, busy.service_provider_sid)
    foreign = await makeAccount(test.storage)
    calls = makeCalls()
    for (const { account, call_sid, ...facts } of calls) {
      const { texts: _texts, ...record } = facts
      test.storage.calls.write(
        { ...endedCall(account, { call_sid, ...record }), call_sid, events: [], notifications: [] },
        'soon',
      )
    }
    await test.storage.calls.flush()
    // The server does this by itself some time later.
    if (name === 'PostgreSQL') await test.query('analyze')
  })
  afterAll(() => test.close())

  /** Computes the result by reading all calls. */
  function expected(
    visible: (account: TestAccount) => boolean,
    { filter = '', direction, answered, trunk, start, end }: Partial<RecentCallQuery>,
  ): string[] {
    const wanted = lower(filter)
    return calls
      .filter((call) => visible(call.account))
      .filter(({ texts, call_sid }) => texts.some((text) => text.includes(wanted)) || call_sid === filter)
      .filter((call) => direction === undefined || call.direction === direction)
      .filter((call) => answered === undefined || call.answered === answered)
      .filter((call) => trunk === undefined || call.trunk === trunk)
      .filter((call) => start === undefined || call.attempted_at >= start)
      .filter((call) => end === undefined || call.attempted_at <= end)
      .sort((a, b) => b.attempted_at - a.attempted_at || (a.call_sid < b.call_sid ? 1 : -1))
      .map(({ call_sid }) => call_sid)
  }

  const filters: readonly (readonly [string, Partial<RecentCallQuery>])[] = [
    ['a whole number', { filter: '+49301000100' }],
    ['the end of a number', { filter: '0100' }],
    ['the middle of few numbers', { filter: '30100012' }],
    ['the middle of many numbers', { filter: '9301' }],
    ['what all numbers have', { filter: '+' }],
    ['two characters', { filter: '77' }],
    ['a name, in any letter case', { filter: 'aLiCe' }],
    ['a quoted word', { filter: 'say "hi"' }],
    ['a lone quote', { filter: '"' }],
    ['three quotes', { filter: '"""' }],
    ['wildcards', { filter: '50%_off' }],
    ['a backslash', { filter: 'ck\\sl' }],
    ['an asterisk', { filter: 'a*b' }],
    ['words of the index', { filter: 'NEAR(x y)' }],
    ['a letter that ASCII does not have', { filter: 'Ünal' }],
    ['characters of more than one byte', { filter: '本語電' }],
    ['nothing that is there', { filter: '+49301999999' }],
    ['few numbers, one trunk', { filter: '+166612', trunk: 'carrier' }],
    ['many numbers, one trunk, answered', { filter: '+1666', trunk: 'carrier', answered: true }],
    ['few numbers, outbound', { filter: '+1666321', direction: 'outbound' }],
    [
      'few numbers, between two moments',
      { filter: '+16663', start: newest - 5 * dayMs, end: newest - dayMs },
    ],
  ]

  it.each(filters)(
    'a page of calls with %s has the total and the calls of reading them all',
    async (_name, query) => {
      const { recentCalls } = test.storage
      const asked: readonly (readonly [Tenancy, TestAccount, boolean, (account: TestAccount) => boolean])[] =
        [
          [systemTenancy, busy, false, (account) => account === busy],
          [busy.asAccount, busy, false, (account) => account === busy],
          [busy.asProvider, quiet, false, (account) => account === quiet],
          [busy.asProvider, busy, true, (account) => account !== foreign],
          [quiet.asAccount, busy, true, (account) => account === quiet],
          [foreign.asProvider, busy, false, () => false],
          [foreign.asAccount, foreign, false, (account) => account === foreign],
        ]
      for (const [tenancy, account, isOfProvider, visible] of asked) {
        const all = expected(visible, query)
        const count = 20
        for (const page of [1, 2, Math.ceil(all.length / count) || 1, Math.ceil(all.length / count) + 1]) {
          const wanted = { page, count, ...query }
          const { total, rows } = isOfProvider
            ? await recentCalls.pageOfProvider(tenancy, account.service_provider_sid, wanted)
            : await recentCalls.page(tenancy, account.account_sid, wanted)
          expect(total).toBe(all.length)
          expect(rows.map(({ call_sid }) => call_sid)).toEqual(all.slice((page - 1) * count, page * count))
        }
      }
    },
  )

  it('finds a call by its whole call_sid, once', async () => {
    const call = calls.find(({ account }) => account === busy)
    const filter = call?.call_sid ?? ''
    const page = (tenancy: Tenancy, account_sid: string) =>
      test.storage.recentCalls.page(tenancy, account_sid, { page: 1, count: 5, filter })
    expect(await page(busy.asAccount, busy.account_sid)).toMatchObject({
      total: 1,
      rows: [{ call_sid: filter }],
    })
    expect(await page(foreign.asAccount, foreign.account_sid)).toEqual({ total: 0, rows: [] })
    const strange = endedCall(quiet, { attempted_at: newest })
    const { call_sid } = strange
    test.storage.calls.write({ ...strange, record: { ...strange.record, from: call_sid } }, 'soon')
    await test.storage.calls.flush()
    const { total } = await test.storage.recentCalls.pageOfProvider(
      busy.asProvider,
      busy.service_provider_sid,
      {
        page: 1,
        count: 1,
        filter: call_sid,
      },
    )
    expect(total).toBe(1)
  })

  it('finds no call that was removed', async () => {
    const filter = '+4930100010'
    const before = expected((account) => account === busy, { filter })
    expect(before.length).toBeGreaterThan(3)
    await test.query(`delete from recent_calls where call_sid = '${before[0] ?? ''}'`)
    const { total, rows } = await test.storage.recentCalls.page(busy.asAccount, busy.account_sid, {
      page: 1,
      count: 50,
      filter,
    })
    expect(total).toBe(before.length - 1)
    expect(rows.map(({ call_sid }) => call_sid)).toEqual(before.slice(1))
  })
})

describe('the plan of a page, on SQLite', () => {
  let dataDir: string
  let path: string
  let plans: string[]
  let pageOf: (
    tenancy: Tenancy,
    query: Partial<RecentCallQuery>,
    isOfProvider?: boolean,
  ) => Promise<{ readonly total: number }>
  let close: () => Promise<void>

  beforeAll(async () => {
    dataDir = await mkdtemp(join(tmpdir(), 'switchhook-search-'))
    path = join(dataDir, 'test.db')
    const database = await openSqlite({ path, clock: systemClock, log: silentLogger, migrate })
    const file = new DatabaseSync(path, { readOnly: true })
    const explaining: Session = {
      async all(sql: string, parameters: readonly Parameter[]) {
        const steps = file.prepare(`explain query plan ${sql}`).all(...parameters)
        plans.push(steps.map(({ detail }) => String(detail)).join('; '))
        // Pretends that the owner has a million calls.
        return [{ calls: 1_000_000 }]
      },
    }
    const records = createCallRecords(database, systemClock)
    const recentCalls = records.recentCalls({ reader: explaining, slowReader: explaining })
    pageOf = async (tenancy, query, isOfProvider = false) => {
      plans = []
      const wanted = { page: 1, count: 1, ...query }
      return isOfProvider
        ? recentCalls.pageOfProvider(tenancy, 'p', wanted)
        : recentCalls.page(tenancy, 'a', wanted)
    }
    close = async () => {
      file.close()
      await database.close()
      await rm(dataDir, { recursive: true })
    }
  })
  afterAll(() => close())

  const provider: Tenancy = { level: 'service_provider', service_provider_sid: 'p' }
  const account: Tenancy = { level: 'account', account_sid: 'a', service_provider_sid: 'p' }

  it.each([
    ['an account', account],
    ['a provider that asks for an account', provider],
    ['an administrator', systemTenancy],
  ] as const)('goes by the index of the account, for %s', async (_name, tenancy) => {
    await pageOf(tenancy, {})
    expect(plans.join()).toContain('INDEX recent_calls_newest (account_sid=?')
    await pageOf(tenancy, { filter: '12' })
    expect(plans.at(-1)).toContain('COVERING INDEX recent_calls_newest (account_sid=?')
    for (const query of [{}, { answered: true }, { filter: '12' }]) {
      await pageOf(tenancy, { trunk: 't', count: 1, ...query })
      expect(plans.at(-1)).toContain('COVERING INDEX recent_calls_newest_by_trunk (account_sid=? AND trunk=?')
    }
  })

  it('goes by the index of the provider where all its accounts are asked for', async () => {
    await pageOf(provider, { filter: '12' }, true)
    expect(plans.at(-1)).toContain('COVERING INDEX recent_calls_newest_of_provider (service_provider_sid=?')
    await pageOf(provider, { filter: '12', trunk: 't' }, true)
    expect(plans.at(-1)).toContain(
      'COVERING INDEX recent_calls_newest_of_provider_by_trunk (service_provider_sid=? AND trunk=?',
    )
  })

  it('is not contradicted by a total of another moment', async () => {
    expect(await pageOf(account, { count: 1 })).toMatchObject({ total: 1_000_000 })
    // When the total was counted, the single row did not exist yet, or the others no longer did.
    expect(await pageOf(account, { count: 2 })).toMatchObject({ total: 1 })
  })
})
