import { randomBytes } from 'node:crypto'
import { createServer, connect, type Server, type Socket } from 'node:net'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { createTestDatabase, type TestDatabase } from '../../../test/support/postgres-databases.ts'
import { postgresUrl } from '../../../test/support/postgres-server.ts'
import { isMissing } from '../../../test/support/tools.ts'
import { until } from '../../../test/support/wait.ts'
import { systemTenancy } from '../../contracts/caller.ts'
import { systemClock, type Clock } from '../../lib/clock.ts'
import { createSid } from '../../lib/ids.ts'
import { silentLogger } from '../../lib/log.ts'
import { createStorage } from '../create-storage.ts'
import type { Storage } from '../storage.ts'
import type { Session } from '../database/database.ts'
import { migrate } from '../database/migrate.ts'
import { openPostgres } from './postgres.ts'
import { callCounts, endedCall } from '../../../test/support/ended-calls.ts'
import { makeAccount } from '../../../test/support/each-store.ts'
import { createHastenedClock } from '../../../test/support/hastened-clock.ts'
import type { StoredEvent } from '../../contracts/journal.ts'

/** A connection between storage and the server that the test can cut. */
interface Line {
  readonly url: string
  /** Ends every connection and refuses new ones. */
  cut(): void
  restore(): void
  /** Cuts when a client sends `text`, after passing it on and before any response comes back. */
  cutAfter(text: string): Promise<void>
  close(): Promise<void>
}

async function layLine(database: TestDatabase): Promise<Line> {
  const folder = await mkdtemp(join(tmpdir(), 'switchhook-line-'))
  const open = new Set<Socket>()
  let isCut = false
  let trigger: { readonly text: string; readonly fired: () => void } | undefined
  const end = (): void => {
    for (const socket of open) socket.destroy()
    open.clear()
  }
  const server: Server = createServer((client) => {
    if (isCut) return void client.destroy()
    const upstream = connect(join(database.folder, '.s.PGSQL.5432'))
    for (const socket of [client, upstream]) {
      open.add(socket)
      socket.on('error', () => undefined)
      socket.on('close', () => {
        client.destroy()
        upstream.destroy()
      })
    }
    let isMuted = false
    client.on('data', (bytes) => {
      if (trigger !== undefined && bytes.includes(trigger.text)) {
        const { fired } = trigger
        trigger = undefined
        isMuted = true
        isCut = true
        upstream.write(bytes)
        // The server has read the text when it begins to respond.
        upstream.once('data', () => {
          end()
          fired()
        })
        return
      }
      upstream.write(bytes)
    })
    upstream.on('data', (bytes) => {
      if (!isMuted) client.write(bytes)
    })
  })
  await new Promise<void>((resolve) => server.listen(join(folder, '.s.PGSQL.5432'), resolve))
  return {
    url: postgresUrl(folder, database.name),
    cut() {
      isCut = true
      end()
    },
    restore: () => (isCut = false),
    cutAfter: (text) => new Promise((fired) => (trigger = { text, fired })),
    async close() {
      end()
      await new Promise((resolve) => server.close(resolve))
      await rm(folder, { recursive: true })
    },
  }
}

