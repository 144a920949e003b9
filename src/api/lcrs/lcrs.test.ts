import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { systemTenancy } from '../../contracts/caller.ts'
import { createSid } from '../../lib/ids.ts'
import { openTestApi, type TestApi } from '../../../test/support/api.ts'

let api: TestApi
let ownCarrier: string
let siblingCarrier: string
let sharedCarrier: string
beforeAll(async () => {
  api = await openTestApi()
  const carrier = (owner: object): Promise<string> =>
    post('/VoipCarriers', api.adminKey, { name: 'a carrier', ...owner })
  ownCarrier = await carrier({ account_sid: api.own.account_sid })
  siblingCarrier = await carrier({ account_sid: api.sibling.account_sid })
  sharedCarrier = await carrier({ service_provider_sid: api.own.service_provider_sid })
})
afterAll(() => api.close())
// An owner may have one table only.
beforeEach(async () => {
  const { lcrs } = api.storage.for(systemTenancy)
  for (const { lcr_sid } of await lcrs.list()) await lcrs.remove(lcr_sid)
})

async function post(path: string, token: string, sent: object): Promise<string> {
  const answer = await api.post(path, token, sent)
  expect(answer.text).toMatch(/^\{"sid":"[0-9a-f-]{36}"\}$/)
  expect(answer.status).toBe(201)
  return (answer.body as { sid: string }).sid
}

const create = (more: object = {}, token = api.own.accountKey): Promise<string> =>
  post('/Lcrs', token, { name: 'a table', ...more })
const read = async (sid: string): Promise<Record<string, unknown>> =>
  (await api.get(`/Lcrs/${sid}`, api.adminKey)).body

interface Entry {
  readonly lcr_carrier_set_entry_sid: string
  readonly voip_carrier_sid: string
  readonly workload: number
  readonly priority: number
}
interface Route {
  readonly lcr_route_sid: string
  readonly regex: string
  readonly priority: number
  readonly lcr_carrier_set_entries: Entry[]
}

const routesOf = async (lcr: string, token = api.own.accountKey): Promise<Route[]> =>
  (await api.get(`/LcrRoutes?lcr_sid=${lcr}`, token)).body
const route = (priority: number, more: object = {}) => ({
  regex: '^49',
  priority,
  lcr_carrier_set_entries: [{ voip_carrier_sid: ownCarrier }],
  ...more,
})

describe('POST /Lcrs', () => {
  it('answers 201 {sid}, and the record reads back whole', async () => {
    const { account_sid, service_provider_sid } = api.own
    const sid = await create()
    expect(await read(sid)).toEqual({
      lcr_sid: sid,
      name: 'a table',
      is_active: 1,
      default_carrier_set_entry_sid: null,
      account_sid,
      service_provider_sid,
      number_routes: 0,
    })
    expect(await read(await create({}, api.own.providerKey))).toMatchObject({
      account_sid: null,
      service_provider_sid,
    })
    expect(await read(await create({}, api.adminKey))).toMatchObject({ service_provider_sid: null })
    const { account_sid: sibling } = api.sibling
    expect(await read(await create({ account_sid: sibling }, api.adminKey))).toMatchObject({
      account_sid: sibling,
      service_provider_sid,
    })
  })

  it('answers 400 when the account or provider has one already', async () => {
    await create()
    await create({}, api.own.providerKey)
    const { account_sid, service_provider_sid, accountKey, providerKey } = api.own
    for (const [token, sent, owner] of [
      [accountKey, {}, 'account'],
      [providerKey, {}, 'service provider'],
      [providerKey, { account_sid }, 'account'],
      [api.adminKey, { account_sid }, 'account'],
      [api.adminKey, { service_provider_sid }, 'service provider'],
    ] as const) {
      const answer = await api.post('/Lcrs', token, { name: 'another', ...sent })
      expect(answer.status).toBe(400)
      expect(answer.body).toMatchObject({
        code: 'already_exists',
        msg: `this ${owner} already has a routing table`,
      })
    }
  })

  it.each([
    ['no name', { name: undefined }, 'name is required'],
    ['null for the name', { name: null }, 'name must be'],
    ['a number as name', { name: 5 }, 'name must be text'],
    ['a long name', { name: 'x'.repeat(65) }, 'name must have at most 64'],
    ['CR LF', { name: 'a\r\nb' }, 'name must not contain control characters'],
    ['an unknown account', { account_sid: createSid() }, 'account_sid names no'],
    ['an unknown provider', { service_provider_sid: createSid() }, 'service_provider_sid names no'],
    [
      'a default',
      { default_carrier_set_entry_sid: createSid() },
      'default_carrier_set_entry_sid names no entry',
    ],
  ])('answers 400 {msg} naming the field for %s', async (_name, more, msg) => {
    const answer = await api.post('/Lcrs', api.adminKey, { name: 'a table', ...more })
    expect(answer.status).toBe(400)
    expect((answer.body as { msg: string }).msg).toContain(msg)
  })

  it('answers 403 for another owner', async () => {
    const { account_sid } = api.foreign
    for (const token of [api.own.accountKey, api.own.providerKey])
      expect((await api.post('/Lcrs', token, { name: 'x', account_sid })).status).toBe(403)
  })
})

