// Every GET with a client that disconnects during each of its reads: no read is made for it after that. Over real
// sockets, with the real storage behind a gate that holds one read back until the client has disconnected.
import { once } from 'node:events'
import { request as httpRequest, type ClientRequest } from 'node:http'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { apiRoutes } from '../../src/api/index.ts'
import type { Asker } from '../../src/lib/asker.ts'
import { systemTenancy } from '../../src/contracts/caller.ts'
import { createSid } from '../../src/lib/ids.ts'
import { createLogger } from '../../src/lib/log.ts'
import type { Storage, Repositories, TableName } from '../../src/storage/storage.ts'
import { descriptors } from '../../src/storage/rows/descriptors.ts'
import { Inbox } from '../support/wait.ts'
import { openWorld, seedEverything, type World } from './api/world.ts'

interface LogLine {
  readonly level: number
  readonly msg: string
  readonly status?: number
  readonly outcome?: string
}

const warnLevel = 40

/** The gate of one request: it counts the reads and holds one back. */
class Gate {
  readonly #holdAt: number
  readonly #held = Promise.withResolvers<'held'>()
  reads = 0
  /** The reads that were made for a client that had disconnected. */
  readonly late: string[] = []
  /** The reads that were made without a client. */
  readonly unasked: string[] = []

  constructor(holdAt: number) {
    this.#holdAt = holdAt
  }

  /** Resolves when a read is being held. */
  get held(): Promise<'held'> {
    return this.#held.promise
  }

  async pass<R>(name: string, asker: Asker | undefined, read: () => Promise<R>): Promise<R> {
    if (asker === undefined) {
      this.unasked.push(name)
      return read()
    }
    if (++this.reads === this.#holdAt) {
      this.#held.resolve('held')
      await once(asker.signal(), 'abort')
    }
    const { isGone } = asker
    const result = await read()
    if (isGone) this.late.push(name)
    return result
  }
}

let gate = new Gate(Number.POSITIVE_INFINITY)

// All other methods of a part of storage are reads.
const notReading = new Set(['insert', 'update', 'remove'])

type Method = (...given: unknown[]) => Promise<unknown>

/** Returns `target` with its reads for one client behind the gate. */
function gated<T extends object>(target: T, name: string, asker: Asker | undefined): T {
  return new Proxy(target, {
    get(_target, member) {
      const value: unknown = Reflect.get(target, member, target)
      if (typeof value !== 'function') return value
      const method = value.bind(target) as Method
      if (notReading.has(String(member))) return method
      return (...given: unknown[]) => gate.pass(`${name}.${String(member)}`, asker, () => method(...given))
    },
  })
}

function gatedStorage(storage: Storage): Storage {
  return {
    ...storage,
    // Authentication reads without a client, since one read serves all requests with the same token; it bypasses the
    // gate.
    boundTo(behalf) {
      const bound = storage.boundTo(behalf)
      const { asker } = behalf
      return {
        ...bound,
        for(tenancy) {
          const rows = bound.for(tenancy)
          const tables = Object.keys(descriptors) as TableName[]
          return Object.fromEntries(
            tables.map((table) => [table, gated(rows[table], table, asker)]),
          ) as unknown as Repositories
        },
        recentCalls: gated(bound.recentCalls, 'recentCalls', asker),
        journal: gated(bound.journal, 'journal', asker),
        alerts: gated(bound.alerts, 'alerts', asker),
        audit: gated(bound.audit, 'audit', asker),
      }
    },
  }
}

const lines = new Inbox<LogLine>()
let world: World
let admin: string
beforeAll(async () => {
  const log = createLogger('debug', { write: (line) => lines.push(JSON.parse(line) as LogLine) })
  world = await openWorld({ log, wrapStorage: gatedStorage })
  await seedEverything(world)
  // Only a user may request /Users/me.
  admin = world.callers.find(({ level, isUser }) => level === 'admin' && isUser)?.authorization ?? ''
})
afterAll(() => world.close())

function ask(path: string): { request: ClientRequest; answered: Promise<'answered'> } {
  const answered = Promise.withResolvers<'answered'>()
  const { port } = world.api.http.address
  const headers = { authorization: admin }
  const request = httpRequest(
    { host: '127.0.0.1', port, path: `/v1${path}`, headers, agent: false },
    (response) => {
      response.resume().on('end', () => answered.resolve('answered'))
    },
  )
  request.on('error', () => undefined).end()
  return { request, answered: answered.promise }
}

const gets = apiRoutes.filter(({ method }) => method === 'GET')
// Their responses contain no rows.
const readNothing = ['/AppEnv', '/PredefinedCarriers', '/TtsCache']

describe('GET', () => {
  // Any change empties the cache of lists.
  beforeEach(async () => {
    await world.api.storage.for(systemTenancy).settings.insert({ name: createSid(), value: '' })
  })

  it.each(gets.map((route) => [route.path, route] as const))('%s', async (_path, route) => {
    const path =
      (await world.input.path(route, world.api.own)) + (await world.input.query(route, world.api.own))
    for (let holdAt = 1; ; holdAt++) {
      gate = new Gate(holdAt)
      const from = lines.items.length
      const { request, answered } = ask(path)
      if ((await Promise.race([gate.held, answered])) === 'answered') break
      request.destroy()
      const line = await lines.next('the end of the request', ({ msg }) => msg === 'client went away', {
        from,
      })
      expect(line).toMatchObject({ status: 499, outcome: 'given up' })
      expect(gate.late).toEqual([])
      expect(lines.items.slice(from).filter(({ level }) => level >= warnLevel)).toEqual([])
    }
    expect(gate.unasked).toEqual([])
    expect(gate.reads === 0, `${gate.reads} reads`).toBe(readNothing.includes(route.path))
  })
})
