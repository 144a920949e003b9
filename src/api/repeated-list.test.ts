// Lists that are read again are as current as the first time, and never those of another caller.
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { openTestApi, type TestApi } from '../../test/support/api.ts'
import { createFakeClock } from '../../test/support/fake-clock.ts'
import { createListMemo } from './define/list-memo.ts'
import { applications } from './applications.ts'
import { accounts } from './accounts/index.ts'

let api: TestApi
beforeAll(async () => {
  api = await openTestApi()
})
afterAll(() => api.close())

interface Application {
  readonly application_sid: string
  readonly name: string
  readonly call_hook: { readonly webhook_sid: string; readonly url: string; readonly password: string | null }
}

let made = 0
async function create(more: object = {}): Promise<string> {
  const hook = { url: 'https://a.example.com/call', username: 'u', password: 'p"\\ü' }
  const body = { name: `list ${++made}`, call_hook: hook, call_status_hook: hook, ...more }
  const answer = await api.post('/Applications', api.own.accountKey, body)
  expect(answer.status).toBe(201)
  return (answer.body as { sid: string }).sid
}

async function listed(sid: string, token = api.own.accountKey): Promise<Application | undefined> {
  const answer = await api.get('/Applications', token)
  expect(answer.status).toBe(200)
  return (answer.body as Application[]).find(({ application_sid }) => application_sid === sid)
}

describe('a list that was asked for before', () => {
  it('has what was made, changed and removed since', async () => {
    expect(await listed('none')).toBeUndefined()
    const sid = await create()
    const first = await listed(sid)
    expect(first?.call_hook.url).toBe('https://a.example.com/call')
    await api.put(`/Applications/${sid}`, api.adminKey, { name: 'another name' })
    expect((await listed(sid))?.name).toBe('another name')
    // Changed in place, so that the application's own row stays as it is.
    const { webhook_sid } = first?.call_hook ?? {}
    const call_hook = { webhook_sid, url: 'https://a.example.com/moved' }
    await api.put(`/Applications/${sid}`, api.own.accountKey, { call_hook })
    expect((await listed(sid))?.call_hook).toMatchObject(call_hook)
    await api.delete(`/Applications/${sid}`, api.own.accountKey)
    expect(await listed(sid)).toBeUndefined()
  })

  it('is not what another caller is answered, nor another page or search', async () => {
    const sid = await create({ name: 'only here' })
    expect(await listed(sid)).toBeDefined()
    expect(await listed(sid, api.sibling.accountKey)).toBeUndefined()
    expect(await listed(sid, api.foreign.providerKey)).toBeUndefined()
    expect(await listed(sid, api.own.providerKey)).toBeDefined()
    const at = async (query: string): Promise<unknown> =>
      (await api.get(`/Applications${query}`, api.own.accountKey)).body
    expect(await at('?name=only%20here')).toHaveLength(1)
    expect(await at('?name=nothing%20like%20it')).toEqual([])
    expect(await at('?page=1&page_size=1&name=only')).toMatchObject({
      total: 1,
      data: [{ name: 'only here' }],
    })
    expect(await at('?page=2&page_size=1&name=only')).toMatchObject({ total: 1, data: [] })
  })

  it('of an account in the path is that of this account', async () => {
    const sid = await create()
    const sidsAt = async (account_sid: string): Promise<string[]> =>
      (await api.get(`/Accounts/${account_sid}/Applications`, api.adminKey)).body as string[]
    const has = (list: unknown[]): boolean => list.some((one) => (one as Application).application_sid === sid)
    expect(has(await sidsAt(api.own.account_sid))).toBe(true)
    expect(has(await sidsAt(api.sibling.account_sid))).toBe(false)
  })
})

describe('a record of a list', () => {
  it('is the record as it is read by itself, and has no member that is not declared', async () => {
    const full = {
      messaging_hook: { url: 'https://a.example.com/sms', method: 'GET' },
      app_json: '[{"verb":"say","text":"a \\"quoted\\" line"}]',
      env_vars: { text: 'line\nbreak', number: 1.5, deep: { yes: true } },
      speech_synthesis_vendor: 'google',
      record_all_calls: 1,
    }
    await create(full)
    await create()
    for (const { path, key, schema } of [
      { path: '/Applications', key: 'application_sid', schema: applications.field.facts.schema },
      { path: '/Accounts', key: 'account_sid', schema: accounts.field.facts.schema },
    ]) {
      const list = (await api.get(path, api.adminKey)).body as Record<string, string>[]
      expect(list.length).toBeGreaterThan(1)
      const declared = Object.keys(schema['properties'] as object)
      for (const record of list) {
        expect(declared).toEqual(expect.arrayContaining(Object.keys(record)))
        expect(record).toEqual((await api.get(`${path}/${record[key]}`, api.adminKey)).body)
      }
    }
  })
})

it('a database that others write to is asked each time', async () => {
  let reads = 0
  const read = async (): Promise<Buffer> => Buffer.from(String(++reads))
  const clock = createFakeClock()
  const shared = createListMemo({ revision: () => 1, isShared: true }, clock)
  const own = createListMemo({ revision: () => 1, isShared: false }, clock)
  expect([await shared('a', read), await shared('a', read)]).toEqual([Buffer.from('1'), Buffer.from('2')])
  expect([await own('a', read), await own('a', read)]).toEqual([Buffer.from('3'), Buffer.from('3')])
})