describe('GET /Lcrs', () => {
  it('lists what the caller may see; to a provider its own table, unless it asks for an account’s', async () => {
    const sids = {
      own: await create(),
      provider: await create({}, api.own.providerKey),
      sibling: await create({}, api.sibling.accountKey),
      foreign: await create({}, api.foreign.accountKey),
    }
    const seenBy = async (token: string, query = ''): Promise<string[]> => {
      const { text } = await api.get(`/Lcrs${query}`, token)
      return Object.entries(sids).flatMap(([name, sid]) => (text.includes(sid) ? [name] : []))
    }
    expect(await seenBy(api.own.accountKey)).toEqual(['own'])
    expect(await seenBy(api.own.providerKey)).toEqual(['provider'])
    expect(await seenBy(api.own.providerKey, `?account_sid=${api.own.account_sid}`)).toEqual(['own'])
    expect(await seenBy(api.own.providerKey, `?account_sid=${api.foreign.account_sid}`)).toEqual([])
    expect(await seenBy(api.adminKey)).toEqual(Object.keys(sids))
  })

  it('answers 404 alike for a missing and a foreign one, 400 for a malformed one, below it too', async () => {
    const foreign = await create({}, api.sibling.accountKey)
    for (const [sid, status] of [
      [foreign, 404],
      [createSid(), 404],
      ['nonsense', 400],
    ] as const) {
      for (const method of ['GET', 'PUT', 'DELETE'] as const)
        expect((await api.request(method, `/Lcrs/${sid}`, api.own.accountKey)).status).toBe(status)
      for (const method of ['POST', 'PUT'] as const) {
        const answer = await api.request(method, `/Lcrs/${sid}/Routes`, api.own.accountKey, {
          body: [route(1)],
        })
        expect(answer.status).toBe(status)
      }
    }
    expect(await read(foreign)).toHaveProperty('number_routes', 0)
  })
})

