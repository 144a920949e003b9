import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { systemTenancy } from '../contracts/caller.ts'
import { createFakeClock, type FakeClock } from '../../test/support/fake-clock.ts'
import { silentLogger } from '../lib/log.ts'
import type { ExpiredRows } from './expired-rows.ts'
import { createRetention } from './retention.ts'
import { onEachStore, openTestStorage, type TestStorage } from '../../test/support/each-store.ts'

const dayMs = 86_400_000
let test: TestStorage
let clock: FakeClock
afterEach(() => test.close())

/** Lets everything run that does not wait for the clock. */
const settled = async (): Promise<void> => {
  for (let turn = 0; turn < 20; turn++) await new Promise((resolve) => setImmediate(resolve))
}

onEachStore(({ open }) => {
  beforeEach(async () => {
    clock = createFakeClock()
    test = await open({ clock })
  })

  const count = async (table: string): Promise<number> =>
    Number((await test.query(`select count(*) as n from ${table}`))[0]?.['n'])

  const deliver = async (call_sid: string): Promise<void> => {
    const hook = { url: 'http://app/', method: 'POST' as const, username: null, password: null }
    const notifications = [{ account_sid: 'a', call_sid, hook, payload: {} }]
    test.storage.calls.write({ call_sid, account_sid: 'a', events: [], notifications }, 'now')
    await test.storage.calls.flush()
    const [item] = await test.storage.outbox.claim(1, 1000)
    await test.storage.outbox.settle([{ id: item!.id, outcome: 'delivered', status: 200, durationMs: 1 }])
  }

  describe('what has expired', () => {
    it('is removed from the alerts, the oldest first', async () => {
      for (const alert_type of ['a', 'b', 'c']) {
        test.storage.alerts.raise({ account_sid: 'x', alert_type, message: 'm' })
        await test.storage.alerts.flush()
        clock.advance(dayMs)
      }
      expect(await test.storage.expired.remove('alerts', clock.now() - dayMs, 1)).toBe(1)
      expect(await test.storage.expired.remove('alerts', clock.now() - dayMs, 10)).toBe(1)
      expect(await test.query('select alert_type from alerts')).toEqual([{ alert_type: 'c' }])
    })

    it('is removed from the host names that carriers call', async () => {
      const rows = test.storage.for(systemTenancy)
      const { service_provider_sid } = await rows.service_providers.insert({ name: 'p' })
      const account = { service_provider_sid, name: 'a', webhook_secret: 's' }
      const { account_sid } = await rows.accounts.insert(account)
      for (let at = 1; at <= 4; at++)
        await rows.carrier_hosts.insert({ account_sid, host: `h${at}.example.com`, called_at: at })
      expect(await test.storage.expired.remove('carrier_hosts', 4, 2)).toBe(2)
      expect(await test.storage.expired.remove('carrier_hosts', 4, 2)).toBe(1)
      expect(await test.query('select host from carrier_hosts')).toEqual([{ host: 'h4.example.com' }])
    })

    it('is removed from the delivery log, oldest first, as many as asked, and nothing younger', async () => {
      for (let n = 0; n < 5; n++) {
        await deliver(`call ${n}`)
        clock.advance(dayMs)
      }
      const before = clock.now() - 2 * dayMs
      expect(await test.storage.expired.remove('delivery_log', before, 2)).toBe(2)
      expect(await test.query('select call_sid from delivery_log order by settled_at')).toEqual([
        { call_sid: 'call 2' },
        { call_sid: 'call 3' },
        { call_sid: 'call 4' },
      ])
      expect(await test.storage.expired.remove('delivery_log', before, 2)).toBe(1)
      expect(await test.storage.expired.remove('delivery_log', before, 2)).toBe(0)
    })

    it('is removed from sessions and idempotency keys, without an entry in the audit log', async () => {
      const rows = test.storage.for(systemTenancy)
      const { user_sid } = await rows.users.insert({ name: 'n', email: 'e' })
      const actor = { principal: undefined, request_id: 'r', address: 'a' }
      for (let n = 0; n < 3; n++) {
        await rows.user_sessions.insert({ user_sid, expires_at: clock.now() + dayMs })
        const request = { principal: 'p', key: `k${n}`, route: 'r', fingerprint: 'f' }
        await test.storage.idempotency.once(request, actor, async () => ({ status: 204, body: undefined }))
        clock.advance(dayMs / 2)
      }
      const entries = await count('audit_log')
      expect(await test.storage.expired.remove('user_sessions', clock.now() + 1, 10)).toBe(2)
      expect(await test.storage.expired.remove('idempotency_keys', clock.now() + 1, 1)).toBe(1)
      expect(await test.storage.expired.remove('idempotency_keys', clock.now() + 1, 10)).toBe(1)
      expect([await count('user_sessions'), await count('idempotency_keys')]).toEqual([1, 1])
      expect(await count('audit_log')).toBe(entries)
    })
  })
})

describe('retention', () => {
  const asked: string[] = []
  const part = (
    days: { deliveryLogDays: number; callRecordDays: number; refusedCallDays?: number },
    left = 450,
  ) => {
    asked.length = 0
    const expired: ExpiredRows = {
      async remove(table, before, limit) {
        const days = (clock.now() - before) / dayMs
        asked.push(days < 1 ? table : `${table} before ${days} days`)
        if (table === 'idempotency_keys') throw new Error('the database does not answer')
        if (table !== 'user_sessions') return 0
        const removed = Math.min(limit, left)
        left -= removed
        return removed
      },
    }
    return createRetention({ expired, refusedCallDays: 0, ...days, clock, log: silentLogger })
  }
  beforeEach(async () => {
    clock = createFakeClock()
    test = await openTestStorage()
  })

  it('works through everything that has expired in batches with pauses, and again every hour', async () => {
    const retention = part({ deliveryLogDays: 30, callRecordDays: 90, refusedCallDays: 7 })
    await retention.start()
    await settled()
    expect(asked).toEqual([])
    clock.advance(60_000)
    await settled()
    expect(asked).toEqual(['idempotency_keys', 'user_sessions'])
    clock.advance(25)
    await settled()
    clock.advance(25)
    await settled()
    const once = [
      'idempotency_keys',
      'user_sessions',
      'user_sessions',
      'user_sessions',
      'registrations',
      'carrier_hosts before 90 days',
      'alerts before 30 days',
      'delivery_log before 30 days',
      'refused_calls before 7 days',
      'recent_calls before 90 days',
      'recordings before 90 days',
    ]
    expect(asked).toEqual(once)
    clock.advance(3_600_000)
    await settled()
    expect(asked).toEqual([...once, 'idempotency_keys', 'user_sessions', ...once.slice(-7)])
    await retention.stop()
    expect(clock.pending).toBe(0)
  })

  it('keeps for ever what is to be kept for 0 days', async () => {
    const retention = part({ deliveryLogDays: 0, callRecordDays: 0 }, 0)
    await retention.start()
    clock.advance(60_000)
    await settled()
    expect(asked).toEqual([
      'idempotency_keys',
      'user_sessions',
      'registrations',
      'carrier_hosts before 90 days',
      'alerts before 30 days',
    ])
    await retention.stop()
  })

  it('stops at once, also between two batches', async () => {
    const retention = part({ deliveryLogDays: 30, callRecordDays: 0 }, 10_000)
    await retention.start()
    clock.advance(60_000)
    await settled()
    await retention.stop()
    expect(asked).toEqual(['idempotency_keys', 'user_sessions'])
    await retention.stop()
  })
})
