import { randomBytes } from 'node:crypto'
import { setImmediate } from 'node:timers/promises'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { systemTenancy } from '../../contracts/caller.ts'
import { createSid } from '../../lib/ids.ts'
import type { CallBatch, Notification, RecentCall } from '../../contracts/call-record.ts'
import type { StoredEvent } from '../../contracts/journal.ts'
import {
  makeAccount,
  onEachStore,
  type TestAccount,
  type TestStorage,
} from '../../../test/support/each-store.ts'

onEachStore(({ open: openTestStorage }) => {
  let test: TestStorage
  let owner: TestAccount

  beforeEach(async () => {
    test = await openTestStorage()
    owner = await makeAccount(test.storage)
  })
  afterEach(() => test.close())

  const event = (seq: number): StoredEvent => ({ seq, at: 1000 + seq, type: 'fact', n: seq })

  function batch(call_sid: string, more: Partial<CallBatch> = {}): CallBatch {
    return { call_sid, account_sid: owner.account_sid, events: [], notifications: [], ...more }
  }

  function notification(call_sid: string, n: number): Notification {
    const hook = {
      url: 'http://app/status',
      method: 'POST' as const,
      username: 'u',
      password: 'hook-password',
    }
    return { account_sid: owner.account_sid, call_sid, hook, payload: { n } }
  }

  function record(call_sid: string, more: Partial<RecentCall> = {}): RecentCall {
    return {
      account_sid: owner.account_sid,
      service_provider_sid: owner.service_provider_sid,
      application_sid: null,
      call_sid,
      sip_call_id: 'abc@host',
      sip_parent_call_id: null,
      parent_call_sid: null,
      from: '+15551230001',
      to: 'app',
      direction: 'inbound',
      answered: true,
      sip_status: 200,
      duration: 4,
      attempted_at: 1000,
      answered_at: 1001,
      terminated_at: 5002,
      termination_reason: 'caller hungup',
      host: '10.0.0.1',
      remote_host: '10.0.0.2',
      trunk: 'user',
      trace_id: '0'.repeat(32),
      recording_url: null,
      attempts: null,
      stir_shaken: null,
      failure: null,
      media_failure: null,
      ...more,
    }
  }

  describe('a call that is written', () => {
    it('can be read back as its journal, in order, however it was cut into batches', async () => {
      const call_sid = createSid()
      const { calls, journal } = test.storage
      calls.write(batch(call_sid, { events: [event(1), event(2)] }), 'now')
      await calls.flush()
      for (let seq = 3; seq < 200; seq++) calls.write(batch(call_sid, { events: [event(seq)] }), 'soon')
      await calls.flush()
      const events = await journal.read(owner.asAccount, owner.account_sid, call_sid)
      expect(events?.map(({ seq }) => seq)).toEqual(Array.from({ length: 199 }, (_, n) => n + 1))
      expect(events?.[0]).toEqual(event(1))
    })

    it('reaches the database by itself, soon', async () => {
      const enqueued = new Promise<void>((resolve) => test.storage.outbox.onEnqueued(resolve))
      const call_sid = createSid()
      test.storage.calls.write(batch(call_sid, { notifications: [notification(call_sid, 1)] }), 'soon')
      await enqueued
      expect(await test.storage.outbox.nextDueAt()).toBeTypeOf('number')
    })

    it('gets exactly one record, the first', async () => {
      const call_sid = createSid()
      const { calls, recentCalls } = test.storage
      calls.write(batch(call_sid, { events: [event(1)], record: record(call_sid) }), 'now')
      calls.write(batch(call_sid, { record: record(call_sid, { sip_status: 500 }) }), 'now')
      await calls.flush()
      calls.write(
        batch(call_sid, { events: [event(2)], record: record(call_sid, { sip_status: 501 }) }),
        'now',
      )
      await calls.flush()
      const page = await recentCalls.page(owner.asAccount, owner.account_sid, { page: 1, count: 25 })
      expect(page.total).toBe(1)
      expect(page.rows[0]).toStrictEqual({ ...record(call_sid), answered: 1 })
      expect(await recentCalls.find(owner.asAccount, owner.account_sid, call_sid)).toStrictEqual(page.rows[0])
    })
  })

  it.each(['sip_call_id', 'from', 'to', 'trunk'] as const)(
    'a %s that no index can hold costs neither its call its record nor any other',
    async (column) => {
      const [odd, plain] = [createSid(), createSid()]
      const { calls, recentCalls } = test.storage
      const { account_sid } = owner
      const long = randomBytes(4000).toString('base64url')
      calls.write(batch(odd, { events: [event(1)], record: record(odd, { [column]: long }) }), 'now')
      calls.write(batch(plain, { events: [event(1)], record: record(plain) }), 'now')
      await calls.flush()
      expect(await recentCalls.find(systemTenancy, owner.account_sid, plain)).toBeDefined()
      const kept = await recentCalls.find(systemTenancy, owner.account_sid, odd)
      expect(kept?.[column]).toBe(long.slice(0, 256))
      if (column !== 'sip_call_id') return
      const legs = await recentCalls.bySipCallId(owner.asAccount, { account_sid }, long)
      expect(legs.map(({ call_sid }) => call_sid)).toEqual([odd])
    },
  )

  describe('unfinished calls', () => {
    it('are those without an end, with all their events, also after a restart', async () => {
      const [open, ended, closed] = [createSid(), createSid(), createSid()]
      test.storage.calls.write(batch(open, { events: [event(1), event(2)] }), 'now')
      test.storage.calls.write(batch(ended, { events: [event(1)] }), 'now')
      test.storage.calls.write(batch(closed, { events: [event(1)] }), 'now')
      await test.storage.calls.flush()
      test.storage.calls.write(batch(open, { events: [event(3)] }), 'now')
      test.storage.calls.write(batch(ended, { events: [event(2)], record: record(ended) }), 'now')
      test.storage.calls.write(batch(closed, { events: [event(2)], ended: true }), 'now')
      const { calls } = await test.reopen()
      expect(await calls.adopt()).toEqual([
        { call_sid: open, account_sid: owner.account_sid, events: [event(1), event(2), event(3)] },
      ])
    })

    it('are found although the dialog of one cannot be decrypted: it has none, and holds up no other', async () => {
      const [odd, other] = [createSid(), createSid()]
      for (const call_sid of [odd, other])
        test.storage.calls.write(
          batch(call_sid, { events: [event(1)], dialog: `dialog of ${call_sid}` }),
          'now',
        )
      await test.storage.calls.flush()
      await test.query(`update open_calls set dialog = 'v1.damaged' where call_sid = '${odd}'`)
      const { calls } = await test.reopen()
      const found = new Map((await calls.adopt()).map(({ call_sid, dialog }) => [call_sid, dialog]))
      expect(found).toEqual(
        new Map([
          [odd, undefined],
          [other, `dialog of ${other}`],
        ]),
      )
    })

    it('are none once each has its record, and events that come late do not open them again', async () => {
      const call_sid = createSid()
      test.storage.calls.write(batch(call_sid, { events: [event(1)] }), 'now')
      const { calls } = await test.reopen()
      calls.write(batch(call_sid, { events: [event(2)], record: record(call_sid) }), 'now')
      await calls.flush()
      expect(await calls.adopt()).toEqual([])
      const again = await test.reopen()
      again.calls.write(batch(call_sid, { events: [event(3)] }), 'now')
      await again.calls.flush()
      expect(await again.calls.adopt()).toEqual([])
      expect(await again.journal.read(systemTenancy, owner.account_sid, call_sid)).toHaveLength(3)
    })

    it('do not include one that ended without a record and has late events, also after a failed write', async () => {
      const call_sid = createSid()
      const { calls, journal } = test.storage
      calls.write(batch(call_sid, { events: [event(1)] }), 'now')
      await calls.flush()
      calls.write(batch(call_sid, { events: [event(2)], ended: true }), 'now')
      await calls.flush()
      await test.query('alter table call_journal rename to journal_away')
      calls.write(batch(call_sid, { events: [event(3)] }), 'now')
      await expect(calls.flush()).rejects.toThrow('could not be written')
      await test.query('alter table journal_away rename to call_journal')
      await calls.flush()
      expect(await journal.read(systemTenancy, owner.account_sid, call_sid)).toHaveLength(3)
      expect(await test.query('select call_sid from open_calls')).toEqual([])
    })
  })

  describe('notifications', () => {
    it('are numbered within their call, also across a restart', async () => {
      const call_sid = createSid()
      const other = createSid()
      test.storage.calls.write(
        batch(call_sid, { events: [event(1)], notifications: [1, 2].map((n) => notification(call_sid, n)) }),
        'now',
      )
      test.storage.calls.write(
        batch(other, { events: [event(1)], notifications: [notification(other, 1)] }),
        'now',
      )
      const { calls, outbox } = await test.reopen()
      calls.write(batch(call_sid, { events: [event(2)], notifications: [notification(call_sid, 3)] }), 'now')
      await calls.flush()
      const seen: [string, number, string][] = []
      for (;;) {
        const items = await outbox.claim(10, 60_000)
        if (items.length === 0) break
        for (const item of items) seen.push([item.call_sid, item.sequence, item.payload])
        await outbox.settle(items.map(({ id }) => ({ id, outcome: 'delivered', status: 200, durationMs: 1 })))
      }
      expect(seen).toEqual([
        [call_sid, 1, '{"n":1}'],
        [other, 1, '{"n":1}'],
        [call_sid, 2, '{"n":2}'],
        [call_sid, 3, '{"n":3}'],
      ])
    })

    it('keep the password of their hook sealed', async () => {
      const call_sid = createSid()
      test.storage.calls.write(batch(call_sid, { notifications: [notification(call_sid, 1)] }), 'now')
      await test.storage.calls.flush()
      const [stored] = await test.query('select password from outbox')
      expect(stored?.['password']).toMatch(/^v1\./)
      const [item] = await test.storage.outbox.claim(1, 1000)
      expect(item?.hook).toEqual(notification(call_sid, 1).hook)
    })
  })

  describe('while other calls never cease to be written', () => {
    it('a flush ends with what was written before it, and a stop with everything', async () => {
      const [call_sid, busy] = [createSid(), createSid()]
      const { calls, journal } = test.storage
      let written = 0
      let isFlushed = false
      const writing = (async () => {
        while (!isFlushed && written < 5000) {
          calls.write(batch(busy, { events: [event(++written)] }), 'now')
          await setImmediate()
        }
      })()
      calls.write(batch(call_sid, { events: [event(1)] }), 'now')
      await calls.flush()
      isFlushed = true
      expect(await journal.read(systemTenancy, owner.account_sid, call_sid)).toEqual([event(1)])
      await writing
      expect(written).toBeLessThan(5000)
      const again = await test.reopen()
      expect(await again.journal.read(systemTenancy, owner.account_sid, busy)).toHaveLength(written)
    })
  })

  describe('while the database refuses', () => {
    it.each([
      ['that breaks a rule', { trunk: null }],
      ['of a value that no column can hold', { trunk: undefined }],
    ])('one batch %s costs no other call its record', async (_, fault) => {
      const [bad, good] = [createSid(), createSid()]
      const { calls, recentCalls } = test.storage
      const broken = { ...record(bad), ...fault } as unknown as RecentCall
      calls.write(batch(bad, { events: [event(1)], record: broken }), 'now')
      calls.write(batch(good, { events: [event(1)], record: record(good) }), 'now')
      await calls.flush()
      expect(await recentCalls.find(systemTenancy, owner.account_sid, good)).toBeDefined()
      expect(await recentCalls.find(systemTenancy, owner.account_sid, bad)).toBeUndefined()
    })

    it('a value that JSON cannot hold costs its call only that value, and other calls nothing', async () => {
      const [bad, good] = [createSid(), createSid()]
      const { calls, recentCalls, journal, outbox } = test.storage
      let nested: unknown[] = []
      for (let level = 0; level < 100_000; level++) nested = [nested]
      const events = [event(1), { seq: 2, at: 1002, type: 'tagged', data: nested }, event(3)]
      const notifications = [{ ...notification(bad, 1), payload: { n: 1, customer_data: nested } }]
      calls.write(batch(bad, { events, notifications, record: record(bad) }), 'now')
      calls.write(batch(good, { events: [event(1)], record: record(good) }), 'now')
      await calls.flush()
      for (const call_sid of [bad, good])
        expect(await recentCalls.find(systemTenancy, owner.account_sid, call_sid)).toBeDefined()
      const sentence = 'a fact "tagged" could not be written down'
      expect(await journal.read(systemTenancy, owner.account_sid, bad)).toEqual([
        event(1),
        { seq: 2, at: 1002, type: 'note', sentence },
        event(3),
      ])
      expect((await outbox.claim(1, 1000)).map(({ payload }) => payload)).toEqual(['{"n":1}'])
    })

    it('a batch that can be written by no means is not tried for ever', async () => {
      const [bad, good] = [createSid(), createSid()]
      const { calls, recentCalls } = test.storage
      const broken = Object.defineProperty({ ...record(bad) }, 'trunk', {
        get() {
          throw new RangeError('Invalid string length')
        },
      })
      calls.write(batch(bad, { record: broken }), 'now')
      calls.write(batch(good, { events: [event(1)], record: record(good) }), 'now')
      await calls.flush()
      expect(await recentCalls.find(systemTenancy, owner.account_sid, good)).toBeDefined()
    })

    it('events that were numbered twice cost their call only themselves', async () => {
      const call_sid = createSid()
      const { calls, recentCalls, journal } = test.storage
      calls.write(batch(call_sid, { events: [event(1)] }), 'now')
      await calls.flush()
      calls.write(batch(call_sid, { events: [event(1)], record: record(call_sid) }), 'now')
      await calls.flush()
      expect(await recentCalls.find(systemTenancy, owner.account_sid, call_sid)).toBeDefined()
      expect(await journal.read(systemTenancy, owner.account_sid, call_sid)).toEqual([event(1)])
    })

    it('batches wait and are written when it answers again', async () => {
      await test.query('alter table call_journal rename to call_journal_away')
      const call_sid = createSid()
      test.storage.calls.write(batch(call_sid, { events: [event(1)] }), 'now')
      await expect(test.storage.calls.flush()).rejects.toThrow('could not be written')
      await test.query('alter table call_journal_away rename to call_journal')
      await test.storage.calls.flush()
      expect(await test.storage.journal.read(systemTenancy, owner.account_sid, call_sid)).toEqual([event(1)])
    })

    it('no event of a call is dropped while memory lasts', async () => {
      await test.query('alter table call_journal rename to call_journal_away')
      const { calls, journal } = test.storage
      const call_sid = createSid()
      const text = 'x'.repeat(1024 * 1024)
      const events = Array.from({ length: 64 }, (_, index) => ({ ...event(index + 1), text }))
      calls.write(batch(call_sid, { events: events.slice(0, 1) }), 'now')
      await expect(calls.flush()).rejects.toThrow('could not be written')
      for (const one of events.slice(1)) calls.write(batch(call_sid, { events: [one] }), 'soon')
      // Far more batches than once were kept, and little beside the bytes.
      for (let n = 0; n < 60_000; n += 1) calls.write(batch(call_sid, { events: [event(65 + n)] }), 'soon')
      await test.query('alter table call_journal_away rename to call_journal')
      expect(calls.refusal()).toMatchObject({ code: 'database_unavailable' })
      await calls.flush()
      expect(calls.refusal()).toBeUndefined()
      const read = await journal.read(systemTenancy, owner.account_sid, call_sid)
      expect(read?.map(({ seq }) => seq)).toEqual(Array.from({ length: 60_064 }, (_, index) => index + 1))
    })

    it('no new call may begin while much waits, although the database takes what it is given', async () => {
      const { calls } = test.storage
      const call_sid = createSid()
      const text = 'x'.repeat(1024 * 1024)
      for (let n = 1; n <= 63; n += 1)
        calls.write(batch(call_sid, { events: [{ ...event(n), text }] }), 'soon')
      expect(calls.refusal()).toBeUndefined()
      for (let n = 64; n <= 66; n += 1)
        calls.write(batch(call_sid, { events: [{ ...event(n), text }] }), 'soon')
      expect(calls.refusal()).toMatchObject({ code: 'database_unavailable' })
      await calls.flush()
      expect(calls.refusal()).toBeUndefined()
    })
  })
})