describe('PUT and DELETE /Lcrs/{sid}', () => {
  it('change what is sent, and take the full record back', async () => {
    const sid = await create()
    const put = (sent: object) => api.put(`/Lcrs/${sid}`, api.own.accountKey, sent)
    expect((await put({ is_active: false, name: 'renamed' })).status).toBe(204)
    const record = await read(sid)
    expect(record).toMatchObject({ is_active: 0, name: 'renamed' })
    expect((await put(record)).status).toBe(204)
    expect(await read(sid)).toEqual(record)
    for (const change of [{ account_sid: api.sibling.account_sid }, { lcr_sid: createSid() }])
      expect((await put(change)).status).toBe(400)
  })

  it('take a default only from the table’s own entries', async () => {
    const sid = await create()
    const other = await create({}, api.sibling.accountKey)
    const entries = { lcr_carrier_set_entries: [{ voip_carrier_sid: sharedCarrier }] }
    await api.post(`/Lcrs/${other}/Routes`, api.sibling.accountKey, [route(1, entries)])
    await api.post(`/Lcrs/${sid}/Routes`, api.own.accountKey, [route(1)])
    const entryOf = async (lcr: string): Promise<string> =>
      (await routesOf(lcr, api.adminKey))[0]!.lcr_carrier_set_entries[0]!.lcr_carrier_set_entry_sid
    const put = (entry: string) =>
      api.put(`/Lcrs/${sid}`, api.adminKey, { default_carrier_set_entry_sid: entry })
    expect((await put(await entryOf(other))).status).toBe(400)
    expect((await put(createSid())).status).toBe(400)
    expect((await put(await entryOf(sid))).status).toBe(204)
    expect(await read(sid)).toHaveProperty('default_carrier_set_entry_sid', await entryOf(sid))
  })

  it('answers 204, and the table is gone with its routes and entries', async () => {
    const sid = await create()
    await api.post(`/Lcrs/${sid}/Routes`, api.own.accountKey, [route(1), route(9999)])
    expect((await api.delete(`/Lcrs/${sid}`, api.own.accountKey)).status).toBe(204)
    const rows = api.storage.for(systemTenancy)
    for (const table of ['lcrs', 'lcr_routes', 'lcr_carrier_set_entries'] as const)
      expect(await rows[table].count()).toBe(0)
  })
})

