import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { createFakeClock, type FakeClock } from '../../test/support/fake-clock.ts'
import { createSid } from '../lib/ids.ts'
import type { OutboxItem } from '../contracts/outbox.ts'
import { onEachStore, type TestStorage } from '../../test/support/each-store.ts'

onEachStore(({ open: openTestStorage }) => {
  let test: TestStorage
  let clock: FakeClock

  beforeEach(async () => {
    clock = createFakeClock()
    test = await openTestStorage({ clock })
  })
  afterEach(() => test.close())

  const ownAccount = createSid()

  async function enqueue(call_sid: string, count: number, account_sid = ownAccount): Promise<void> {
    const hook = { url: 'http://app/status', method: 'POST' as const, username: null, password: null }
    const notifications = Array.from({ length: count }, (_, n) => ({
      account_sid,
      call_sid,
      hook,
      payload: { n },
    }))
    test.storage.calls.write({ call_sid, account_sid, events: [], notifications }, 'now')
    await test.storage.calls.flush()
  }

  const labels = (items: readonly OutboxItem[]): string[] =>
    items.map(({ call_sid, sequence }) => `${call_sid}${sequence}`)

  // Ids are larger than the integers that the driver returns as numbers by default.
  const deliveryLog = async (): Promise<Record<string, unknown>[]> =>
    (await test.query('select * from delivery_log order by id')).map((row) => ({
      ...row,
      id: Number(row['id']),
    }))

  describe('claim', () => {
    it('leases the oldest, one of each call', async () => {
      await enqueue('a', 3)
      clock.advance(10)
      await enqueue('b', 2)
      await enqueue('c', 1)
      expect(labels(await test.storage.outbox.claim(2, 1000))).toEqual(['a1', 'b1'])
      expect(labels(await test.storage.outbox.claim(10, 1000))).toEqual(['c1'])
      expect(await test.storage.outbox.claim(10, 1000)).toEqual([])
    })

    it('leaves the items of the accounts that are excepted', async () => {
      const busy = Array.from({ length: 3 }, () => createSid())
      for (const [n, account_sid] of busy.entries()) await enqueue(`busy${n}`, 1, account_sid)
      await enqueue('a', 1)
      expect(labels(await test.storage.outbox.claim(10, 1000, { accounts: busy, lanes: [] }))).toEqual(['a1'])
      expect(labels(await test.storage.outbox.claim(10, 1000))).toEqual(['busy01', 'busy11', 'busy21'])
    })

    it('abandons an item whose password cannot be decrypted, and gives out those beside it', async () => {
      await enqueue('a', 1)
      await enqueue('b', 1)
      await test.query("update outbox set password = 'broken' where call_sid = 'a'")
      expect(labels(await test.storage.outbox.claim(10, 1000))).toEqual(['b1'])
      expect(await deliveryLog()).toMatchObject([
        { call_sid: 'a', outcome: 'abandoned', error: 'its password cannot be decrypted' },
      ])
    })

    it('never gives one item to two that ask at once', async () => {
      for (let n = 0; n < 20; n++) await enqueue(`call${n}`, 1)
      const claims = await Promise.all(Array.from({ length: 5 }, () => test.storage.outbox.claim(7, 1000)))
      const ids = claims.flat().map(({ id }) => id)
      expect(ids).toHaveLength(20)
      expect(new Set(ids).size).toBe(20)
    })

    it('gives an item out again when its lease has ended, also after a restart', async () => {
      await enqueue('a', 2)
      const [first] = await test.storage.outbox.claim(10, 1000)
      clock.advance(999)
      await test.reopen()
      expect(await test.storage.outbox.claim(10, 1000)).toEqual([])
      clock.advance(1)
      expect(await test.storage.outbox.claim(10, 1000)).toEqual([first])
    })
  })

  describe('settle', () => {
    it('makes the next of the call due, logs the delivery and forgets the payload', async () => {
      await enqueue('a', 2)
      const [first] = await test.storage.outbox.claim(10, 1000)
      await test.storage.outbox.settle([
        { id: first!.id, outcome: 'delivered', status: 200, durationMs: 12.6 },
      ])
      expect(labels(await test.storage.outbox.claim(10, 1000))).toEqual(['a2'])
      expect(await deliveryLog()).toMatchObject([
        {
          id: first!.id,
          call_sid: 'a',
          sequence: 1,
          outcome: 'delivered',
          status: 200,
          attempts: 1,
          duration_ms: 13,
        },
      ])
    })

    it('holds the later ones of the call back while one is tried again', async () => {
      await enqueue('a', 2)
      const [first] = await test.storage.outbox.claim(10, 60_000)
      await test.storage.outbox.settle([
        { id: first!.id, outcome: 'retry', at: clock.now() + 5000, error: '503' },
      ])
      expect(await test.storage.outbox.claim(10, 60_000)).toEqual([])
      expect(await test.storage.outbox.nextDueAt()).toBe(clock.now() + 5000)
      clock.advance(5000)
      expect(await test.storage.outbox.claim(10, 60_000)).toMatchObject([{ id: first!.id, attempts: 1 }])
    })

    it('lets the call go on after an item was abandoned', async () => {
      await enqueue('a', 2)
      const [first] = await test.storage.outbox.claim(10, 1000)
      await test.storage.outbox.settle([
        { id: first!.id, outcome: 'abandoned', error: 'no answer for a day' },
      ])
      expect(labels(await test.storage.outbox.claim(10, 1000))).toEqual(['a2'])
      expect(await deliveryLog()).toMatchObject([
        { outcome: 'abandoned', status: null, error: 'no answer for a day' },
      ])
    })

    it('counts once when two report the same item', async () => {
      await enqueue('a', 3)
      const [first] = await test.storage.outbox.claim(10, 1000)
      const delivered = { id: first!.id, outcome: 'delivered' as const, status: 200, durationMs: 1 }
      await test.storage.outbox.settle([delivered])
      expect(labels(await test.storage.outbox.claim(10, 1000))).toEqual(['a2'])
      await test.storage.outbox.settle([delivered, delivered])
      expect(await deliveryLog()).toHaveLength(1)
      expect(await test.storage.outbox.claim(10, 1000)).toEqual([])
    })
  })

  describe('ids', () => {
    it('are never used again, though the clock stands still over a restart', async () => {
      await enqueue('a', 2)
      const [first] = await test.storage.outbox.claim(10, 1000)
      await test.storage.outbox.settle([{ id: first!.id, outcome: 'abandoned', error: 'x' }])
      await test.reopen()
      await enqueue('b', 1)
      const ids = (await test.storage.outbox.claim(10, 1000)).map(({ id }) => id)
      expect(ids).toEqual([first!.id + 1, first!.id + 2])
    })
  })

  describe('nextDueAt', () => {
    it('is undefined when nothing waits', async () => {
      expect(await test.storage.outbox.nextDueAt()).toBeUndefined()
      await enqueue('a', 1)
      expect(await test.storage.outbox.nextDueAt()).toBe(clock.now())
      await test.storage.outbox.claim(1, 700)
      expect(await test.storage.outbox.nextDueAt()).toBe(clock.now() + 700)
    })
  })
})