describe.skipIf(isMissing('postgres'))('PostgreSQL', () => {
  let database: TestDatabase
  let line: Line
  let dataDir: string
  const running: Storage[] = []

  beforeEach(async () => {
    database = await createTestDatabase()
    line = await layLine(database)
    dataDir = await mkdtemp(join(tmpdir(), 'switchhook-node-'))
  })
  afterEach(async () => {
    line.restore()
    for (const storage of running.splice(0)) await storage.stop()
    await line.close()
    await database.remove()
    await rm(dataDir, { recursive: true })
  })

  /** For a database that stays away longer than storage waits. */
  function fastClock(): Clock {
    const fast = createHastenedClock(10)
    return { ...fast, now: () => Math.round(fast.now()) }
  }

  /** All nodes share the key file. */
  async function startNode(url = database.url, clock = systemClock): Promise<Storage> {
    const storage = createStorage({ dataDir, databaseUrl: url, clock, log: silentLogger })
    await storage.start()
    running.push(storage)
    return storage
  }

  const providers = (storage: Storage) => storage.for(systemTenancy).service_providers

  describe('while it cannot be reached', () => {
    it('every request fails with a code of its own, and the next ones work when it is back', async () => {
      const storage = await startNode(line.url)
      await providers(storage).insert({ name: 'before' })
      line.cut()
      const failure = expect.objectContaining({ code: 'database_unavailable' })
      await expect(providers(storage).insert({ name: 'during' })).rejects.toEqual(failure)
      await expect(providers(storage).list()).rejects.toEqual(failure)
      await expect(storage.transaction(systemTenancy, (rows) => rows.users.count())).rejects.toEqual(failure)
      line.restore()
      await providers(storage).insert({ name: 'after' })
      expect((await providers(storage).list()).map(({ name }) => name)).toEqual(['before', 'after'])
    })

    it('calls continue, and their writes are stored when it is back', async () => {
      const storage = await startNode(line.url)
      const { account_sid } = await makeAccount(storage)
      const call_sid = createSid()
      line.cut()
      const events = [{ seq: 1, at: 1, type: 'fact' }]
      storage.calls.write({ call_sid, account_sid, events, notifications: [] }, 'now')
      await expect(storage.calls.flush()).rejects.toThrow('could not be written')
      line.restore()
      // Each connection that was cut may fail one more write.
      await until('the database to respond', () =>
        storage.calls.flush().then(
          () => true,
          () => undefined,
        ),
      )
      expect(await storage.journal.read(systemTenancy, account_sid, call_sid)).toEqual(events)
    })

    it('a transaction that had begun leaves nothing behind', async () => {
      const storage = await startNode(line.url)
      const work = storage.transaction(systemTenancy, async (rows) => {
        await rows.service_providers.insert({ name: 'half' })
        line.cut()
        await rows.service_providers.insert({ name: 'whole' })
      })
      await expect(work).rejects.toMatchObject({ code: 'database_unavailable' })
      line.restore()
      const count = await until('the database to respond', () =>
        providers(storage)
          .count()
          .then(String, () => undefined),
      )
      expect(count).toBe('0')
    })
  })

  describe('a connection that breaks between commit and answer', () => {
    it('does not turn a write that was made into a failure', async () => {
      const storage = await startNode(line.url)
      const cut = line.cutAfter('COMMIT')
      const writing = providers(storage).insert({ name: 'made' })
      await cut
      line.restore()
      expect((await writing).name).toBe('made')
      expect(await providers(storage).count()).toBe(1)
    })

    it('does not send a notification twice', async () => {
      const storage = await startNode(line.url)
      const { account_sid } = await makeAccount(storage)
      const hook = { url: 'http://app/', method: 'POST' as const, username: null, password: null }
      const notify = (call_sid: string): void =>
        storage.calls.write(
          {
            call_sid,
            account_sid,
            events: [],
            notifications: [{ account_sid, call_sid, hook, payload: {} }],
          },
          'now',
        )
      const cut = line.cutAfter('COMMIT')
      notify('a')
      await cut
      line.restore()
      notify('a')
      await storage.calls.flush()
      const rows = await database.query('select sequence from outbox order by sequence')
      expect(rows.map(({ sequence }) => sequence)).toEqual([1, 2])
    })

    it('makes nothing of a call twice and loses nothing of it, however long the answer stays away', async () => {
      const storage = await startNode(line.url, fastClock())
      const owner = await makeAccount(storage)
      const { account_sid } = owner
      const { call_sid, record } = endedCall(owner, { attempted_at: 1000 })
      const hook = { url: 'http://app/', method: 'POST' as const, username: null, password: null }
      const toldOf = (told: string) => [{ account_sid, call_sid: told, hook, payload: {} }]
      const event = (seq: number): StoredEvent => ({ seq, at: seq, type: 'fact' })
      const cut = line.cutAfter('COMMIT')
      storage.calls.write({ call_sid, account_sid, events: [event(1), event(2)], notifications: [] }, 'now')
      const other = { call_sid: 'other', account_sid, events: [event(1)] }
      storage.calls.write({ ...other, notifications: toldOf('other') }, 'now')
      await cut
      const last = { call_sid, account_sid, events: [event(3)], notifications: toldOf(call_sid), record }
      storage.calls.write(last, 'now')
      await expect(storage.calls.flush()).rejects.toThrow('could not be written')
      line.restore()
      await storage.calls.flush()
      const events = await storage.journal.read(systemTenancy, account_sid, call_sid)
      expect(events).toEqual([event(1), event(2), event(3)])
      expect(await database.query('select call_sid from open_calls')).toEqual([{ call_sid: 'other' }])
      expect(await database.query('select call_sid from outbox')).toHaveLength(2)
      expect(await storage.recentCalls.find(systemTenancy, account_sid, call_sid)).toBeDefined()
    })
  })

  describe('two nodes', () => {
    it('start at once over an empty database', async () => {
      const nodes = await Promise.all([startNode(), startNode(), startNode()])
      await Promise.all(nodes.map((node, index) => providers(node).insert({ name: `node ${index}` })))
      expect(await providers(nodes[0]!).count()).toBe(3)
    })

    it('run transactions one at a time: what one has read stays true until it is committed', async () => {
      const nodes = await Promise.all([startNode(), startNode()])
      const addOne = (node: Storage): Promise<void> =>
        node.transaction(systemTenancy, async ({ settings }) => {
          const counter = await settings.find('counter')
          const value = String(Number(counter?.value ?? 0) + 1)
          if (counter === undefined) await settings.insert({ name: 'counter', value })
          else await settings.update('counter', { value })
        })
      await Promise.all(Array.from({ length: 40 }, (_, n) => addOne(nodes[n % 2]!)))
      expect((await nodes[0]!.for(systemTenancy).settings.find('counter'))?.value).toBe('40')
    })

    it('lease each notification once, in order per call and URL, while calls write more and deliveries are settled', async () => {
      const [writer, other] = await Promise.all([startNode(), startNode()])
      const { account_sid } = await makeAccount(writer)
      const hook = { method: 'POST' as const, username: null, password: null }
      const calls = Array.from({ length: 10 }, (_, n) => `call${n}`)
      const perCall = 20
      const urls = ['http://app/status', 'http://app/queue']
      const seen = new Map<string, number[]>()
      let left = calls.length * perCall
      const deliver = async (node: Storage): Promise<void> => {
        while (left > 0) {
          const items = await node.outbox.claim(4, 60_000)
          left -= items.length
          for (const { call_sid, hook, sequence } of items) {
            const line = `${call_sid} ${hook.url}`
            seen.set(line, [...(seen.get(line) ?? []), sequence])
          }
          await node.outbox.settle(
            items.map(({ id }) => ({ id, outcome: 'delivered', status: 200, durationMs: 1 })),
          )
        }
      }
      const write = async (): Promise<void> => {
        for (let n = 0; n < perCall; n++) {
          for (const call_sid of calls) {
            const url = urls[n % urls.length]!
            const notification = { account_sid, call_sid, hook: { ...hook, url }, payload: { n } }
            writer.calls.write({ call_sid, account_sid, events: [], notifications: [notification] }, 'now')
          }
          await writer.calls.flush()
        }
      }
      await Promise.all([write(), deliver(writer), deliver(other), deliver(other)])
      for (const call_sid of calls)
        for (const [index, url] of urls.entries()) {
          const whole = Array.from({ length: perCall / 2 }, (_, n) => 2 * n + 1 + index)
          expect(seen.get(`${call_sid} ${url}`), `${call_sid} ${url}`).toEqual(whole)
        }
      expect(await database.query('select id from outbox')).toEqual([])
    })

    it('each lose the calls that the other one has taken, also when the database goes away meanwhile', async () => {
      const [slow, other] = [await startNode(line.url), await startNode()]
      const { account_sid } = await makeAccount(other)
      const events = [{ seq: 1, at: 1, type: 'fact' }]
      const lost: string[] = []
      slow.calls.watch({ abandoned: () => undefined, lost: (calls) => void lost.push(...calls) })
      slow.calls.write({ call_sid: 'taken', account_sid, events, notifications: [] }, 'now')
      await slow.calls.flush()
      const [open] = await database.query('select node_id from open_calls')
      await database.query(`delete from nodes where node_id = '${String(open?.['node_id'])}'`)
      expect((await other.calls.adopt()).map(({ call_sid }) => call_sid)).toEqual(['taken'])
      const cut = line.cutAfter('from "call_journal"')
      slow.calls.write({ call_sid: 'new', account_sid, events, notifications: [] }, 'now')
      await cut
      await expect(slow.calls.flush()).rejects.toThrow('could not be written')
      line.restore()
      await slow.calls.flush()
      expect(lost).toEqual(['taken'])
    })

    it('each lose the calls that the other one has taken, also when the last write to them stayed in doubt', async () => {
      const [slow, other] = [await startNode(line.url, fastClock()), await startNode()]
      const { account_sid } = await makeAccount(other)
      const events = [{ seq: 1, at: 1, type: 'fact' }]
      const lost: string[] = []
      slow.calls.watch({ abandoned: () => undefined, lost: (calls) => void lost.push(...calls) })
      const cut = line.cutAfter('COMMIT')
      slow.calls.write({ call_sid: 'taken', account_sid, events, notifications: [] }, 'now')
      await cut
      await expect(slow.calls.flush()).rejects.toThrow('could not be written')
      await database.query('delete from nodes where node_id in (select node_id from open_calls)')
      expect((await other.calls.adopt()).map(({ call_sid }) => call_sid)).toEqual(['taken'])
      line.restore()
      slow.calls.write({ call_sid: 'new', account_sid, events, notifications: [] }, 'now')
      await slow.calls.flush()
      expect(lost).toEqual(['taken'])
    })

    it('keep the calls that none has taken, also when the connection breaks as one joins again', async () => {
      const node = await startNode(line.url, fastClock())
      const { account_sid } = await makeAccount(node)
      const events = [{ seq: 1, at: 1, type: 'fact' }]
      const lost: string[] = []
      node.calls.watch({ abandoned: () => undefined, lost: (calls) => void lost.push(...calls) })
      node.calls.write({ call_sid: 'old', account_sid, events, notifications: [] }, 'now')
      await node.calls.flush()
      await database.query('delete from nodes')
      const cut = line.cutAfter('COMMIT')
      node.calls.write({ call_sid: 'new', account_sid, events, notifications: [] }, 'now')
      await cut
      await expect(node.calls.flush()).rejects.toThrow('could not be written')
      line.restore()
      await node.calls.flush()
      expect(lost).toEqual([])
      const open = await database.query('select call_sid from open_calls join nodes using (node_id)')
      expect(open.map(({ call_sid }) => String(call_sid)).toSorted()).toEqual(['new', 'old'])
    })

    it('close the calls of a dead one also when the connection breaks as they are taken', async () => {
      const [node, dead] = [await startNode(line.url, fastClock()), await startNode()]
      const { account_sid } = await makeAccount(node)
      const events = [{ seq: 1, at: 1, type: 'fact' }]
      dead.calls.write({ call_sid: 'left', account_sid, events, notifications: [] }, 'now')
      await dead.stop()
      const cut = line.cutAfter('COMMIT')
      const adoption = expect(node.calls.adopt()).rejects.toThrow('does not respond')
      await cut
      await adoption
      line.restore()
      expect(await node.calls.adopt()).toMatchObject([{ call_sid: 'left', account_sid, events }])
      expect(await node.calls.adopt()).toEqual([])
    })

    it('leave the calls of a dead one to the other that takes them, also when they could not be read before', async () => {
      const nodes = await Promise.all([startNode(line.url, fastClock()), startNode(), startNode()])
      const [node, other, dead] = nodes
      const { account_sid } = await makeAccount(node)
      const events = [{ seq: 1, at: 1, type: 'fact' }]
      dead.calls.write({ call_sid: 'left', account_sid, events, notifications: [] }, 'now')
      await dead.stop()
      const cut = line.cutAfter('from "call_journal"')
      const adoption = expect(node.calls.adopt()).rejects.toThrow('does not respond')
      await cut
      await adoption
      await database.query('delete from nodes where node_id in (select node_id from open_calls)')
      expect(await other.calls.adopt()).toMatchObject([{ call_sid: 'left' }])
      line.restore()
      node.calls.write({ call_sid: 'new', account_sid, events, notifications: [] }, 'now')
      await node.calls.flush()
      expect(await node.calls.adopt()).toEqual([])
    })

    it('count the calls they write and remove beside each other, and never wait in a circle', async () => {
      const nodes = await Promise.all([startNode(), startNode()])
      const provider = (await makeAccount(nodes[0]!)).service_provider_sid
      const accounts = [await makeAccount(nodes[0]!, provider), await makeAccount(nodes[0]!, provider)]
      const newest = Date.parse('2026-11-20T13:37:00Z')
      const perRound = 40
      const write = async (node: Storage, isUpwards: boolean): Promise<void> => {
        for (let round = 0; round < 15; round++) {
          for (let n = 0; n < perRound; n++) {
            // The nodes begin at both ends, so that they meet in the middle.
            const at = isUpwards ? n : perRound - 1 - n
            const attempted_at = newest - at * 1_800_000
            node.calls.write(endedCall(accounts[at % 2]!, { attempted_at }), 'soon')
          }
          await node.calls.flush()
        }
      }
      const remove = async (node: Storage): Promise<void> => {
        for (let round = 0; round < 15; round++)
          await node.expired.remove('recent_calls', newest - 40_000_000, 20)
      }
      await Promise.all([write(nodes[0]!, true), write(nodes[1]!, false), ...nodes.map(remove)])
      const { kept, counted } = await callCounts(database)
      expect(kept.length).toBeGreaterThan(0)
      expect(kept).toEqual(counted)
      for (const storage of running.splice(0)) await storage.stop()
      const met = await database.query(
        'select deadlocks from pg_stat_database where datname = current_database()',
      )
      expect(met.map(({ deadlocks }) => Number(deadlocks))).toEqual([0])
    })
  })

  it('treats a value that does not fit its column as a mistake of the sender, not as an outage', async () => {
    const storage = await startNode()
    const { asAccount } = await makeAccount(storage)
    const { applications } = storage.for(asAccount)
    expect(await applications.find('\0')).toBeUndefined()
    expect(await applications.list({ contains: { column: 'name', text: '\0' } })).toEqual([])
    const { application_sid } = await applications.insert({ name: 'nul\0name' })
    expect((await applications.find(application_sid))?.name).toBe('nul\uFFFDname')
    const wide = { name: 'wide', use_for_fallback_speech: (2 ** 40) as 1 }
    await expect(applications.insert(wide)).rejects.toMatchObject({ code: 'bad_request' })
    const long = { name: randomBytes(4000).toString('base64url') }
    await expect(applications.insert(long)).rejects.toMatchObject({ code: 'bad_request' })
  })

  it('ends a transaction whose first failure was swallowed', async () => {
    const storage = await startNode()
    await providers(storage).insert({ name: 'taken' })
    const work = storage.transaction(systemTenancy, async (rows) => {
      await rows.service_providers.insert({ name: 'new' })
      await rows.service_providers.insert({ name: 'taken' }).catch(() => undefined)
    })
    await expect(work).rejects.toThrow()
    expect(await providers(storage).count()).toBe(1)
  })

  it('gives its connections back, whatever a transaction ends with', async () => {
    const storage = await startNode()
    const failing = Array.from({ length: 50 }, () =>
      storage.transaction(systemTenancy, async (rows) => {
        await rows.users.count()
        throw new Error('changed my mind')
      }),
    )
    expect((await Promise.allSettled(failing)).every(({ status }) => status === 'rejected')).toBe(true)
    await providers(storage).insert({ name: 'still here' })
    const [row] = await database.query(
      `select count(*)::int as open from pg_stat_activity where datname = '${database.name}' and state like 'idle in%'`,
    )
    expect(row?.['open']).toBe(0)
  })

  it('leaves no connection behind after a stop', async () => {
    const storage = await startNode()
    await providers(storage).count()
    await storage.stop()
    await until('all connections to end', async () => {
      const [row] = await database.query(
        `select count(*)::int as open from pg_stat_activity where datname = '${database.name}' and application_name like 'switchhook%'`,
      )
      return row?.['open'] === 0
    })
  })

  it('refuses a session that outlives its transaction', async () => {
    const opened = await openPostgres({ url: database.url, clock: systemClock, log: silentLogger, migrate })
    let kept: Session | undefined
    await opened.commit(async (session) => {
      kept = session
    })
    await expect(kept?.all('select 1', [])).rejects.toThrow('transaction had ended')
    await opened.close()
  })
})
