import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { createFakeClock, type FakeClock } from '../../../test/support/fake-clock.ts'
import { onEachStore, type TestStorage } from '../../../test/support/each-store.ts'
import { systemTenancy } from '../../contracts/caller.ts'
import type { StoredEvent } from '../../contracts/journal.ts'
import type { RecordingChange } from '../../contracts/recording.ts'
import { createSid } from '../../lib/ids.ts'

onEachStore(({ open: openTestStorage }) => {
  let test: TestStorage
  let clock: FakeClock
  const account_sid = createSid()
  const hook = { url: 'http://app/status', method: 'POST' as const, username: 'u', password: 'hook-password' }
  const claim = { limit: 10, leaseMs: 60_000, except: [] }

  beforeEach(async () => {
    clock = createFakeClock()
    test = await openTestStorage({ clock })
  })
  afterEach(() => test.close())

  async function change(call_sid: string, recordings: readonly RecordingChange[], of = account_sid) {
    const { calls } = test.storage
    calls.write({ call_sid, account_sid: of, events: [], notifications: [], recordings }, 'now')
    await calls.flush()
  }

  const begun = (call_sid: string, spool = 'here'): RecordingChange => ({
    change: 'begun',
    key: `2026/11/21/${call_sid}.wav`,
    format: 'wav',
    spool,
    at: clock.now(),
    notice: { hook, payload: { n: 1 } },
  })
  const ended = (bytes = 32_000): RecordingChange => ({
    change: 'ended',
    bytes,
    durationMs: 1000,
    at: clock.now(),
  })
  const sids = (found: readonly { readonly call_sid: string }[]) => found.map(({ call_sid }) => call_sid)

  describe('a recording', () => {
    it('waits a second after its end, then is claimed once, by the data directory that has it', async () => {
      const { recordings } = test.storage
      await change('a', [begun('a')])
      expect(sids(await recordings.unfinished('here'))).toEqual(['a'])
      expect(await recordings.claim('here', claim)).toEqual([])
      await change('a', [ended()])
      expect(await recordings.claim('here', claim)).toEqual([])
      clock.advance(1000)
      expect(await recordings.claim('elsewhere', claim)).toEqual([])
      expect(await recordings.claim('here', claim)).toMatchObject([
        {
          call_sid: 'a',
          state: 'waiting',
          bytes: 32_000,
          duration_ms: 1000,
          notice: { hook, payload: { n: 1 } },
        },
      ])
      expect(await recordings.claim('here', claim)).toEqual([])
      await recordings.renew('a', 120_000)
      clock.advance(60_001)
      expect(await recordings.claim('here', claim)).toEqual([])
      clock.advance(60_000)
      expect(sids(await recordings.claim('here', claim))).toEqual(['a'])
      expect(await recordings.unfinished('here')).toEqual([])
    })

    it('that was never ended is found before those that began later, which may still be running', async () => {
      const atMs = clock.now()
      const begunAt = [
        ['d', 2],
        ['a', 4],
        ['c', 3],
        ['e', 1],
        ['b', 3],
      ] as const
      for (const [call_sid, later] of begunAt)
        await change(call_sid, [{ ...begun(call_sid), at: atMs + later }])
      expect(sids(await test.storage.recordings.unfinished('here'))).toEqual(['e', 'd', 'b', 'c', 'a'])
    })

    it('whose notice cannot be decrypted is stored without it, and holds up no other', async () => {
      const { recordings } = test.storage
      await change('a', [begun('a')])
      await change('b', [begun('b')])
      await test.query("update recordings set notice = 'broken' where call_sid = 'a'")
      expect(sids(await recordings.unfinished('here')).sort()).toEqual(['a', 'b'])
      await change('a', [ended()])
      await change('b', [ended()])
      clock.advance(1000)
      const due = (await recordings.claim('here', claim)).map(({ call_sid, notice }) => [call_sid, notice])
      expect(Object.fromEntries(due)).toEqual({ a: undefined, b: { hook, payload: { n: 1 } } })
    })

    it('that its data directory leaves alone is claimed once by another one, also where it was never ended', async () => {
      const { recordings } = test.storage
      await change('waits', [begun('waits', 'gone'), ended()])
      await change('unended', [begun('unended', 'gone')])
      await change('own', [begun('own'), ended()])
      const lost = () =>
        recordings.claimLost('here', {
          leaseMs: 60_000,
          endedBefore: clock.now() - 10_000,
          begunBefore: clock.now() - 20_000,
          silentSince: clock.now() - 5000,
        })
      clock.advance(9999)
      expect(await lost()).toBeUndefined()
      clock.advance(2)
      await recordings.renew('waits', 1000)
      expect(await lost()).toBeUndefined()
      clock.advance(6000)
      expect(await lost()).toMatchObject({ call_sid: 'waits', notice: { hook } })
      expect(await lost()).toBeUndefined()
      clock.advance(4000)
      expect(await lost()).toMatchObject({ call_sid: 'unended' })
      expect(await lost()).toBeUndefined()
    })

    it('waits after a failure until it is due, or until others hasten it', async () => {
      const { recordings } = test.storage
      const other = createSid()
      await change('a', [begun('a'), ended()])
      await change('b', [begun('b'), ended()], other)
      clock.advance(1000)
      expect(await recordings.claim('here', { ...claim, except: [other] })).toHaveLength(1)
      await recordings.retry('a', clock.now() + 3_600_000, 'the bucket is away')
      expect(await recordings.find('a')).toMatchObject({ attempts: 1, reason: 'the bucket is away' })
      expect(sids(await recordings.claim('here', claim))).toEqual(['b'])
      await recordings.hasten('here', other)
      expect(sids(await recordings.claim('here', claim))).toEqual(['b'])
      await recordings.hasten('here', account_sid)
      expect(sids(await recordings.claim('here', claim))).toEqual(['a'])
      await recordings.hasten('here')
      expect(sids(await recordings.claim('here', claim)).sort()).toEqual(['a', 'b'])
    })

    it('that is stored or has failed is not claimed again, and its hook is forgotten', async () => {
      const { recordings } = test.storage
      await change('a', [
        begun('a'),
        ended(),
        { change: 'stored', place: 'disk', bytes: 500, at: clock.now() },
      ])
      await change('b', [
        begun('b'),
        ended(),
        { change: 'stored', place: 'bucket', bytes: 70, at: clock.now() },
      ])
      await change('c', [begun('c'), ended(), { change: 'failed', reason: 'too old', at: clock.now() }])
      clock.advance(100_000)
      await recordings.hasten('here')
      expect(await recordings.claim('here', claim)).toEqual([])
      expect(await recordings.find('a')).toMatchObject({ state: 'stored', place: 'disk', notice: undefined })
      expect(await recordings.find('c')).toMatchObject({ state: 'failed', reason: 'too old' })
      expect(await recordings.keptBytes(account_sid)).toBe(500)
      expect(await recordings.keptBytes(createSid())).toBe(0)
      expect(sids(await recordings.expired('here', clock.now(), { limit: 10, skip: 0 }))).toEqual(['a'])
      await recordings.remove('a')
      expect(await recordings.find('a')).toBeUndefined()
      const cells = await test.query('select notice from recordings')
      expect(cells.every(({ notice }) => notice === null)).toBe(true)
    })

    it('that is stored remains so when another node reports late that it is lost', async () => {
      const { recordings } = test.storage
      const stored = { change: 'stored', place: 'bucket', bytes: 70, at: clock.now() } as const
      await change('a', [begun('a'), ended(), stored])
      await change('a', [{ change: 'failed', reason: 'the node did not come back', at: clock.now() }])
      expect(await recordings.find('a')).toMatchObject({ state: 'stored', place: 'bucket', reason: null })
    })

    it('expires with its call record, and is claimed by those who can reach it, until it is removed or given up', async () => {
      const { recordings, expired } = test.storage
      const other = createSid()
      const stored = (place: 'bucket' | 'disk') =>
        ({ change: 'stored', place, bytes: 5, at: clock.now() }) as const
      await change('bucket', [begun('bucket'), ended(), stored('bucket')])
      await change('disk', [begun('disk'), ended(), stored('disk')], other)
      await change('failed', [begun('failed'), ended(), { change: 'failed', reason: 'x', at: clock.now() }])
      await change('waiting', [begun('waiting'), ended()])
      expect(await recordings.claimExpired('here', claim)).toBeUndefined()
      clock.advance(1000)
      await change('young', [begun('young'), ended(), stored('bucket')])
      expect(await expired.remove('recordings', clock.now(), 2)).toBe(2)
      expect(await expired.remove('recordings', clock.now(), 2)).toBe(1)
      expect(await expired.remove('recordings', clock.now(), 2)).toBe(0)
      expect(await recordings.find('failed')).toBeUndefined()
      expect(await recordings.find('waiting')).toMatchObject({ state: 'waiting' })
      expect(await recordings.find('young')).toMatchObject({ state: 'stored' })
      const inBucket = await recordings.claimExpired('elsewhere', claim)
      expect(inBucket).toMatchObject({ call_sid: 'bucket', state: 'expired', attempts: 0 })
      expect(await recordings.claimExpired('elsewhere', claim)).toBeUndefined()
      expect(await recordings.claimExpired('here', { ...claim, except: [other] })).toBeUndefined()
      expect(await recordings.claimExpired('here', claim)).toMatchObject({ call_sid: 'disk' })
      const wait = { until: clock.now() + 60_000, reason: 'refused', maxAttempts: 2 }
      expect(await recordings.postponeExpired(inBucket!, wait)).toBe(0)
      expect(await recordings.find('bucket')).toMatchObject({ attempts: 1, reason: 'refused' })
      expect(await recordings.find('disk')).toMatchObject({ attempts: 0 })
      clock.advance(60_000)
      const again = await recordings.claimExpired('here', { ...claim, except: [other] })
      expect(await recordings.postponeExpired(again!, wait)).toBe(1)
      expect(await recordings.find('bucket')).toBeUndefined()
    })

    it('keeps the password of its hook sealed', async () => {
      await change('a', [begun('a')])
      const [row] = await test.query('select notice from recordings')
      expect(String(row?.['notice'])).not.toContain('hook-password')
    })
  })

  it.each([
    ['', []],
    [
      ', also when the database has said nothing of the write before',
      ['alter table call_journal rename to away', 'alter table away rename to call_journal'],
    ],
  ])(
    'adds facts between those of a journal that goes on, and loses none%s',
    async (_when, [breaks, mends]) => {
      const { calls, journal } = test.storage
      const call_sid = createSid()
      const call = { call_sid, account_sid, notifications: [] }
      const write = async (...events: StoredEvent[]): Promise<void> => {
        calls.write({ ...call, events }, 'now')
        await calls.flush()
      }
      const fact = (seq: number) => ({ seq, at: 1, type: `fact ${seq}` })
      const later = async (type: string): Promise<void> => {
        calls.write({ ...call, events: [], later: [{ at: 2, type }] }, 'now')
        await calls.flush()
      }
      await write(fact(1), fact(2))
      await later('stored')
      calls.write({ ...call, events: [fact(3)], ended: true }, 'now')
      if (breaks !== undefined) {
        await test.query(breaks)
        await expect(calls.flush()).rejects.toThrow('could not be written')
        await test.query(mends!)
      }
      await calls.flush()
      await write(fact(4), fact(5))
      await later('sent')
      await write(fact(6))
      const events = await journal.read(systemTenancy, account_sid, call_sid)
      expect(events?.map(({ seq, type }) => `${seq} ${type}`)).toEqual([
        ...['1 fact 1', '2 fact 2', '3 stored', '4 fact 3', '5 fact 4', '6 fact 5', '7 sent', '8 fact 6'],
      ])
    },
  )

  it('adds facts after those of the journal, and opens no call that has ended', async () => {
    const { calls, journal } = test.storage
    const call_sid = createSid()
    const call = { call_sid, account_sid, notifications: [] }
    calls.write({ ...call, events: [{ seq: 1, at: 1, type: 'started' }], ended: true }, 'now')
    await calls.flush()
    for (const type of ['recording-stored', 'recording-failed']) {
      calls.write({ ...call, events: [], later: [{ at: 2, type }] }, 'now')
      await calls.flush()
    }
    const events = await journal.read(systemTenancy, account_sid, call_sid)
    expect(events?.map(({ seq, type }) => `${seq} ${type}`)).toEqual([
      '1 started',
      '2 recording-stored',
      '3 recording-failed',
    ])
    expect(await test.query('select * from open_calls')).toEqual([])
  })
})
