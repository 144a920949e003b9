// Handlers that are broken on purpose: they read, change and remove any id that they receive, without a check of their
// own. Their rows are bound to the client, so they still reach no foreign row.
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createCredentialSource } from '../../src/api/logins/credentials.ts'
import { createRouteBinder } from '../../src/api/define/bind-route.ts'
import type { Services } from '../../src/api/services.ts'
import { json, text } from '../../src/api/define/fields.ts'
import { defineRoute, everyone } from '../../src/api/define/route.ts'
import { repositoryOf } from '../../src/api/define/rows.ts'
import { createShapeCompiler } from '../../src/api/define/shape.ts'
import { apiRoutes } from '../../src/api/index.ts'
import { createAuthenticator } from '../../src/http/authentication.ts'
import { createHttp } from '../../src/http/create-http.ts'
import type { HttpServer } from '../../src/http/http.ts'
import { createTokens } from '../../src/http/create-tokens.ts'
import { systemTenancy } from '../../src/contracts/caller.ts'
import { silentLogger } from '../../src/lib/log.ts'
import { descriptors } from '../../src/storage/rows/descriptors.ts'
import type { TableName } from '../../src/storage/storage.ts'
import { openWorld, seedEverything, storedRows, type StoredRow, type World } from './api/world.ts'

const tables = Object.keys(descriptors) as TableName[]
const anything = { status: 200, description: 'Whatever it found.', body: json({}), isVaried: true } as const
const body = { table: text({ max: 64 }), sid: text({ max: 64 }), changes: json().default({}) }

/** The handlers. Each acts on any table and id that it receives. */
const careless = {
  read: defineRoute({
    method: 'POST',
    path: '/careless/read',
    access: everyone,
    operationId: 'carelessRead',
    tag: 'Careless',
    summary: 'Reads.',
    body,
    reply: anything,
    handle: async ({ body: { table, sid }, rows }) => ({
      found: (await repositoryOf(rows, table as TableName).find(sid)) ?? null,
      listed: await repositoryOf(rows, table as TableName).list(),
      count: await repositoryOf(rows, table as TableName).count(),
    }),
  }),
  update: defineRoute({
    method: 'POST',
    path: '/careless/update',
    access: everyone,
    operationId: 'carelessUpdate',
    tag: 'Careless',
    summary: 'Updates.',
    body,
    reply: anything,
    handle: async ({ body: { table, sid, changes }, rows }) => ({
      done: await repositoryOf(rows, table as TableName).update(sid, changes as Record<string, string>),
    }),
  }),
  remove: defineRoute({
    method: 'POST',
    path: '/careless/remove',
    access: everyone,
    operationId: 'carelessRemove',
    tag: 'Careless',
    summary: 'Removes.',
    body,
    reply: anything,
    handle: async ({ body: { table, sid }, rows }) => ({
      done: await repositoryOf(rows, table as TableName).remove(sid),
    }),
  }),
}

let world: World
let server: HttpServer
let rows: readonly StoredRow[]
beforeAll(async () => {
  world = await openWorld()
  await seedEverything(world)
  const { storage, clock } = world.api
  const log = silentLogger
  const tokens = createTokens('not used here', clock)
  const authenticator = createAuthenticator({
    source: createCredentialSource({ storage, log, refusesPublished: false }),
    tokens,
    clock,
    revision: () => storage.revision(),
  })
  // These handlers use only the storage of the services.
  const services = { storage, clock, log } as unknown as Services
  const bind = createRouteBinder({ services, storage, compile: createShapeCompiler() })
  const routes = Object.values(careless).map(bind)
  const isReady = (): boolean => true
  server = createHttp({
    bind: '127.0.0.1',
    port: 0,
    prefix: '/v1',
    routes,
    authenticator,
    isReady,
    clock,
    log,
  })
  rows = await storedRows(world.api)
})
afterAll(async () => {
  await server.stop()
  await world.close()
})

async function ask(name: keyof typeof careless, token: string, payload: object): Promise<string> {
  const answer = await server.inject({
    method: 'POST',
    url: `/v1/careless/${name}`,
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    payload,
  })
  return answer.body
}

/** Returns whether a row has an owner that is neither this client nor below it. */
function isHidden(row: StoredRow, level: 'account' | 'service_provider'): boolean {
  const { account_sid, service_provider_sid } = world.api.own
  if (row.service_provider_sid === null) return false
  if (row.service_provider_sid !== service_provider_sid) return true
  return level === 'account' && row.account_sid !== null && row.account_sid !== account_sid
}

describe.each(['account', 'service_provider'] as const)(
  'a careless handler, asked by a caller of level %s',
  (level) => {
    const token = (): string => (level === 'account' ? world.api.own.accountKey : world.api.own.providerKey)

    it.each(tables)('a careless handler reads no foreign row of %s', async (table) => {
      const foreign = rows.filter((row) => row.table === table && isHidden(row, level))
      for (const { sid } of foreign) {
        const answer = await ask('read', token(), { table, sid })
        expect(answer).toMatch(/^\{"found":null,|insufficient permissions/)
        for (const other of foreign) expect(answer).not.toContain(other.sid)
      }
    })

    it.each(tables)('a careless handler changes and removes no foreign row of %s', async (table) => {
      const { account_sid, service_provider_sid } = world.api.own
      const foreign = rows.filter((row) => row.table === table && isHidden(row, level))
      const owners = descriptors[table].owner as readonly string[]
      const steal = {
        ...(owners.includes('account_sid') && descriptors[table].key !== 'account_sid'
          ? { account_sid }
          : {}),
        ...(owners.includes('service_provider_sid') && descriptors[table].key !== 'service_provider_sid'
          ? { service_provider_sid }
          : {}),
      }
      for (const { sid } of foreign) {
        for (const name of ['update', 'remove'] as const)
          expect(await ask(name, token(), { table, sid, changes: steal })).not.toContain('"done":true')
      }
      const after = (await storedRows(world.api)).filter((row) => row.table === table && isHidden(row, level))
      expect(after).toEqual(foreign)
    })
  },
)

/** Returns whether an endpoint makes rows of a table. Tables have the names of the collections of their records. */
function hasMaker(table: string): boolean {
  const collection = table.replaceAll('_', '')
  const made = apiRoutes.filter(({ method, reply }) => method === 'POST' && reply.status === 201)
  return made.some(({ path }) => path.split('/').at(-1)?.toLowerCase() === collection)
}

describe('the tables it was tried on', () => {
  it('every table whose rows an endpoint makes holds foreign rows', async () => {
    const owned = tables.filter((table) => descriptors[table].owner.length > 0 && hasMaker(table))
    const isTried = (table: string): boolean =>
      rows.some((row) => row.table === table && isHidden(row, 'service_provider'))
    expect(owned.filter((table) => !isTried(table))).toEqual([])
  })

  it('the platform itself can read the foreign rows, so finding none through a handler is significant', async () => {
    const foreign = rows.find((row) => row.table === 'applications' && isHidden(row, 'account'))
    const found = await world.api.storage.for(systemTenancy).applications.find(foreign?.sid ?? '')
    expect(found).toBeDefined()
  })
})
