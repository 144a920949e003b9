import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createTestAsker } from '../../../test/support/asker.ts'
import { systemTenancy } from '../../contracts/caller.ts'
import { createSid } from '../../lib/ids.ts'
import type { CallBatch } from '../../contracts/call-record.ts'
import type { RecentCallQuery } from './call-match.ts'
import { endedCall } from '../../../test/support/ended-calls.ts'
import {
  makeAccount,
  onEachStore,
  type TestAccount,
  type TestStorage,
} from '../../../test/support/each-store.ts'

const dayMs = 86_400_000
onEachStore(({ open: openTestStorage }) => {
  let test: TestStorage
  let owner: TestAccount
  let sibling: TestAccount
  let foreign: TestAccount
  const sids: string[] = []

  /** Call n was attempted n hours ago. Calls with an even n were answered; every third was outbound. */
  const call = (n: number, account: TestAccount): CallBatch =>
    endedCall(account, {
      from: `Caller${n}_x`,
      to: n === 7 ? '100%' : `+4930${n}`,
      direction: n % 3 === 0 ? 'outbound' : 'inbound',
      answered: n % 2 === 0,
      attempted_at: Date.now() - n * 3_600_000,
      trunk: n < 10 ? 'user' : 'carrier',
    })

  beforeAll(async () => {
    test = await openTestStorage()
    owner = await makeAccount(test.storage)
    sibling = await makeAccount(test.storage, owner.service_provider_sid)
    foreign = await makeAccount(test.storage)
    for (let n = 0; n < 60; n++) {
      const batch = call(n, owner)
      sids.push(batch.call_sid)
      test.storage.calls.write(batch, 'soon')
    }
    test.storage.calls.write(call(1, sibling), 'soon')
    test.storage.calls.write(call(1, foreign), 'soon')
    await test.storage.calls.flush()
  })
  afterAll(() => test.close())

  const page = (query: Partial<RecentCallQuery>) =>
    test.storage.recentCalls.page(owner.asAccount, owner.account_sid, { page: 1, count: 25, ...query })

  describe('a page of recent calls', () => {
    it('is newest first, and pages neither repeat nor miss one', async () => {
      const pages = await Promise.all([1, 2, 3, 4].map((number) => page({ page: number })))
      expect(pages.map(({ rows }) => rows.length)).toEqual([25, 25, 10, 0])
      expect(pages.map(({ total }) => total)).toEqual([60, 60, 60, 60])
      expect(pages.flatMap(({ rows }) => rows.map(({ call_sid }) => call_sid))).toEqual(sids)
    })

    const now = (): number => Date.now()
    it.each<[string, () => Partial<RecentCallQuery>, number]>([
      ['days', () => ({ days: 1 }), 24],
      ['days, which override start and end', () => ({ days: 1, start: 0, end: 1 }), 24],
      ['start', () => ({ start: now() - 10.5 * 3_600_000 }), 11],
      ['end', () => ({ end: now() - 10.5 * 3_600_000 }), 49],
      ['start and end', () => ({ start: now() - 2 * dayMs, end: now() - dayMs + 60_000 }), 24],
      ['answered', () => ({ answered: true }), 30],
      ['not answered', () => ({ answered: false }), 30],
      ['direction', () => ({ direction: 'outbound' }), 20],
      ['trunk', () => ({ trunk: 'user' }), 10],
      ['all of them', () => ({ answered: true, direction: 'outbound', trunk: 'carrier' }), 8],
      ['a caller, in any letter case', () => ({ filter: 'CALLER12_' }), 1],
      ['a callee', () => ({ filter: '+49305' }), 11],
      ['a whole call_sid', () => ({ filter: sids[5] ?? '' }), 1],
      ['a part of a call_sid, which is no match', () => ({ filter: (sids[5] ?? '').slice(0, 20) }), 0],
      ['a wildcard, taken literally', () => ({ filter: '%' }), 1],
      ['a quote', () => ({ filter: "' or 1=1 --" }), 0],
    ])('can be narrowed by %s', async (_name, query, expected) => {
      const { total, rows } = await page(query())
      expect(total).toBe(expected)
      expect(rows).toHaveLength(Math.min(expected, 25))
    })
  })

  describe('a client that has gone', () => {
    it('has nothing more read for it', async () => {
      const { asAccount, account_sid } = owner
      const client = createTestAsker()
      const { recentCalls, journal } = test.storage.boundTo({ asker: client })
      const query = { page: 1, count: 1, filter: '+49305' }
      const read = () => recentCalls.page(asAccount, account_sid, query)
      expect((await read()).total).toBe(11)
      client.leave()
      await expect(read()).rejects.toThrow('the client went away')
      const others = [
        recentCalls.pageOfProvider(owner.asProvider, owner.service_provider_sid, query),
        recentCalls.find(asAccount, account_sid, sids[0]!),
        recentCalls.bySipCallId(asAccount, { account_sid }, 'any'),
        journal.read(asAccount, account_sid, sids[0]!),
      ]
      for (const outcome of await Promise.allSettled(others))
        expect(outcome).toMatchObject({ reason: { message: 'the client went away' } })
    })
  })

  describe('tenancy', () => {
    const asked = () => [
      { tenancy: owner.asAccount, account: owner, total: 60 },
      { tenancy: owner.asProvider, account: owner, total: 60 },
      { tenancy: { level: 'admin' as const }, account: owner, total: 60 },
      { tenancy: systemTenancy, account: foreign, total: 1 },
      { tenancy: owner.asProvider, account: sibling, total: 1 },
      { tenancy: owner.asAccount, account: sibling, total: 0 },
      { tenancy: owner.asAccount, account: foreign, total: 0 },
      { tenancy: owner.asProvider, account: foreign, total: 0 },
    ]

    it('bounds pages, single records and journals alike', async () => {
      const { recentCalls, journal } = test.storage
      for (const { tenancy, account, total } of asked()) {
        const { account_sid } = account
        const all = await recentCalls.page(systemTenancy, account_sid, { page: 1, count: 1 })
        const call_sid = all.rows[0]?.call_sid ?? ''
        expect((await recentCalls.page(tenancy, account_sid, { page: 1, count: 1 })).total).toBe(total)
        const found = await recentCalls.find(tenancy, account_sid, call_sid)
        const events = await journal.read(tenancy, account_sid, call_sid)
        expect([found !== undefined, events !== undefined]).toEqual([total > 0, total > 0])
      }
    })

    it('gives no journal of a call under another account', async () => {
      const { journal } = test.storage
      expect(await journal.read(systemTenancy, sibling.account_sid, sids[0] ?? '')).toBeUndefined()
      expect(await journal.read(systemTenancy, owner.account_sid, createSid())).toBeUndefined()
    })
  })

  describe('pruning', () => {
    it('removes the oldest with their journals, no more at once than asked', async () => {
      const before = Date.now() - 49.5 * 3_600_000
      expect(await test.storage.expired.remove('recent_calls', before, 4)).toBe(4)
      expect((await page({})).total).toBe(56)
      expect(
        await test.storage.journal.read(systemTenancy, owner.account_sid, sids[59] ?? ''),
      ).toBeUndefined()
      expect(await test.storage.journal.read(systemTenancy, owner.account_sid, sids[55] ?? '')).toBeDefined()
      expect(await test.storage.expired.remove('recent_calls', before, 100)).toBe(6)
      expect(await test.storage.expired.remove('recent_calls', before, 100)).toBe(0)
      expect((await page({})).total).toBe(50)
    })

    it('removes inbound calls that were refused, and no others of their age', async () => {
      const { account_sid } = owner
      const failure = { code: 'no_application', sentence: 'Nothing takes it.', cure: 'Set one.' }
      const at = Date.now() - 8 * dayMs
      const made = [
        endedCall(owner, { direction: 'inbound', answered: false, failure, attempted_at: at }),
        endedCall(owner, { direction: 'inbound', answered: true, failure, attempted_at: at }),
        endedCall(owner, { direction: 'outbound', answered: false, failure, attempted_at: at }),
        endedCall(owner, { direction: 'inbound', answered: false, attempted_at: at }),
        endedCall(owner, { direction: 'inbound', answered: false, failure, attempted_at: at + 2 * dayMs }),
      ]
      for (const batch of made) test.storage.calls.write(batch, 'soon')
      await test.storage.calls.flush()
      expect(await test.storage.expired.remove('refused_calls', Date.now() - 7 * dayMs, 10)).toBe(1)
      const left = await Promise.all(
        made.map(({ call_sid }) => test.storage.recentCalls.find(systemTenancy, account_sid, call_sid)),
      )
      expect(left.map((record) => record !== undefined)).toEqual([false, true, true, true, true])
      expect(await test.storage.journal.read(systemTenancy, account_sid, made[0]!.call_sid)).toBeUndefined()
    })
  })
})