describe('POST /Lcrs/{sid}/Routes', () => {
  it('makes routes with their entries, and lists them in the order they are tried', async () => {
    const sid = await create()
    const lcr_carrier_set_entries = [
      { voip_carrier_sid: sharedCarrier, workload: 3, priority: 2 },
      { voip_carrier_sid: ownCarrier, priority: 1 },
    ]
    const sent = [route(5), route(1, { description: 'first', lcr_carrier_set_entries })]
    const answer = await api.post(`/Lcrs/${sid}/Routes`, api.own.accountKey, sent)
    expect(answer.status).toBe(204)
    const routes = await routesOf(sid)
    expect(routes).toMatchObject([
      {
        lcr_sid: sid,
        priority: 1,
        description: 'first',
        lcr_carrier_set_entries: [
          { voip_carrier_sid: ownCarrier, workload: 1, priority: 1 },
          { voip_carrier_sid: sharedCarrier, workload: 3, priority: 2 },
        ],
      },
      { priority: 5, description: null, lcr_carrier_set_entries: [{ workload: 1, priority: 0 }] },
    ])
    const [first] = routes
    expect((await api.get(`/LcrRoutes/${first!.lcr_route_sid}`, api.own.accountKey)).body).toEqual(first)
    expect(await read(sid)).toMatchObject({ number_routes: 2, default_carrier_set_entry_sid: null })
  })

  it('makes the entry of a route of priority 9999 the default', async () => {
    const sid = await create()
    await api.post(`/Lcrs/${sid}/Routes`, api.own.accountKey, [route(1), route(9999)])
    const last = (await routesOf(sid)).at(-1)!
    expect(await read(sid)).toHaveProperty(
      'default_carrier_set_entry_sid',
      last.lcr_carrier_set_entries[0]!.lcr_carrier_set_entry_sid,
    )
    expect((await api.put(`/Lcrs/${sid}`, api.own.accountKey, await read(sid))).status).toBe(204)
  })

  it.each([
    ['no list', () => ({}), 'routes must be a list'],
    ['nothing', () => undefined, 'routes is required'],
    ['a route that is no object', () => [5], 'routes.0 must be an object'],
    ['no regex', () => [{ ...route(1), regex: undefined }], 'routes.0.regex is required'],
    [
      'a long regex',
      () => [route(1, { regex: '1'.repeat(33) })],
      'routes.0.regex must have at most 32 characters',
    ],
    [
      'CR LF in a regex',
      () => [route(1, { regex: '1\r\n' })],
      'routes.0.regex must not contain control characters',
    ],
    [
      'a regex that is none',
      () => [route(1), route(2, { regex: '(1' })],
      'routes.1.regex must be a regular expression',
    ],
    [
      'a regex that would take for ever',
      () => [route(1, { regex: '(1)\\1' })],
      'routes.0.regex must be a regular expression',
    ],
    ['no priority', () => [{ ...route(1), priority: undefined }], 'routes.0.priority is required'],
    [
      'a priority as text',
      () => [{ ...route(1), priority: '1' }],
      'routes.0.priority must be a whole number',
    ],
    [
      'no entries',
      () => [{ ...route(1), lcr_carrier_set_entries: undefined }],
      'lcr_carrier_set_entries is required',
    ],
    [
      'an empty list of entries',
      () => [route(1, { lcr_carrier_set_entries: [] })],
      'lcr_carrier_set_entries',
    ],
    [
      'an entry without a carrier',
      () => [route(1, { lcr_carrier_set_entries: [{}] })],
      'voip_carrier_sid is required',
    ],
    [
      'an unknown carrier',
      () => [route(1), route(2, { lcr_carrier_set_entries: [{ voip_carrier_sid: createSid() }] })],
      'routes.1.lcr_carrier_set_entries.0.voip_carrier_sid names no voip carrier',
    ],
    [
      'a workload of 0',
      () => [route(1, { lcr_carrier_set_entries: [{ voip_carrier_sid: createSid(), workload: 0 }] })],
      'workload must be at least 1',
    ],
    ['too many', () => Array.from({ length: 101 }, () => route(1)), 'routes must have at most 100 members'],
  ])('answers 400 naming the place for %s, and writes nothing', async (_name, sent, msg) => {
    const sid = await create()
    for (const method of ['POST', 'PUT'] as const) {
      const answer = await api.request(method, `/Lcrs/${sid}/Routes`, api.own.accountKey, { body: sent() })
      expect(answer.status).toBe(400)
      expect((answer.body as { msg: string }).msg).toContain(msg)
      const rows = api.storage.for(systemTenancy)
      expect([await rows.lcr_routes.count(), await rows.lcr_carrier_set_entries.count()]).toEqual([0, 0])
    }
  })

  it('answers 400 for a carrier of another account, also to those who see it', async () => {
    const sid = await create()
    const entries = { lcr_carrier_set_entries: [{ voip_carrier_sid: siblingCarrier }] }
    for (const token of [api.own.accountKey, api.own.providerKey, api.adminKey])
      expect((await api.post(`/Lcrs/${sid}/Routes`, token, [route(1, entries)])).status).toBe(400)
  })
})

describe('the routes of a table', () => {
  it('are at most 100, however they are made', async () => {
    const sid = await create()
    const token = api.own.accountKey
    const many = Array.from({ length: 100 }, (_, index) => route(index))
    expect((await api.post(`/Lcrs/${sid}/Routes`, token, many)).status).toBe(204)
    for (const answer of [
      await api.post(`/Lcrs/${sid}/Routes`, token, [route(1)]),
      await api.request('PUT', `/Lcrs/${sid}/Routes`, token, { body: [route(1)] }),
      await api.post('/LcrRoutes', token, { lcr_sid: sid, regex: '^1', priority: 1 }),
    ]) {
      expect(answer.status).toBe(422)
      expect(answer.body).toMatchObject({ code: 'quota_reached' })
    }
  })
})

