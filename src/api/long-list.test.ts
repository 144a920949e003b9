// Lists longer than one chunk are whole and in order, and hold up no other request.
import { afterAll, beforeAll, expect, it } from 'vitest'
import { openTestApi, type TestApi } from '../../test/support/api.ts'
import { systemTenancy } from '../contracts/caller.ts'

const count = 1300
// A transaction is ended after 30 s, which a busy machine may need for all of the records.
const perTransaction = 100
let api: TestApi
beforeAll(async () => {
  api = await openTestApi()
  const { account_sid } = api.own
  const insert = (from: number): Promise<void> =>
    api.storage.transaction(systemTenancy, async (rows) => {
      for (let index = from; index < from + perTransaction; index += 1) {
        const hook = { url: `https://a.example.com/${index}`, method: 'POST', account_sid } as const
        const { webhook_sid } = await rows.webhooks.insert(hook)
        const hooks = { call_hook_sid: webhook_sid, call_status_hook_sid: webhook_sid }
        await rows.applications.insert({ name: `a ${index}`, account_sid, ...hooks })
      }
    })
  for (let from = 0; from < count; from += perTransaction) await insert(from)
})
afterAll(() => api.close())

interface Application {
  readonly application_sid: string
  readonly name: string
  readonly call_hook: { readonly url: string }
}

it('a list of many chunks has every record once, in the order of their ids, with its own hooks', async () => {
  const answer = await api.get('/Applications', api.own.accountKey)
  expect(answer.status).toBe(200)
  expect(answer.headers['content-type']).toBe('application/json; charset=utf-8')
  const list = answer.body as Application[]
  const sids = list.map(({ application_sid }) => application_sid)
  expect(new Set(sids).size).toBe(count)
  expect(sids).toEqual([...sids].sort())
  for (const { name, call_hook } of list) expect(call_hook.url.split('/').at(-1)).toBe(name.slice(2))
})

it('a list that ends where a chunk ends is whole, and so is one with a record more', async () => {
  const { account_sid, accountKey } = api.sibling
  const sids = new Set<string>()
  // The first piece has 512 records, the others have 128.
  for (const added of [511, 1, 1, 127, 1]) {
    await api.storage.transaction(systemTenancy, async ({ applications, webhooks }) => {
      const { webhook_sid } = await webhooks.insert({ url: 'https://a.example.com', account_sid })
      const hooks = { call_hook_sid: webhook_sid, call_status_hook_sid: webhook_sid }
      for (let index = 0; index < added; index += 1) {
        const made = await applications.insert({ name: `s ${sids.size}`, account_sid, ...hooks })
        sids.add(made.application_sid)
      }
    })
    const list = (await api.get('/Applications', accountKey)).body as Application[]
    expect(list.map(({ application_sid }) => application_sid)).toEqual([...sids].sort())
  }
})

it('others are answered while a long list goes out', async () => {
  const account = (): Promise<unknown> => api.get(`/Accounts/${api.own.account_sid}`, api.adminKey)
  // The account's connection to the database is open from here on.
  await Promise.all([account(), account()])
  const firsts: string[] = []
  // A busy machine may serve the list first once; a list that holds up others does so every time.
  for (let round = 0; round < 5 && !firsts.includes('one'); round += 1) {
    const list = api.get('/Applications', api.adminKey).then(() => 'list')
    const one = account().then(() => 'one')
    firsts.push(await Promise.race([list, one]))
    await Promise.all([list, one])
  }
  expect(firsts).toContain('one')
})

it('each of several who ask for a long list at once gets all of it', async () => {
  const answers = await Promise.all([1, 2, 3].map(() => api.get('/Applications', api.own.accountKey)))
  for (const { body } of answers) expect(body).toHaveLength(count)
})

it('a page holds what the same part of the list holds', async () => {
  const page = await api.get('/Applications?page=2&page_size=600', api.own.accountKey)
  expect(page.body).toMatchObject({ total: count, page: 2, page_size: 600 })
  expect((page.body as { data: unknown[] }).data).toHaveLength(600)
})

it('a list or page of records as large as they may be is answered whole, whatever page_size asks for', async () => {
  const { account_sid, accountKey } = api.foreign
  const app_json = JSON.stringify([{ verb: 'say', text: 'x'.repeat(250_000) }])
  const huge = 40
  for (let made = 0; made < huge; made += 10)
    await api.storage.transaction(systemTenancy, async ({ applications, webhooks }) => {
      for (let index = made; index < made + 10; index += 1) {
        const { webhook_sid } = await webhooks.insert({ url: 'https://a.example.com', account_sid })
        const hooks = { call_hook_sid: webhook_sid, call_status_hook_sid: webhook_sid }
        await applications.insert({ name: `huge ${index}`, account_sid, app_json, ...hooks })
      }
    })
  const whole = await api.get('/Applications?page_size=10000', accountKey)
  const page = await api.get('/Applications?page=1&page_size=10000', accountKey)
  expect([whole.status, page.status]).toEqual([200, 200])
  for (const rows of [whole.body as object[], (page.body as { readonly data: object[] }).data]) {
    expect(rows).toHaveLength(huge)
    for (const row of rows) expect(row).toMatchObject({ app_json })
  }
  await api.storage.transaction(systemTenancy, async ({ applications }) => {
    for (const { application_sid } of await applications.list({ where: { account_sid } }))
      await applications.remove(application_sid)
  })
})

it('an empty list is an empty array', async () => {
  expect((await api.get('/Applications', api.foreign.accountKey)).text).toBe('[]')
})
