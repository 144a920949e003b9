// Every declared route against every kind of client and every kind of target, over a real socket. The required response
// of each cell follows from the table of rights, which is written by hand; authorization-rules.ts names the routes for
// which it does not.
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest'
import { covers } from '../support/covers.ts'
import type { ApiRoute } from '../../src/api/define/route.ts'
import { apiRoutes } from '../../src/api/index.ts'
import { createSid } from '../../src/lib/ids.ts'
import { expectationOf, targetsOf, type Target } from './api/authorization-rules.ts'
import { rightOf, rightsWithoutRoute } from './api/rights.ts'
import { parametersOf } from './api/valid-input.ts'
import {
  marks,
  openWorld,
  seedEverything,
  storedRows,
  targetNames,
  type HttpAnswer,
  type StoredRow,
  type World,
  type WorldCaller,
} from './api/world.ts'

const title = ({ method, path }: ApiRoute): string => `${method} ${path}`

let world: World
beforeAll(async () => {
  world = await openWorld()
  await seedEverything(world)
})
afterAll(() => world.close())

interface Cell {
  readonly route: ApiRoute
  readonly caller: WorldCaller
  readonly target: Target
  /** Whether the record is made for this cell, and so may be changed or removed. */
  readonly isFresh: boolean
}

async function send({ route, caller, target, isFresh }: Cell): Promise<HttpAnswer> {
  const tenant = world.tenant(target.tenant)
  const path = await pathOf(route, target, isFresh)
  const query = await world.input.query(route, tenant)
  return world.send(route.method, path + query, {
    authorization: caller.authorization,
    body: await bodyOf(route, target),
  })
}

async function pathOf(route: ApiRoute, { tenant, record }: Target, isFresh: boolean): Promise<string> {
  const parameters = parametersOf(route.path)
  let path = route.path
  for (const [index, parameter] of parameters.entries()) {
    const isTenant = parameter.name === 'AccountSid' || parameter.name === 'ServiceProviderSid'
    const owner = isTenant ? tenant : record
    const isLast = index === parameters.length - 1
    const id =
      owner === 'missing' && !isTenant
        ? createSid()
        : await world.input.id(parameter, world.tenant(owner), isFresh && isLast)
    path = path.replace(`{${parameter.name}}`, encodeURIComponent(id))
  }
  return path
}

/** Returns all callers, but on PostgreSQL only the keys: the other ways to a level do not depend on SQL. */
const callers = (): readonly WorldCaller[] =>
  inject('store') === 'SQLite' ? world.callers : world.callers.filter(({ name }) => / key$/.test(name))

/** Returns the targets. An invalid token is refused before the target is looked up; only "no token" tries them all. */
function refusalTargetsOf(route: ApiRoute, { level, name }: WorldCaller): readonly Target[] {
  const targets = targetsOf(route)
  return level === 'none' && name !== 'no token' ? targets.slice(0, 1) : targets
}

/** Returns the body. A missing tenant has no records to name in it, so those of the foreign one are used. */
async function bodyOf(route: ApiRoute, { tenant }: Target): Promise<unknown> {
  if (route.body === undefined) return undefined
  const stand = world.tenant(tenant === 'missing' ? 'foreign' : tenant)
  const body = await world.input.body(route, stand)
  if (tenant !== 'missing' || typeof body !== 'object' || body === null || Array.isArray(body)) return body
  const { account_sid, service_provider_sid } = world.tenant('missing')
  return {
    ...body,
    ...('account_sid' in body ? { account_sid } : {}),
    ...('service_provider_sid' in body ? { service_provider_sid } : {}),
  }
}

/** Returns the parts of a response that could distinguish a foreign record from a missing one. */
function telling({ status, headers, body }: HttpAnswer): object {
  const { date: _date, 'x-request-id': _id, ...rest } = headers
  const { request_id: _request, ...said } = (body ?? {}) as Record<string, unknown>
  const steady = Object.fromEntries(
    Object.entries(rest).filter(([name]) => !/^ratelimit|^retry-after/.test(name)),
  )
  return { status, headers: steady, said }
}

describe('the table of rights', () => {
  it('the table of rights has every route, and no route that is not served', () => {
    const unknown = apiRoutes.filter((route) => rightOf(route) === undefined).map(title)
    expect(unknown, 'add these routes to rights.ts').toEqual([])
    expect(rightsWithoutRoute(apiRoutes)).toEqual([])
  })

  it('the table of rights equals the declarations of the routes, and so the reference', () => {
    for (const route of apiRoutes) {
      const { access } = route
      const declared = access === 'public' ? undefined : [...access].sort()
      expect(declared, title(route)).toEqual(rightOf(route)?.levels?.toSorted())
    }
  })
})

