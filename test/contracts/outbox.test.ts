// The contract between delivery and an outbox, run over the one in memory that its tests use and over the real one.
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { Hook } from '../../src/contracts/hook.ts'
import type { OutboxExceptions, OutboxItem, OutboxStore } from '../../src/contracts/outbox.ts'
import { createSid } from '../../src/lib/ids.ts'
import { onEachStore } from '../support/each-store.ts'
import { createFakeClock, type FakeClock } from '../support/fake-clock.ts'
import { MemoryOutbox } from '../support/memory-outbox.ts'

interface Place {
  readonly outbox: OutboxStore
  add(account_sid: string, call_sid: string, hook: Hook): Promise<void>
  close(): Promise<void>
}

describe('in memory', () => {
  behavesAsOutbox(async (clock) => {
    const outbox = new MemoryOutbox(() => clock.now())
    return {
      outbox,
      add: async (account, call, hook) => outbox.add(hook.url, call, { account, hook }),
      close: () => Promise.resolve(),
    }
  })
})

onEachStore(({ open }) => {
  behavesAsOutbox(async (clock) => {
    const test = await open({ clock })
    const { outbox, calls } = test.storage
    return {
      outbox,
      async add(account_sid, call_sid, hook) {
        const notification = { account_sid, call_sid, hook, payload: { call_sid } }
        calls.write({ call_sid, account_sid, events: [], notifications: [notification] }, 'now')
        await calls.flush()
      },
      close: () => test.close(),
    }
  })
})