describe('PUT /Lcrs/{sid}/Routes', () => {
  it('changes what brings its id, makes the others, and leaves alone what is not listed', async () => {
    const sid = await create()
    await api.post(`/Lcrs/${sid}/Routes`, api.own.accountKey, [route(1), route(2)])
    const [first, second] = await routesOf(sid)
    const [entry] = first!.lcr_carrier_set_entries
    const sent = [
      {
        ...first!,
        regex: '^44',
        lcr_carrier_set_entries: [
          { ...entry!, workload: 7 },
          { voip_carrier_sid: sharedCarrier, priority: 1 },
        ],
      },
      route(3),
    ]
    expect((await api.put(`/Lcrs/${sid}/Routes`, api.own.accountKey, sent)).status).toBe(204)
    const after = await routesOf(sid)
    expect(after).toMatchObject([
      {
        lcr_route_sid: first!.lcr_route_sid,
        regex: '^44',
        lcr_carrier_set_entries: [{ ...entry!, workload: 7 }, { voip_carrier_sid: sharedCarrier }],
      },
      second!,
      { priority: 3 },
    ])
    expect(after).toHaveLength(3)
  })

  it('answers 400 for a route or an entry of another table, and changes nothing', async () => {
    const [sid, other] = [await create(), await create({}, api.sibling.accountKey)]
    const entries = { lcr_carrier_set_entries: [{ voip_carrier_sid: sharedCarrier }] }
    await api.post(`/Lcrs/${sid}/Routes`, api.own.accountKey, [route(1)])
    await api.post(`/Lcrs/${other}/Routes`, api.sibling.accountKey, [route(1, entries)])
    const [mine] = await routesOf(sid)
    const [theirs] = await routesOf(other, api.adminKey)
    const before = await routesOf(other, api.adminKey)
    for (const [wrong, msg] of [
      [{ ...mine!, lcr_route_sid: theirs!.lcr_route_sid }, 'routes.1.lcr_route_sid names no route'],
      [
        { ...mine!, lcr_carrier_set_entries: theirs!.lcr_carrier_set_entries },
        'routes.1.lcr_carrier_set_entries.0.lcr_carrier_set_entry_sid names no entry',
      ],
    ] as const)
      for (const token of [api.own.accountKey, api.adminKey]) {
        const answer = await api.put(`/Lcrs/${sid}/Routes`, token, [route(8), wrong])
        expect(answer.status).toBe(400)
        expect((answer.body as { msg: string }).msg).toContain(msg)
      }
    expect(await routesOf(sid)).toEqual([mine])
    expect(await routesOf(other, api.adminKey)).toEqual(before)
  })
})