describe.each(apiRoutes.map((route) => [title(route), route] as const))('%s', (_title, route) => {
  it(
    'refuses every caller it must refuse, alike whether the record is foreign or missing, and writes nothing',
    covers(
      {
        section: 'Endpoints: Accounts',
        says: 'POST Limits needs the key of an administrator or a service provider.',
      },
      {
        section: 'Endpoints: Speech credential test',
        says: 'The test needs the key of an administrator or a service provider.',
      },
      { section: 'Authentication', says: 'Every endpoint needs a bearer token.' },
    ),
    async () => {
      // Paths and bodies make records, so they are made before the count.
      for (const target of targetsOf(route)) await pathOf(route, target, false)
      for (const target of targetsOf(route)) await bodyOf(route, target)
      const before = await marks(world.api)
      for (const caller of callers()) {
        const refusals = new Map<string, HttpAnswer>()
        const hidden = await rowsHiddenFrom(caller)
        for (const target of refusalTargetsOf(route, caller)) {
          const expected = expectationOf(route, caller, target)
          if (expected === undefined || expected.status < 400) continue
          const answer = await send({ route, caller, target, isFresh: false })
          const cell = `${caller.name}, ${target.tenant}/${target.record}: ${answer.text}`
          expect(answer.status, cell).toBe(expected.status)
          expect(answer.body, cell).toHaveProperty('msg', expected.msg ?? expect.any(String))
          expectNoLeak(route, answer, hidden, cell)
          refusals.set(`${target.tenant}/${target.record}`, answer)
        }
        expectAlike(route, refusals, caller)
      }
      expect(await marks(world.api)).toEqual(before)
    },
  )

  it('every client with the right is served, and no record of others is shown or changed', async () => {
    for (const caller of callers()) {
      for (const target of targetsOf(route)) {
        const expected = expectationOf(route, caller, target)
        if (expected === undefined || expected.status >= 400) continue
        const isFresh = route.method === 'DELETE' && route.path.endsWith('}')
        const path = await pathOf(route, target, false)
        await bodyOf(route, target)
        const others = await rowsHiddenFrom(caller)
        const answer = await send({ route, caller, target, isFresh })
        const cell = `${caller.name}, ${target.tenant}/${target.record}, ${path}: ${answer.text.slice(0, 300)}`
        expect(answer.status, cell).toBe(expected.status)
        expectNoLeak(route, answer, others, cell)
        expect(await rowsHiddenFrom(caller), cell).toEqual(others)
      }
    }
  })
})

/** Compares refusals, and only if both requests were refused: an administrator can read the foreign record. */
function expectAlike(
  { path }: ApiRoute,
  refusals: ReadonlyMap<string, HttpAnswer>,
  { name }: WorldCaller,
): void {
  // A sibling has the same provider, so a record missing there is missing below the own one.
  const missingSibling = path.startsWith('/ServiceProviders/') ? 'own/missing' : 'missing/missing'

  const pairs = [
    ['foreign/foreign', 'missing/missing'],
    ['sibling/sibling', missingSibling],
    ['own/foreign', 'own/missing'],
    ['own/sibling', 'own/missing'],
  ] as const
  for (const [foreign, missing] of pairs) {
    const [one, other] = [refusals.get(foreign), refusals.get(missing)]
    if (one !== undefined && other !== undefined)
      expect(telling(one), `${name}: ${foreign}`).toEqual(telling(other))
  }
}

const hiddenFrom = new WeakMap<readonly StoredRow[], Map<WorldCaller['level'], readonly string[]>>()

async function rowsHiddenFrom({ level }: WorldCaller): Promise<readonly string[]> {
  const rows = await storedRows(world.api)
  const known = hiddenFrom.get(rows) ?? new Map<WorldCaller['level'], readonly string[]>()
  hiddenFrom.set(rows, known)
  const hidden = known.get(level) ?? hiddenAmong(rows, level)
  known.set(level, hidden)
  return hidden
}

function hiddenAmong(rows: readonly StoredRow[], level: WorldCaller['level']): readonly string[] {
  const { account_sid, service_provider_sid } = world.api.own
  if (level === 'admin') return []
  const hidden = rows.filter((row) => {
    if (row.service_provider_sid === null && row.account_sid === null) return privateTables.has(row.table)
    if (row.service_provider_sid !== service_provider_sid) return true
    return level === 'account' && row.account_sid !== null && row.account_sid !== account_sid
  })
  return hidden.map(({ mark }) => mark).sort()
}

/** The tables with rows of the platform itself that lower levels must not see. */
const privateTables = new Set(['api_keys', 'users', 'webhooks', 'voip_carriers', 'speech_credentials'])

/** The routes that show who changed a record of the client, which may be a user or key of a higher level. */
const namesActors = new Set(['GET /AuditLog'])

/** Checks that a response contains no id of a row that the client may not see. */
function expectNoLeak(route: ApiRoute, { text }: HttpAnswer, hidden: readonly string[], cell: string): void {
  const isActor = (mark: string): boolean => /^(users|api_keys)\//.test(mark)
  const secret = namesActors.has(title(route)) ? hidden.filter((mark) => !isActor(mark)) : hidden
  const sids = secret.map((mark) => mark.split('/')[1] ?? '')
  expect(
    sids.filter((sid) => sid !== '' && text.includes(sid)),
    `leaked to ${cell}`,
  ).toEqual([])
}

describe('the table of cells', () => {
  it('the table of cells covers every client and every target', () => {
    expect(world.callers.map(({ level }) => level)).toEqual(
      expect.arrayContaining(['none', 'account', 'service_provider', 'admin']),
    )
    const seen = new Set(apiRoutes.flatMap((route) => targetsOf(route).map(({ tenant }) => tenant)))
    expect([...seen].sort()).toEqual([...targetNames].sort())
  })
})
