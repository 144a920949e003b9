// For every resource with lists and single records: a record in a list equals the record that is read alone, on either
// store.
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { ApiRoute } from '../../src/api/define/route.ts'
import { apiRoutes } from '../../src/api/index.ts'
import type { TestTenant } from '../support/api-tenants.ts'
import { openWorld, type World } from './api/world.ts'

let world: World
beforeAll(async () => {
  world = await openWorld()
})
afterAll(() => world.close())

// The interface spec defines a separate form for the list of users.
const hasOwnForm = new Set(['/Users'])

interface Collection {
  readonly list: ApiRoute
  readonly create: ApiRoute | undefined
  readonly update: ApiRoute | undefined
}

const collections = apiRoutes
  .filter(({ method, path }) => method === 'GET' && !path.endsWith('}'))
  .flatMap((list): Collection[] => {
    const routeOf = (method: string, path: RegExp): ApiRoute | undefined =>
      apiRoutes.find((route) => route.method === method && path.test(route.path))
    const [all, one] = [new RegExp(`^${list.path}$`), new RegExp(`^${list.path}/\\{\\w+\\}$`)]
    // A path that contains a tenant has the same records as the one without it.
    if (list.path.includes('{') || hasOwnForm.has(list.path) || routeOf('GET', one) === undefined) return []
    return [{ list, create: routeOf('POST', all), update: routeOf('PUT', one) }]
  })

const get = (path: string): Promise<{ readonly status: number; readonly body: unknown }> =>
  world.api.get(path, world.api.adminKey)

/** Makes one record with the required fields, one with all fields, and one that is changed to have all fields. */
async function fill({ create, update }: Collection, tenant: TestTenant): Promise<void> {
  const { adminKey } = world.api
  if (create !== undefined)
    for (const isFull of [false, true]) {
      const body = await world.input.body(create, tenant, isFull)
      const { status } = await world.api.post(await world.input.path(create, tenant), adminKey, body)
      expect(status, JSON.stringify(body)).toBe(create.reply.status)
    }
  if (update !== undefined) {
    const path = await world.input.path(update, tenant, true)
    await world.api.put(path, adminKey, await world.input.body(update, tenant, true))
  }
}

describe.each(collections.map((collection) => [collection.list.path, collection] as const))(
  'a record in the list of %s',
  (path, collection) => {
    it('a record in a list equals the record that is read alone', async () => {
      await fill(collection, world.api.own)
      const query = await world.input.query(collection.list, world.api.own)
      const { status, body } = await get(`${path}${query}`)
      expect(status).toBe(200)
      const records = body as readonly Readonly<Record<string, unknown>>[]
      expect(records.length).toBeGreaterThan(0)
      for (const record of records) {
        // The record's own id is its first member.
        const [sid] = Object.values(record)
        const alone = await get(`${path}/${String(sid)}`)
        expect(record).toStrictEqual(alone.body)
      }
    })
  },
)