describe('/LcrRoutes and /LcrCarrierSetEntries', () => {
  it('are made, read, changed and removed one by one', async () => {
    const lcr_sid = await create()
    const lcr_route_sid = await post('/LcrRoutes', api.own.accountKey, { lcr_sid, regex: '1', priority: 1 })
    expect(await routesOf(lcr_sid)).toMatchObject([{ lcr_carrier_set_entries: [] }])
    const sent = { lcr_route_sid, voip_carrier_sid: ownCarrier }
    const entry = await post('/LcrCarrierSetEntries', api.own.accountKey, sent)
    const path = `/LcrCarrierSetEntries/${entry}`
    expect((await api.get(path, api.own.accountKey)).body).toEqual({
      lcr_carrier_set_entry_sid: entry,
      ...sent,
      workload: 1,
      priority: 0,
    })
    const change = { workload: 2, voip_carrier_sid: sharedCarrier }
    expect((await api.put(path, api.own.accountKey, change)).status).toBe(204)
    const listed = await api.get(`/LcrCarrierSetEntries?lcr_route_sid=${lcr_route_sid}`, api.own.accountKey)
    expect(listed.body).toMatchObject([change])
    const [whole] = await routesOf(lcr_sid)
    const ofRoute = `/LcrRoutes/${lcr_route_sid}`
    expect((await api.put(ofRoute, api.own.accountKey, { ...whole, regex: '2' })).status).toBe(204)
    expect(await routesOf(lcr_sid)).toEqual([{ ...whole, regex: '2' }])
    expect((await api.delete(ofRoute, api.own.accountKey)).status).toBe(204)
    expect((await api.get(path, api.own.accountKey)).status).toBe(404)
  })

  it('follow the default through every change', async () => {
    const lcr_sid = await create()
    const standard = async (): Promise<unknown> => (await read(lcr_sid))['default_carrier_set_entry_sid']
    const sent = { lcr_sid, regex: '.*', priority: 9999 }
    const lcr_route_sid = await post('/LcrRoutes', api.own.accountKey, sent)
    expect(await standard()).toBe(null)
    const entry = (priority: number) =>
      post('/LcrCarrierSetEntries', api.own.accountKey, {
        lcr_route_sid,
        voip_carrier_sid: ownCarrier,
        priority,
      })
    const later = await entry(2)
    expect(await standard()).toBe(later)
    const sooner = await entry(1)
    expect(await standard()).toBe(sooner)
    await api.put(`/LcrCarrierSetEntries/${sooner}`, api.own.accountKey, { priority: 3 })
    expect(await standard()).toBe(later)
    await api.delete(`/LcrCarrierSetEntries/${later}`, api.own.accountKey)
    expect(await standard()).toBe(sooner)
    await api.put(`/LcrRoutes/${lcr_route_sid}`, api.own.accountKey, { priority: 1 })
    expect(await standard()).toBe(null)
    await api.put(`/LcrRoutes/${lcr_route_sid}`, api.own.accountKey, { priority: 9999 })
    expect(await standard()).toBe(sooner)
    expect((await api.delete(`/LcrRoutes/${lcr_route_sid}`, api.own.accountKey)).status).toBe(204)
    expect(await standard()).toBe(null)
  })

  it('answer 400 without the record they belong to, alike for an unknown and a foreign one', async () => {
    const foreign = await create({}, api.sibling.accountKey)
    const sent = { lcr_sid: foreign, regex: '1', priority: 1 }
    const foreignRoute = await post('/LcrRoutes', api.sibling.accountKey, sent)
    for (const path of ['/LcrRoutes', '/LcrCarrierSetEntries'])
      expect((await api.get(path, api.own.accountKey)).status).toBe(400)
    for (const sid of [createSid(), foreign, foreignRoute]) {
      const listed = await api.get(`/LcrRoutes?lcr_sid=${sid}`, api.own.accountKey)
      expect(listed.body).toMatchObject({ msg: 'lcr_sid names no existing lcr' })
      const made = await api.post('/LcrRoutes', api.own.accountKey, { ...sent, lcr_sid: sid })
      expect(made.status).toBe(400)
      const query = `/LcrCarrierSetEntries?lcr_route_sid=${sid}`
      expect((await api.get(query, api.own.accountKey)).status).toBe(400)
      const entry = { lcr_route_sid: sid, voip_carrier_sid: ownCarrier }
      expect((await api.post('/LcrCarrierSetEntries', api.own.accountKey, entry)).status).toBe(400)
    }
  })

  it('answer 404 alike for a missing and a foreign one, which stays', async () => {
    const lcr = await create({}, api.sibling.accountKey)
    const entries = { lcr_carrier_set_entries: [{ voip_carrier_sid: sharedCarrier }] }
    await api.post(`/Lcrs/${lcr}/Routes`, api.sibling.accountKey, [route(1, entries)])
    const [theirs] = await routesOf(lcr, api.sibling.accountKey)
    const entry = theirs!.lcr_carrier_set_entries[0]!.lcr_carrier_set_entry_sid
    for (const path of [
      `/LcrRoutes/${theirs!.lcr_route_sid}`,
      `/LcrRoutes/${createSid()}`,
      `/LcrCarrierSetEntries/${entry}`,
      `/LcrCarrierSetEntries/${createSid()}`,
    ])
      for (const method of ['GET', 'PUT', 'DELETE'] as const)
        expect((await api.request(method, path, api.own.accountKey)).status).toBe(404)
    expect(await routesOf(lcr, api.sibling.accountKey)).toEqual([theirs])
  })

  it('answer 400 for a bad regex and a moved route', async () => {
    const lcr_sid = await create()
    const sent = { lcr_sid, regex: '1', priority: 1 }
    const sid = await post('/LcrRoutes', api.own.accountKey, sent)
    const bad = await api.post('/LcrRoutes', api.own.accountKey, { ...sent, regex: '[' })
    expect(bad.body).toMatchObject({ msg: 'regex must be a regular expression' })
    for (const change of [{ regex: '(?=1)' }, { lcr_sid: createSid() }, { priority: null }, { priority: -1 }])
      expect((await api.put(`/LcrRoutes/${sid}`, api.own.accountKey, change)).status).toBe(400)
  })

  it('are read as one for a table of many routes', async () => {
    const sid = await create()
    const sent = Array.from({ length: 70 }, (_, index) => route(index))
    expect((await api.post(`/Lcrs/${sid}/Routes`, api.own.accountKey, sent)).status).toBe(204)
    const routes = await routesOf(sid)
    expect(routes.map(({ priority }) => priority)).toEqual(sent.map(({ priority }) => priority))
    for (const one of routes) expect(one.lcr_carrier_set_entries).toHaveLength(1)
    expect(await read(sid)).toHaveProperty('number_routes', 70)
  })
})

