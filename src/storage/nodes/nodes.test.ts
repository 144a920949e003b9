import { connect, createServer } from 'node:net'
import { cp, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { createMigratedDatabase, type TestDatabase } from '../../../test/support/postgres-databases.ts'
import { isMissing } from '../../../test/support/tools.ts'
import { until } from '../../../test/support/wait.ts'
import { systemTenancy } from '../../contracts/caller.ts'
import { createFakeClock, type FakeClock } from '../../../test/support/fake-clock.ts'
import { createSid } from '../../lib/ids.ts'
import { silentLogger } from '../../lib/log.ts'
import type { CallBatch } from '../../contracts/call-record.ts'
import { createStorage } from '../create-storage.ts'
import type { Storage } from '../storage.ts'
import { endedCall } from '../../../test/support/ended-calls.ts'
import {
  makeAccount,
  onEachStore,
  openTestStorage,
  type TestAccount,
  type TestStorage,
} from '../../../test/support/each-store.ts'

const beatMs = 3000
const key = '0'.repeat(64)
const hook = { url: 'http://app/', method: 'POST' as const, username: null, password: null }

interface Node {
  readonly storage: Storage
  readonly clock: FakeClock
  readonly node_id: string
  /** The calls that others have closed. */
  readonly lost: string[]
}

describe.skipIf(isMissing('postgres'))('nodes that share a database', () => {
  let database: TestDatabase
  let folder: string
  let owner: TestAccount
  const running: Storage[] = []

  beforeEach(async () => {
    database = await createMigratedDatabase()
    folder = await mkdtemp(join(tmpdir(), 'switchhook-nodes-'))
  })
  afterEach(async () => {
    for (const storage of running.splice(0)) await storage.stop()
    await database.remove()
    await rm(folder, { recursive: true })
  })

  async function startNode(dataDir: string, databaseUrl = database.url, now = Date.now()): Promise<Node> {
    const clock = createFakeClock(now)
    const before = await nodeIds()
    const storage = createStorage({
      dataDir: join(folder, dataDir),
      databaseUrl,
      secretKey: key,
      clock,
      log: silentLogger,
    })
    await storage.start()
    running.push(storage)
    const lost: string[] = []
    storage.calls.watch({ abandoned: () => undefined, lost: (calls) => void lost.push(...calls) })
    if (running.length === 1) owner = await makeAccount(storage)
    const node_id = (await nodeIds()).find((id) => !before.includes(id)) ?? ''
    return { storage, clock, node_id, lost }
  }

  const nodeIds = async (): Promise<string[]> =>
    (await database.query('select node_id from nodes')).map(({ node_id }) => String(node_id))

  const beatsOf = async (node_id: string): Promise<number> => {
    const [row] = await database.query(`select beats from nodes where node_id = '${node_id}'`)
    return Number(row?.['beats'] ?? -1)
  }

  async function beat({ clock, node_id }: Node): Promise<void> {
    const before = await beatsOf(node_id)
    clock.advance(beatMs)
    await until('the beat', async () => (await beatsOf(node_id)) > before)
  }

  /** Lets only the survivors beat, until the other node is declared dead. */
  async function outlive(survivors: readonly Node[], other: Node): Promise<void> {
    await until('the silent node to be taken for dead', async () => {
      for (const survivor of survivors) await beat(survivor)
      return (await beatsOf(other.node_id)) === -1
    })
  }

  const batch = (call_sid: string, more: Partial<CallBatch> = {}): CallBatch => ({
    call_sid,
    account_sid: owner.account_sid,
    events: [],
    notifications: [],
    ...more,
  })

  const notification = (call_sid: string, call_status: string) => ({
    account_sid: owner.account_sid,
    call_sid,
    hook,
    payload: { call_status },
  })

  /** Opens calls with one notification each. */
  async function openCalls({ storage }: Node, count: number): Promise<string[]> {
    const calls = Array.from({ length: count }, () => createSid())
    for (const call_sid of calls) {
      const events = [{ seq: 1, at: 1, type: 'started' }]
      const notifications = [notification(call_sid, 'in-progress')]
      storage.calls.write(batch(call_sid, { events, notifications }), 'now')
    }
    await storage.calls.flush()
    return calls
  }

  /** Ends a call as the engine does: the end, its record, and the last notification. */
  function end({ storage }: Node, call_sid: string, seq: number, termination_reason: string): void {
    const { record } = endedCall(owner, { attempted_at: 1000 })
    storage.calls.write(
      batch(call_sid, {
        events: [{ seq, at: 2, type: 'ended' }],
        notifications: [notification(call_sid, 'completed')],
        record: { ...record, call_sid, termination_reason },
      }),
      'now',
    )
  }

  async function adoptAll({ storage }: Node): Promise<string[]> {
    const adopted: string[] = []
    for (;;) {
      const calls = await storage.calls.adopt()
      if (calls.length === 0) return adopted
      adopted.push(...calls.map(({ call_sid }) => call_sid))
    }
  }

  it('register with a carrier one at a time: another node takes it over once the first has stopped, or is gone', async () => {
    const first = await startNode('a')
    const second = await startNode('b')
    const { account_sid, service_provider_sid } = owner
    const carrier = { name: 'acme', account_sid, service_provider_sid }
    const carriers = first.storage.for(systemTenancy).voip_carriers
    const { voip_carrier_sid: sid } = await carriers.insert(carrier)
    const hold = ({ storage }: Node) => storage.carrierRegistrations.hold([sid])
    const [one, other] = await Promise.all([hold(first), hold(second)])
    expect(one.size + other.size).toBe(1)
    const [holder, waiting] = one.size === 1 ? [first, second] : [second, first]
    expect(await hold(waiting)).toEqual(new Set())
    await outlive([waiting], holder)
    expect(await hold(waiting)).toEqual(new Set([sid]))
    // The first node has not noticed yet that it was declared dead.
    expect(await hold(holder)).toEqual(new Set())
    await waiting.storage.stop()
    running.splice(running.indexOf(waiting.storage), 1)
    const third = await startNode('c')
    expect(await hold(third)).toEqual(new Set([sid]))
  })

  it('leave the calls of each other alone while they live, also one that starts, stops and starts again', async () => {
    const a = await startNode('a')
    const calls = await openCalls(a, 3)
    const b = await startNode('b')
    expect(await adoptAll(b)).toEqual([])
    await beat(a)
    await beat(b)
    expect(await adoptAll(b)).toEqual([])
    await running.pop()?.stop()
    expect(await adoptAll(await startNode('b'))).toEqual([])
    const rows = await database.query('select call_sid from open_calls where node_id = ' + `'${a.node_id}'`)
    expect(rows).toHaveLength(calls.length)
  })

  it('leave the calls of each other alone where they share a data directory for its key', async () => {
    const a = await startNode('shared')
    await openCalls(a, 2)
    expect(await adoptAll(await startNode('shared'))).toEqual([])
  })

  it('take over the calls of a dead one, each call by one of them', async () => {
    const dead = await startNode('a')
    const calls = await openCalls(dead, 40)
    const survivors = [await startNode('b'), await startNode('c')]
    await outlive(survivors, dead)
    const adopted = await Promise.all(survivors.map(adoptAll))
    expect(adopted.flat().sort()).toEqual(calls.sort())
    expect(await adoptAll(survivors[0]!)).toEqual([])
  })

  it('keep the time of the last sign of life of a dead one with its calls, by its own clock, also when the next one dies', async () => {
    const dead = await startNode('a', database.url, Date.now() - 3_600_000)
    const [call_sid = ''] = await openCalls(dead, 1)
    await beat(dead)
    const alive_at = dead.clock.now()
    const second = await startNode('b')
    await outlive([second], dead)
    expect(await second.storage.calls.adopt()).toMatchObject([{ call_sid, alive_at }])
    const third = await startNode('c')
    await outlive([third], second)
    expect(await third.storage.calls.adopt()).toMatchObject([{ call_sid, alive_at }])
  })

  it('refuse calls once they miss the database, and say so after a minute without it, once', async () => {
    const line = await layLine(join(database.folder, '.s.PGSQL.5432'), folder)
    try {
      const url = database.url.replace(encodeURIComponent(database.folder), encodeURIComponent(line.folder))
      const { storage, clock, node_id } = await startNode('a', url)
      let cutOffs = 0
      storage.calls.watch({ abandoned: () => undefined, lost: () => undefined, cutOff: () => cutOffs++ })
      await until('a beat', async () => {
        clock.advance(beatMs)
        return (await beatsOf(node_id)) > 1
      })
      expect(storage.calls.refusal()).toBeUndefined()
      line.cut()
      const cutAt = clock.monotonic()
      await until('calls to be refused', () => {
        clock.advance(beatMs)
        return storage.calls.refusal()?.code === 'database_unavailable'
      })
      await until('the minute to be over', () => {
        clock.advance(beatMs)
        return cutOffs > 0
      })
      expect(clock.monotonic() - cutAt).toBeGreaterThan(50_000)
      for (let n = 0; n < 10; n++) clock.advance(beatMs)
      line.restore()
      await until('calls to be accepted', () => {
        clock.advance(beatMs)
        return storage.calls.refusal() === undefined
      })
      expect(cutOffs).toBe(1)
    } finally {
      for (const storage of running.splice(0)) await storage.stop()
      await line.close()
    }
  })

  it('declare no node dead because the database was away for a minute', async () => {
    const line = await layLine(join(database.folder, '.s.PGSQL.5432'), folder)
    try {
      const url = database.url.replace(encodeURIComponent(database.folder), encodeURIComponent(line.folder))
      const nodes = [await startNode('a', url), await startNode('b', url)]
      for (const node of nodes) await openCalls(node, 1)
      for (const node of nodes) await beat(node)
      line.cut()
      for (const { clock } of nodes) for (let n = 0; n < 20; n++) clock.advance(beatMs)
      line.restore()
      await until('both to be heard again', async () => {
        for (const { clock } of nodes) clock.advance(beatMs)
        const beats = await Promise.all(nodes.map(({ node_id }) => beatsOf(node_id)))
        return beats.every((count) => count === -1 || count > 3)
      })
      expect((await nodeIds()).sort()).toEqual(nodes.map(({ node_id }) => node_id).sort())
      for (const node of nodes) expect(await adoptAll(node)).toEqual([])
    } finally {
      for (const storage of running.splice(0)) await storage.stop()
      await line.close()
    }
  })

  describe('and one of them was declared dead while it was alive', () => {
    it('it keeps the calls that no other has taken, and every call has one record and notifications in a row', async () => {
      const a = await startNode('a')
      const b = await startNode('b')
      const calls = await openCalls(a, 20)
      await outlive([b], a)
      const taken = (await b.storage.calls.adopt()).map(({ call_sid }) => call_sid)
      expect(taken.length).toBeLessThan(calls.length)
      const kept = calls.filter((call_sid) => !taken.includes(call_sid))
      // Both nodes end every call that they consider theirs, at the same time.
      for (const call_sid of taken) end(b, call_sid, 2, 'platform stopped in mid-call')
      for (const call_sid of calls) end(a, call_sid, 2, 'caller hungup')
      await Promise.all([a.storage.calls.flush(), b.storage.calls.flush()])

      expect(a.lost.sort()).toEqual(taken.sort())
      const records = await database.query('select call_sid, termination_reason from recent_calls')
      expect(records).toHaveLength(calls.length)
      for (const { call_sid, termination_reason } of records)
        expect(termination_reason).toBe(
          kept.includes(String(call_sid)) ? 'caller hungup' : 'platform stopped in mid-call',
        )
      const finals = `select call_sid, count(*)::int as count, max(sequence) as last from outbox group by call_sid`
      for (const { count, last } of await database.query(finals)) expect([count, last]).toEqual([2, 2])
      expect(await database.query('select call_sid from open_calls')).toEqual([])
    })

    it('its next beat shows that as well, and it serves new calls as a new node', async () => {
      const a = await startNode('a')
      const b = await startNode('b')
      const [call_sid = ''] = await openCalls(a, 1)
      await outlive([b], a)
      await adoptAll(b)
      a.clock.advance(beatMs)
      await until('its lost calls to be reported', () => a.lost.length > 0)
      expect(a.lost).toEqual([call_sid])
      // Further events of the lost call are not written; a new call is.
      end(a, call_sid, 2, 'caller hungup')
      const [fresh = ''] = await openCalls(a, 1)
      expect(await database.query('select call_sid from recent_calls')).toEqual([])
      expect(await adoptAll(b)).toEqual([])
      end(a, fresh, 2, 'caller hungup')
      await a.storage.calls.flush()
      expect(await database.query('select call_sid from recent_calls')).toEqual([{ call_sid: fresh }])
    })

    it('it still writes what becomes of the recording of a lost call, whose file only it has', async () => {
      const a = await startNode('a')
      const b = await startNode('b')
      const [call_sid = ''] = await openCalls(a, 1)
      const begun = { change: 'begun', key: 'k.wav', format: 'wav', spool: 'a', at: 1 } as const
      a.storage.calls.write(batch(call_sid, { recordings: [{ ...begun, notice: undefined }] }), 'now')
      await a.storage.calls.flush()
      await outlive([b], a)
      await adoptAll(b)
      const ended = { change: 'ended', bytes: 32_000, durationMs: 1000, at: 2 } as const
      const later = [{ at: 2, type: 'recording-ended', duration_ms: 1000, bytes: 32_000 }] as const
      // Once while it does not know yet that it was declared dead, and once afterwards.
      a.storage.calls.write(batch(call_sid, { recordings: [ended], later }), 'now')
      await a.storage.calls.flush()
      expect(a.lost).toEqual([call_sid])
      expect(await a.storage.recordings.find(call_sid)).toMatchObject({ state: 'waiting' })
      const stored = { change: 'stored', place: 'bucket', bytes: 32_044, at: 3 } as const
      a.storage.calls.write(batch(call_sid, { recordings: [stored], later: [] }), 'now')
      await a.storage.calls.flush()
      expect(await a.storage.recordings.find(call_sid)).toMatchObject({ state: 'stored' })
    })

    it('a call that began while it was cut off stays its own, and is written whole', async () => {
      const a = await startNode('a')
      const b = await startNode('b')
      await openCalls(a, 1)
      await outlive([b], a)
      const call_sid = createSid()
      a.storage.calls.write(batch(call_sid, { events: [{ seq: 1, at: 1, type: 'started' }] }), 'now')
      end(a, call_sid, 2, 'caller hungup')
      await a.storage.calls.flush()
      expect(await a.storage.recentCalls.find(systemTenancy, owner.account_sid, call_sid)).toBeDefined()
      expect(await a.storage.journal.read(systemTenancy, owner.account_sid, call_sid)).toHaveLength(2)
    })
  })

  describe('and one of them was killed', () => {
    /** Stores the rows that a process leaves behind when it is killed in that place. */
    async function leaveBehind(place: unknown): Promise<string> {
      const call_sid = createSid()
      await database.query(
        `insert into nodes (node_id, place, beats, alive_at) values ('former', '${String(place)}', 7, 4711)`,
      )
      await database.query(
        `insert into open_calls (call_sid, account_sid, created_at, node_id)
           values ('${call_sid}', '${owner.account_sid}', ${Date.now()}, 'former')`,
      )
      return call_sid
    }

    const placeOf = async ({ node_id }: Node): Promise<unknown> =>
      (await database.query(`select place from nodes where node_id = '${node_id}'`))[0]?.['place']

    it('the next one in its data directory closes its calls at once, as of its last sign of life', async () => {
      const place = await placeOf(await startNode('a'))
      await running.pop()?.stop()
      const call_sid = await leaveBehind(place)
      const { storage } = await startNode('a')
      expect(await storage.calls.adopt()).toMatchObject([{ call_sid, alive_at: 4711 }])
      expect(await storage.calls.adopt()).toEqual([])
    })

    it('one in a copy of its data directory treats it as alive', async () => {
      const place = await placeOf(await startNode('a'))
      await running.pop()?.stop()
      await leaveBehind(place)
      await cp(join(folder, 'a'), join(folder, 'b'), { recursive: true })
      expect(await adoptAll(await startNode('b'))).toEqual([])
    })
  })
})

describe('the embedded database', () => {
  let test: TestStorage
  beforeEach(async () => {
    test = await openTestStorage()
  })
  afterEach(() => test.close())

  it('keeps when its process last gave a sign of life, every 3 s while calls are up, and writes nothing without calls', async () => {
    const clock = createFakeClock(1_000_000)
    const { calls } = await test.reopen({ clock })
    const node = async () => (await test.query('select beats, alive_at from nodes'))[0]
    clock.advance(beatMs)
    await makeAccount(test.storage)
    expect(await node()).toMatchObject({ beats: 0, alive_at: null })
    const call_sid = createSid()
    const events = [{ seq: 1, at: 1, type: 'started' }]
    calls.write({ call_sid, account_sid: createSid(), events, notifications: [] }, 'now')
    await calls.flush()
    for (const beats of [1, 2]) {
      clock.advance(beatMs)
      await until('the beat', async () => Number((await node())?.['beats']) === beats)
    }
    const alive_at = clock.now()
    clock.advance(beatMs - 1)
    const next = await test.reopen()
    expect(await next.calls.adopt()).toEqual([expect.objectContaining({ call_sid, alive_at })])
  })

  it('has one process: its start takes over whatever is open, of any version', async () => {
    const { account_sid } = await makeAccount(test.storage)
    await test.query(`insert into nodes (node_id, beats) values ('former', 1)`)
    for (const node_id of ['former', ''])
      await test.query(
        `insert into open_calls (call_sid, account_sid, created_at, node_id)
           values ('call of "${node_id}"', '${account_sid}', ${Date.now()}, '${node_id}')`,
      )
    const { calls } = await test.reopen()
    const adopted = [...(await calls.adopt()), ...(await calls.adopt())].map(({ call_sid }) => call_sid)
    expect(adopted.sort()).toEqual(['call of ""', 'call of "former"'])
    expect(await calls.adopt()).toEqual([])
  })
})

onEachStore(({ open }) => {
  it('a call is adopted once by a process, which then is its node', async () => {
    const test = await open()
    try {
      const { account_sid } = await makeAccount(test.storage)
      const call_sid = createSid()
      const events = [{ seq: 1, at: 1, type: 'started' }]
      test.storage.calls.write({ call_sid, account_sid, events, notifications: [] }, 'now')
      const { calls } = await test.reopen()
      expect(await calls.adopt()).toEqual([{ call_sid, account_sid, events }])
      expect(await calls.adopt()).toEqual([])
      const again = await test.reopen()
      expect(await again.calls.adopt()).toHaveLength(1)
    } finally {
      await test.close()
    }
  })
})

/** A connection between storage and the server that the test can cut. */
async function layLine(server: string, folder: string) {
  const place = await mkdtemp(join(folder, 'line-'))
  const open = new Set<{ destroy(): unknown }>()
  let isCut = false
  const line = createServer((client) => {
    if (isCut) return void client.destroy()
    const upstream = connect(server)
    for (const [from, to] of [
      [client, upstream],
      [upstream, client],
    ] as const) {
      open.add(from)
      from.on('error', () => undefined)
      from.on('close', () => to.destroy())
      from.pipe(to)
    }
  })
  await new Promise<void>((resolve) => line.listen(join(place, '.s.PGSQL.5432'), resolve))
  const end = (): void => {
    for (const socket of open) socket.destroy()
    open.clear()
  }
  return {
    folder: place,
    cut() {
      isCut = true
      end()
    },
    restore: () => (isCut = false),
    async close() {
      end()
      await new Promise((resolve) => line.close(resolve))
    },
  }
}