function behavesAsOutbox(open: (clock: FakeClock) => Promise<Place>): void {
  const leaseMs = 60_000
  const account = createSid()
  const hook: Hook = { url: 'https://app.test/status', method: 'POST', username: 'u', password: 's3cret' }
  let clock: FakeClock
  let place: Place
  let outbox: OutboxStore

  beforeEach(async () => {
    clock = createFakeClock()
    place = await open(clock)
    outbox = place.outbox
  })
  afterEach(() => place.close())

  const claim = (except?: OutboxExceptions): Promise<readonly OutboxItem[]> =>
    outbox.claim(10, leaseMs, except)
  const delivered = ({ id }: OutboxItem) =>
    ({ id, outcome: 'delivered', status: 200, durationMs: 1 }) as const

  async function claimOne(): Promise<OutboxItem> {
    const [item, ...others] = await claim()
    expect(others).toEqual([])
    if (item === undefined) throw new Error('nothing is due')
    return item
  }

  it('the outbox hands out an item as it was added, with JSON text for the payload', async () => {
    const call_sid = createSid()
    await place.add(account, call_sid, hook)
    const item = await claimOne()
    expect(item).toMatchObject({ account_sid: account, call_sid, sequence: 1, hook, attempts: 0 })
    expect(item.created_at).toBe(clock.now())
    expect(JSON.parse(item.payload)).toMatchObject({ call_sid })
  })

  it('the outbox hands out one item of each call, and the next when that is delivered', async () => {
    const [a, b] = [createSid(), createSid()]
    await place.add(account, a, hook)
    await place.add(account, a, hook)
    clock.advance(1)
    await place.add(account, b, hook)
    const first = await claim()
    expect(first.map(({ call_sid, sequence }) => [call_sid, sequence])).toEqual([
      [a, 1],
      [b, 1],
    ])
    await outbox.settle(first.map(delivered))
    expect(await claimOne()).toMatchObject({ call_sid: a, sequence: 2 })
  })

  it('the outbox hands an item out again when its lease has run out, and not before', async () => {
    await place.add(account, createSid(), hook)
    const { id } = await claimOne()
    clock.advance(leaseMs - 1)
    expect(await claim()).toEqual([])
    clock.advance(1)
    expect(await claimOne()).toMatchObject({ id, attempts: 0 })
  })

  it('an item whose delivery failed is handed out at its next try, with the attempt counted', async () => {
    const call_sid = createSid()
    await place.add(account, call_sid, hook)
    await place.add(account, call_sid, hook)
    const { id } = await claimOne()
    await outbox.settle([{ id, outcome: 'retry', at: clock.now() + 5000, error: 'status 500' }])
    clock.advance(4999)
    expect(await claim()).toEqual([])
    clock.advance(1)
    expect(await claimOne()).toMatchObject({ id, sequence: 1, attempts: 1 })
  })

  it('hands out an item that was put back once more before the later ones of its call, with no attempt counted', async () => {
    const call_sid = createSid()
    await place.add(account, call_sid, hook)
    await place.add(account, call_sid, hook)
    const { id } = await claimOne()
    await outbox.settle([{ id, outcome: 'put-back', at: clock.now() }])
    expect(await claimOne()).toMatchObject({ id, sequence: 1, attempts: 0 })
    expect(await claim()).toEqual([])
  })

  it('the next item of a call follows when one is abandoned', async () => {
    const call_sid = createSid()
    await place.add(account, call_sid, hook)
    await place.add(account, call_sid, hook)
    const { id } = await claimOne()
    await outbox.settle([{ id, outcome: 'abandoned', error: 'status 410' }])
    expect(await claimOne()).toMatchObject({ call_sid, sequence: 2 })
  })

  describe('several hooks of one call', () => {
    const other: Hook = { ...hook, url: 'https://app.test/queue' }
    const seen = (items: readonly OutboxItem[]) => items.map(({ hook: { url }, sequence }) => [url, sequence])

    it('the outbox hands out one item for each URL at the same time, and each URL in order', async () => {
      const call_sid = createSid()
      for (const target of [hook, other, other, hook]) await place.add(account, call_sid, target)
      const first = await claim()
      expect(seen(first)).toEqual([
        [hook.url, 1],
        [other.url, 2],
      ])
      expect(await claim()).toEqual([])
      await outbox.settle(first.slice(1).map(delivered))
      const second = await claim()
      expect(seen(second)).toEqual([[other.url, 3]])
      await outbox.settle([...first.slice(0, 1), ...second].map(delivered))
      expect(seen(await claim())).toEqual([[hook.url, 4]])
    })

    it('a dead hook holds back only its own items, including later ones', async () => {
      const call_sid = createSid()
      await place.add(account, call_sid, other)
      const dead = await claimOne()
      const at = clock.now() + leaseMs
      await outbox.settle([{ id: dead.id, outcome: 'retry', at, error: 'connection refused' }])
      for (const target of [hook, other, hook]) await place.add(account, call_sid, target)
      const alive = await claimOne()
      expect(seen([alive])).toEqual([[hook.url, 2]])
      await outbox.settle([delivered(alive)])
      expect(seen([await claimOne()])).toEqual([[hook.url, 4]])
      clock.advance(leaseMs)
      expect(seen(await claim()).filter(([url]) => url === other.url)).toEqual([[other.url, 1]])
    })

    it('two heads of a call can be settled together', async () => {
      const call_sid = createSid()
      for (const target of [hook, other, hook, other]) await place.add(account, call_sid, target)
      await outbox.settle((await claim()).map(delivered))
      expect(seen(await claim())).toEqual([
        [hook.url, 3],
        [other.url, 4],
      ])
    })
  })

  it('the outbox does not hand out items of excepted accounts', async () => {
    const busy = createSid()
    await place.add(busy, createSid(), hook)
    await place.add(account, createSid(), hook)
    const except = { accounts: [busy], lanes: [] }
    expect((await claim(except)).map(({ account_sid }) => account_sid)).toEqual([account])
    expect((await claim()).map(({ account_sid }) => account_sid)).toEqual([busy])
  })

  it('items of an account for excepted hosts are not handed out, whatever their path; all others are', async () => {
    const another = createSid()
    const toPort = { ...hook, url: 'https://app.test:8443/status' }
    const toPath = { ...hook, url: 'https://APP.test/other?n=1' }
    for (const one of [hook, toPort, toPath]) await place.add(account, createSid(), one)
    await place.add(another, createSid(), hook)
    const except = { accounts: [], lanes: [{ account_sid: account, destination: 'https://app.test' }] }
    const seen = (items: readonly OutboxItem[]) => items.map((item) => [item.account_sid, item.hook.url])
    const first = seen(await claim(except))
    expect(first).toHaveLength(2)
    expect(first).toEqual(
      expect.arrayContaining([
        [account, toPort.url],
        [another, hook.url],
      ]),
    )
    expect(seen(await claim())).toHaveLength(2)
  })

  it('settling an item that is already gone does nothing', async () => {
    await place.add(account, createSid(), hook)
    const item = await claimOne()
    await outbox.settle([delivered(item)])
    await outbox.settle([delivered(item)])
    clock.advance(leaseMs)
    expect(await claim()).toEqual([])
  })

  it('the next due time is that of a lease or a next try, never of a later item of the same call', async () => {
    expect(await outbox.nextDueAt()).toBeUndefined()
    const call_sid = createSid()
    await place.add(account, call_sid, hook)
    await place.add(account, call_sid, hook)
    expect(await outbox.nextDueAt()).toBe(clock.now())
    const { id } = await claimOne()
    expect(await outbox.nextDueAt()).toBe(clock.now() + leaseMs)
    await outbox.settle([{ id, outcome: 'retry', at: clock.now() + 5000, error: 'status 500' }])
    expect(await outbox.nextDueAt()).toBe(clock.now() + 5000)
  })

  it('the outbox announces each item that is added', async () => {
    let announced = 0
    outbox.onEnqueued(() => announced++)
    await place.add(account, createSid(), hook)
    expect(announced).toBe(1)
    await place.add(account, createSid(), hook)
    expect(announced).toBe(2)
  })
}