describe('what the forms of clients send', () => {
  // A form that makes a table sends its own ids, and those of records that do not exist yet, empty.
  const form = (more: object = {}) => ({
    lcr_sid: '',
    name: '',
    account_sid: '',
    service_provider_sid: '',
    default_carrier_set_entry_sid: '',
    is_active: true,
    ...more,
  })
  const formRoute = (priority: number, voip_carrier_sid = ownCarrier) => ({
    lcr_route_sid: '',
    lcr_sid: '',
    regex: '^49',
    priority,
    lcr_carrier_set_entries: [
      { lcr_carrier_set_entry_sid: '', lcr_route_sid: '', voip_carrier_sid, workload: 1, priority: 0 },
    ],
  })

  it.each(['POST', 'PUT'] as const)(
    'makes a table, and its routes by %s, with every id empty',
    async (method) => {
      const sid = await post('/Lcrs', api.own.accountKey, form())
      const answer = await api.request(method, `/Lcrs/${sid}/Routes`, api.own.accountKey, {
        body: [formRoute(1), formRoute(9999)],
      })
      expect([answer.status, answer.text]).toEqual([204, ''])
      expect(await read(sid)).toMatchObject({ account_sid: api.own.account_sid, number_routes: 2 })
    },
  )

  it('changes a table with its ids and its name left empty, which stay as they are', async () => {
    const sid = await create({ name: 'as before' })
    expect((await api.put(`/Lcrs/${sid}`, api.own.accountKey, form({ is_active: 0 }))).status).toBe(204)
    expect(await read(sid)).toMatchObject({
      lcr_sid: sid,
      name: 'as before',
      account_sid: api.own.account_sid,
      is_active: 0,
    })
  })

  it.each([
    ['names a carrier of another account', [formRoute(1), formRoute(2, createSid())]],
    ['is not of the shape', [{ ...formRoute(1), priority: 'high' }]],
  ])('keeps no table, and says so, when one of the first routes that are put %s', async (_what, routes) => {
    const sid = await create()
    const refused = await api.put(`/Lcrs/${sid}/Routes`, api.own.accountKey, routes)
    expect(refused.status).toBe(400)
    expect((refused.body as { msg: string }).msg).toMatch(
      /^routes\.\S.*; the routing table had no route yet and was removed$/,
    )
    expect((await api.get(`/Lcrs/${sid}`, api.own.accountKey)).status).toBe(404)
    await create()
  })

  it('keeps a table and its routes when a change of them is refused', async () => {
    const sid = await create()
    const path = `/Lcrs/${sid}/Routes`
    expect((await api.post(path, api.own.accountKey, [formRoute(1)])).status).toBe(204)
    const refused = await api.put(path, api.own.accountKey, [formRoute(2), formRoute(3, createSid())])
    expect(refused.status).toBe(400)
    expect((refused.body as { msg: string }).msg).not.toContain('removed')
    expect((await routesOf(sid)).map(({ priority }) => priority)).toEqual([1])
  })
})
