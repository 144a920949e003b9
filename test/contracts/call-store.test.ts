// The contract between the call engine and a store of calls, run over the one in memory that its tests use and over the
// real one.
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { createSid } from '../../src/lib/ids.ts'
import type { CallBatch, CallStore, UnfinishedCall } from '../../src/contracts/call-record.ts'
import { onEachStore } from '../support/each-store.ts'
import { endedCall } from '../support/ended-calls.ts'
import { MemoryCallStore } from '../support/scripted-engine/memory-call-store.ts'

interface Place {
  readonly store: CallStore
  /** Ends the node and returns the store of the next node, over the same calls. */
  restart(): Promise<CallStore>
  close(): Promise<void>
}

describe('in memory', () => {
  behavesAsCallStore(async () => {
    const store = new MemoryCallStore()
    const restart = async (): Promise<CallStore> => {
      store.abandon()
      return store
    }
    return { store: store as CallStore, restart, close: () => Promise.resolve() }
  })
})

onEachStore(({ open }) => {
  behavesAsCallStore(async () => {
    const test = await open()
    return {
      store: test.storage.calls,
      restart: async () => (await test.reopen()).calls,
      close: () => test.close(),
    }
  })
})

function behavesAsCallStore(open: () => Promise<Place>): void {
  const owner = { account_sid: createSid(), service_provider_sid: createSid() }
  let place: Place

  beforeEach(async () => {
    place = await open()
  })
  afterEach(() => place.close())

  const { account_sid } = owner
  const facts = { type: 'note', sentence: 'es war 1 "Probe"', nested: { list: [1, null, true] } }

  function batch(call_sid: string, seqs: readonly number[], more: Partial<CallBatch> = {}): CallBatch {
    const events = seqs.map((seq) => ({ ...facts, seq, at: 1000 + seq }))
    return { call_sid, account_sid, events, notifications: [], ...more }
  }

  async function write(...batches: readonly CallBatch[]): Promise<void> {
    for (const each of batches) place.store.write(each, 'soon')
    await place.store.flush()
  }

  async function adoptAll(store: CallStore): Promise<readonly UnfinishedCall[]> {
    const adopted: UnfinishedCall[] = []
    for (;;) {
      const some = await store.adopt()
      if (some.length === 0) return adopted
      adopted.push(...some)
    }
  }

  it('the next node gets a call that was left open, with its events as they were written', async () => {
    const call_sid = createSid()
    await write(batch(call_sid, [1, 2]), batch(call_sid, [3]))
    const [call, ...others] = await adoptAll(await place.restart())
    expect(others).toEqual([])
    expect(call).toMatchObject({ call_sid, account_sid })
    expect(call?.events).toEqual(batch(call_sid, [1, 2, 3]).events)
  })

  it('only one of two nodes that adopt at the same time gets a call', async () => {
    const call_sid = createSid()
    await write(batch(call_sid, [1]))
    const store = await place.restart()
    const given = await Promise.all([store.adopt(), store.adopt()])
    expect(given.flat().map((call) => call.call_sid)).toEqual([call_sid])
  })

  it('a call that was closed by its record is not adopted', async () => {
    const call_sid = createSid()
    const { record } = endedCall(owner, { attempted_at: 1, call_sid })
    await write(batch(call_sid, [1]), batch(call_sid, [2], { record }))
    expect(await adoptAll(await place.restart())).toEqual([])
  })

  it('a call that was closed without a record is not adopted', async () => {
    const call_sid = createSid()
    await write(batch(call_sid, [1]), batch(call_sid, [2], { ended: true }))
    expect(await adoptAll(await place.restart())).toEqual([])
  })

  it('a closed call stays closed when later batches add events', async () => {
    const call_sid = createSid()
    await write(batch(call_sid, [1], { ended: true }), batch(call_sid, [2]))
    expect(await adoptAll(await place.restart())).toEqual([])
  })

  it('an adopted call is not adopted again once its adopter has closed it', async () => {
    const call_sid = createSid()
    await write(batch(call_sid, [1]))
    const second = await place.restart()
    await adoptAll(second)
    second.write(batch(call_sid, [2], { ended: true }), 'now')
    await second.flush()
    expect(await adoptAll(await place.restart())).toEqual([])
  })

  it('a call can be adopted again if its adopter died before closing it', async () => {
    const call_sid = createSid()
    await write(batch(call_sid, [1]))
    await adoptAll(await place.restart())
    const again = await adoptAll(await place.restart())
    expect(again.map((call) => call.call_sid)).toEqual([call_sid])
  })
}
