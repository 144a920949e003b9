import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { openTestApi, type TestApi } from '../../test/support/api.ts'
import { createUser } from '../../test/support/api-tenants.ts'
import type { ApiAnswer } from '../../test/support/api-request.ts'
import { systemTenancy } from '../contracts/caller.ts'
import { apiRoutes } from './index.ts'

let api: TestApi
beforeAll(async () => {
  api = await openTestApi()
})
afterAll(() => api.close())

const hook = { url: 'https://app.example.com/call' }
let made = 0
let path: string

beforeEach(async () => {
  const { body } = await api.post('/Applications', api.own.accountKey, {
    name: `application ${++made}`,
    call_hook: hook,
    call_status_hook: hook,
  })
  path = `/Applications/${(body as { readonly sid: string }).sid}`
})

const send = (method: string, headers: Record<string, string>, body?: unknown): Promise<ApiAnswer> =>
  api.request(method, path, api.own.accountKey, { body, headers })
const etag = async (): Promise<string> => String((await api.get(path, api.own.accountKey)).headers['etag'])
const nameNow = async (): Promise<string> =>
  ((await api.get(path, api.own.accountKey)).body as { readonly name: string }).name

describe('the ETag of a record', () => {
  it('is strong, stays while the record does, and changes with it', async () => {
    const first = await etag()
    expect(first).toMatch(/^"[!-~]+"$/)
    expect(await etag()).toBe(first)
    await send('PUT', {}, { app_json: null, record_all_calls: 1 })
    expect(await etag()).not.toBe(first)
  })

  it('changes with a hook that is edited in place, and with one that is replaced', async () => {
    const { body } = await api.get(path, api.own.accountKey)
    const { call_hook } = body as { readonly call_hook: { readonly webhook_sid: string } }
    const first = await etag()
    await send('PUT', {}, { call_hook: { ...call_hook, url: 'https://app.example.com/other' } })
    const second = await etag()
    expect(second).not.toBe(first)
    await send('PUT', {}, { call_hook: { url: 'https://app.example.com/third' } })
    expect([first, second]).not.toContain(await etag())
  })

  it('is on every record that is read or changed at a path of its own, except records that change by themselves, batches, and values that hold before they are written', () => {
    const paths = new Set(apiRoutes.flatMap(({ method, path: at }) => (method === 'PUT' ? [at] : [])))
    const without = apiRoutes.filter(
      ({ method, path: at, hasEtag }) => method !== 'POST' && paths.has(at) && hasEtag !== true,
    )
    expect(new Set(without.map(({ path: at }) => at))).toEqual(
      new Set([
        '/Accounts/{AccountSid}/Calls/{CallSid}',
        '/Accounts/{AccountSid}/CallDefence',
        '/Lcrs/{LcrSid}/Routes',
        '/ServiceProviders/{ServiceProviderSid}/CallDefence',
      ]),
    )
  })

  it('is answered with accounts and service providers', async () => {
    for (const at of [
      `/Accounts/${api.own.account_sid}`,
      `/ServiceProviders/${api.own.service_provider_sid}`,
    ])
      expect((await api.get(at, api.own.providerKey)).headers['etag'], at).toMatch(/^"/)
  })
})

describe('GET with If-None-Match', () => {
  it('answers 304 without a body while the record is the same, also to a weak tag, a list and *', async () => {
    const tag = await etag()
    for (const value of [tag, `W/${tag}`, `"other", ${tag}`, '*']) {
      const answer = await send('GET', { 'if-none-match': value })
      expect([answer.status, answer.text, answer.headers['etag']], value).toEqual([304, '', tag])
    }
  })

  it('answers the record when it has changed', async () => {
    const tag = await etag()
    await send('PUT', {}, { name: `renamed ${made}` })
    const answer = await send('GET', { 'if-none-match': tag })
    expect([answer.status, (answer.body as { readonly name: string }).name]).toEqual([200, `renamed ${made}`])
  })

  it('answers 404 and 401 as without it', async () => {
    const headers = { 'if-none-match': '*' }
    const sid = '/Applications/5f0c4e9a-2f3b-4c55-9d0e-7b1a3c2d4e5f'
    expect((await api.request('GET', sid, api.own.accountKey, { headers })).status).toBe(404)
    expect((await api.request('GET', path, api.foreign.accountKey, { headers })).status).toBe(404)
    expect((await api.request('GET', path, undefined, { headers })).status).toBe(401)
  })
})

describe('a user', () => {
  async function createdUser(): Promise<{ readonly at: string; readonly tag: string }> {
    const { account_sid, service_provider_sid } = api.own
    const name = await createUser(api.storage, { account_sid, service_provider_sid })
    const [user] = await api.storage.for(systemTenancy).users.list({ where: { name } })
    const at = `/Users/${user!.user_sid}`
    return { at, tag: String((await api.get(at, api.own.accountKey)).headers['etag']) }
  }
  const ask = (method: string, at: string, headers: Record<string, string>, body?: unknown) =>
    api.request(method, at, api.own.accountKey, { headers, body })

  it('is not answered again to who has it', async () => {
    const { at, tag } = await createdUser()
    const answer = await ask('GET', at, { 'if-none-match': tag })
    expect([answer.status, answer.text, answer.headers['etag']]).toEqual([304, '', tag])
  })

  it('is changed and removed by a client that has seen it as it is, and by no other', async () => {
    const { at, tag } = await createdUser()
    const first = { 'if-match': tag }
    expect((await ask('PUT', at, first, { force_change: true })).status).toBe(204)
    for (const method of ['PUT', 'DELETE']) {
      const answer = await ask(method, at, first, method === 'PUT' ? { is_active: false } : undefined)
      expect([answer.status, answer.body]).toEqual([412, expect.objectContaining({ code: 'stale_record' })])
    }
    const { headers, body } = await ask('GET', at, {})
    expect(body).toMatchObject({ force_change: 1, is_active: 1 })
    expect((await ask('DELETE', at, { 'if-match': String(headers['etag']) })).status).toBe(204)
  })

  it('is changed by one of many that saw the same state', async () => {
    const { at, tag } = await createdUser()
    const answers = await Promise.all(
      Array.from({ length: 5 }, () => ask('PUT', at, { 'if-match': tag }, { force_change: true })),
    )
    const statuses = answers.map(({ status }) => status).sort((a, b) => a - b)
    expect(statuses).toEqual([204, 412, 412, 412, 412])
  })
})

describe('PUT and DELETE with If-Match', () => {
  it('are done for the current ETag, one of a list, and *', async () => {
    expect((await send('PUT', { 'if-match': await etag() }, { name: `a ${made}` })).status).toBe(204)
    expect((await send('PUT', { 'if-match': `"x", ${await etag()}` }, { name: `b ${made}` })).status).toBe(
      204,
    )
    expect((await send('PUT', { 'if-match': '*' }, { name: `c ${made}` })).status).toBe(204)
    expect((await send('DELETE', { 'if-match': await etag() })).status).toBe(204)
  })

  it('answer 412 for a state that is gone, and change nothing', async () => {
    const old = await etag()
    await send('PUT', {}, { name: `theirs ${made}` })
    for (const [method, value] of [
      ['PUT', old],
      ['PUT', `W/${await etag()}`],
      ['DELETE', old],
    ] as const) {
      const answer = await send(
        method,
        { 'if-match': value },
        method === 'PUT' ? { name: 'mine' } : undefined,
      )
      expect(answer.status).toBe(412)
      expect(answer.body).toMatchObject({ code: 'stale_record' })
    }
    expect(await nameNow()).toBe(`theirs ${made}`)
  })

  it('answer 412 to If-None-Match: *, for the record is there', async () => {
    expect((await send('PUT', { 'if-none-match': '*' }, { name: 'x' })).status).toBe(412)
  })

  it('let one of many that saw the same state through', async () => {
    const tag = await etag()
    const answers = await Promise.all(
      Array.from({ length: 10 }, (_, n) => send('PUT', { 'if-match': tag }, { name: `${made} by ${n}` })),
    )
    const statuses = answers.map(({ status }) => status).sort((a, b) => a - b)
    expect(statuses).toEqual([204, ...Array.from({ length: 9 }, () => 412)])
  })

  it.each(['3', 'W/3', '"unended', '""x', '"a" "b"'])(
    'answer 400 for %j, which is no ETag',
    async (value) => {
      const answer = await send('PUT', { 'if-match': value }, { name: 'x' })
      expect([answer.status, (answer.body as { readonly msg: string }).msg]).toEqual([
        400,
        'If-Match must be * or ETags',
      ])
    },
  )

  it('answer 404 for a record the caller may not see, whatever they suppose', async () => {
    const headers = { 'if-match': '"1"' }
    const answer = await api.request('PUT', path, api.foreign.accountKey, { headers, body: { name: 'x' } })
    expect(answer.status).toBe(404)
  })
})
