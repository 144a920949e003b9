import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createRandom } from '../../../test/support/random.ts'
import { systemTenancy, type Tenancy } from '../../contracts/caller.ts'
import type { RecentCallQuery } from './call-match.ts'
import { callCounts, endedCall } from '../../../test/support/ended-calls.ts'
import {
  makeAccount,
  onEachStore,
  type TestAccount,
  type TestStorage,
} from '../../../test/support/each-store.ts'

const hourMs = 3_600_000
const dayMs = 86_400_000
// A moment in the middle of a day and of an hour.
const newest = Date.parse('2026-11-20T13:37:00.123Z')
const seed = 20_261_120

onEachStore(({ open }) => {
  let test: TestStorage
  let busy: TestAccount
  let sibling: TestAccount
  let foreign: TestAccount
  const random = createRandom(seed)

  /** Returns calls of six days, half of them in one hour and many at one moment; a third are of other accounts. */
  function randomCall() {
    const ago = random() < 0.5 ? 30 * hourMs + random() * hourMs : random() * 6 * dayMs
    const account = random() < 0.7 ? busy : random() < 0.5 ? sibling : foreign
    return endedCall(account, {
      attempted_at: Math.floor((newest - ago) / 5000) * 5000 + (random() < 0.1 ? 1 : 0),
      direction: random() < 0.3 ? 'outbound' : 'inbound',
      answered: random() < 0.6,
      trunk: random() < 0.5 ? 'user' : 'carrier',
    })
  }

  beforeAll(async () => {
    test = await open()
    busy = await makeAccount(test.storage)
    sibling = await makeAccount(test.storage, busy.service_provider_sid)
    foreign = await makeAccount(test.storage)
    for (let n = 0; n < 6000; n++) test.storage.calls.write(randomCall(), 'soon')
    await test.storage.calls.flush()
  })
  afterAll(() => test.close())

  describe('the counts of calls', () => {
    it('are those of the records', async () => {
      const { kept, counted } = await callCounts(test)
      expect(counted.length).toBeGreaterThan(300)
      expect(kept).toEqual(counted)
    })

    it('count a call once, however often its record is written', async () => {
      const call = endedCall(foreign, { attempted_at: newest })
      for (let n = 0; n < 3; n++) {
        test.storage.calls.write(call, 'now')
        await test.storage.calls.flush()
      }
      const { kept, counted } = await callCounts(test)
      expect(kept).toEqual(counted)
    })
  })

  describe('a page', () => {
    const last = newest - 6 * dayMs
    const narrowed: readonly (readonly [string, Partial<RecentCallQuery>])[] = [
      ['of everything', {}],
      ['of answered calls', { answered: true }],
      ['of outbound calls that were not answered', { answered: false, direction: 'outbound' }],
      ['from a moment on', { start: last + 2.3 * dayMs }],
      ['from the first moment of an hour on', { start: Math.floor(newest / hourMs) * hourMs - 40 * hourMs }],
      ['up to a moment', { end: newest - 1.3 * dayMs }],
      ['up to the first moment of a day', { end: Math.floor(newest / dayMs) * dayMs }],
      ['between two moments of one hour', { start: newest - 30.7 * hourMs, end: newest - 30.4 * hourMs }],
      ['between two moments, of one direction', { start: last, end: newest - dayMs, direction: 'inbound' }],
      ['between moments in the wrong order', { start: newest, end: last }],
      ['of the last days', { days: 36_500 }],
      ['of one trunk', { trunk: 'carrier' }],
      ['of one trunk and answered', { trunk: 'carrier', answered: true }],
      ['of one trunk between two moments', { trunk: 'user', start: last, end: newest - dayMs }],
      ['of a trunk that nothing came by', { trunk: 'other' }],
    ]
    const asked = (): readonly (readonly [Tenancy, TestAccount, 'account' | 'provider'])[] => [
      [systemTenancy, busy, 'account'],
      [busy.asAccount, busy, 'account'],
      [busy.asProvider, busy, 'account'],
      [busy.asProvider, busy, 'provider'],
      [busy.asAccount, busy, 'provider'],
      [foreign.asProvider, busy, 'account'],
    ]

    /** Returns all calls, newest first, with the conditions of the tenancy written out. */
    async function everyCall(
      tenancy: Tenancy,
      account: TestAccount,
      level: 'account' | 'provider',
      query: Partial<RecentCallQuery>,
    ): Promise<readonly unknown[]> {
      const seen = 'service_provider_sid' in tenancy ? tenancy.service_provider_sid : undefined
      const conditions = [
        level === 'account'
          ? `account_sid = '${account.account_sid}'`
          : `service_provider_sid = '${account.service_provider_sid}'`,
        ...(tenancy.level === 'account' ? [`account_sid = '${tenancy.account_sid}'`] : []),
        ...(seen === undefined ? [] : [`service_provider_sid = '${seen}'`]),
        ...(query.start === undefined ? [] : [`attempted_at >= ${query.start}`]),
        ...(query.end === undefined ? [] : [`attempted_at <= ${query.end}`]),
        ...(query.answered === undefined ? [] : [`answered = ${query.answered ? 1 : 0}`]),
        ...(query.direction === undefined ? [] : [`direction = '${query.direction}'`]),
        ...(query.trunk === undefined ? [] : [`trunk = '${query.trunk}'`]),
      ].join(' and ')
      const rows = await test.query(
        `select call_sid from recent_calls where ${conditions} order by attempted_at desc, call_sid desc`,
      )
      return rows.map(({ call_sid }) => call_sid)
    }

    it.each(narrowed)(
      '%s has the total and the calls that reading all of them gives',
      async (_name, only) => {
        for (const [tenancy, account, level] of asked()) {
          const { recentCalls } = test.storage
          const { account_sid, service_provider_sid } = account
          const read = (query: RecentCallQuery) =>
            level === 'account'
              ? recentCalls.page(tenancy, account_sid, query)
              : recentCalls.pageOfProvider(tenancy, service_provider_sid, query)
          const all = await everyCall(tenancy, account, level, only)
          const count = 7
          const end = Math.ceil(all.length / count)
          const pages = [1, 2, 142, 143, 144, 150, 300, 301, end - 1, end, end + 1, 1_000_000]
          const drawn = Array.from({ length: 12 }, () => 1 + Math.floor(random() * end))
          for (const page of [...pages, ...drawn].filter((number) => number > 0)) {
            const { total, rows } = await read({ page, count, ...only })
            expect(total).toBe(all.length)
            expect(
              rows.map(({ call_sid }) => call_sid),
              `page ${page}`,
            ).toEqual(all.slice((page - 1) * count, page * count))
          }
        }
      },
    )
  })

  describe('the counts of calls that go', () => {
    it('are right at each step, while new calls come, until none is left', async () => {
      for (let round = 0; round < 8; round++) {
        const before = newest - (6 - round) * dayMs
        for (let n = 0; n < 20; n++) test.storage.calls.write(randomCall(), 'now')
        await Promise.all([
          test.storage.expired.remove('recent_calls', before, 150),
          test.storage.calls.flush(),
        ])
        const { kept, counted } = await callCounts(test)
        expect(kept).toEqual(counted)
      }
      while ((await test.storage.expired.remove('recent_calls', newest + 1, 500)) > 0);
      expect(await callCounts(test)).toEqual({ kept: [], counted: [] })
    })

    it('are right when records are removed behind the back of the platform', async () => {
      for (let n = 0; n < 100; n++) test.storage.calls.write(randomCall(), 'now')
      await test.storage.calls.flush()
      await test.query(`delete from recent_calls where account_sid = '${busy.account_sid}' and answered = 1`)
      const { kept, counted } = await callCounts(test)
      expect(kept.length).toBeGreaterThan(0)
      expect(kept).toEqual(counted)
    })
  })
})
