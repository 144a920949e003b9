import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { covers } from '../../test/support/covers.ts'
import { createSid } from '../lib/ids.ts'
import { systemTenancy } from '../contracts/caller.ts'
import { openTestApi, type TestApi } from '../../test/support/api.ts'

let api: TestApi
beforeAll(async () => {
  api = await openTestApi()
})
afterAll(() => api.close())

const hook = (path: string) => ({ url: `https://app.example.com/${path}` })
let made = 0
const body = (more: object = {}) => ({
  name: `application ${++made}`,
  account_sid: api.own.account_sid,
  call_hook: hook('call'),
  call_status_hook: hook('status'),
  ...more,
})

async function create(more: object = {}, token = api.adminKey): Promise<string> {
  const answer = await api.post('/Applications', token, body(more))
  expect(answer.text).toMatch(/^\{"sid":"[0-9a-f-]{36}"\}$/)
  expect(answer.status).toBe(201)
  return (answer.body as { sid: string }).sid
}

async function read(sid: string): Promise<Record<string, { url: string; webhook_sid: string }>> {
  return (await api.get(`/Applications/${sid}`, api.adminKey)).body
}

describe('POST /Applications', () => {
  it('answers 201 {sid}, and the record reads back with its hooks', async () => {
    const sid = await create({ messaging_hook: { ...hook('sms'), method: 'get' }, env_vars: { a: 'b' } })
    const answer = await api.get(`/Applications/${sid}`, api.own.accountKey)
    expect(answer.status).toBe(200)
    expect(answer.body).toMatchObject({
      application_sid: sid,
      account_sid: api.own.account_sid,
      // Clients treat an application that names a provider as one of the provider itself.
      service_provider_sid: null,
      call_hook: { url: 'https://app.example.com/call', method: 'POST', username: null, password: null },
      messaging_hook: { method: 'GET', webhook_sid: expect.any(String) },
      env_vars: { a: 'b' },
      record_all_calls: 0,
      created_at: expect.stringMatching(/^\d{4}-.*Z$/),
    })
  })

  it('leaves optional fields of the spec out while they are unset', async () => {
    const record = await read(await create())
    for (const field of ['app_json', 'messaging_hook', 'env_vars', 'speech_synthesis_vendor'])
      expect(record).not.toHaveProperty(field)
    expect(record).toHaveProperty('speech_synthesis_label', null)
  })

  it('takes the account from the key of an account', async () => {
    const answer = await api.post('/Applications', api.own.accountKey, body({ account_sid: undefined }))
    expect(answer.status).toBe(201)
    const { sid } = answer.body as { sid: string }
    expect(await read(sid)).toHaveProperty('account_sid', api.own.account_sid)
  })

  it('ignores fields it does not know and a key given by the client', async () => {
    const application_sid = createSid()
    const sid = await create({ colour: 'red', application_sid })
    expect(sid).not.toBe(application_sid)
  })

  it('counts an id that is sent empty as left out, in a change as well', async () => {
    const empty = { account_sid: '', application_sid: '' }
    const answer = await api.post('/Applications', api.own.accountKey, body(empty))
    expect(answer.status).toBe(201)
    const { sid } = answer.body as { sid: string }
    expect(await read(sid)).toHaveProperty('account_sid', api.own.account_sid)
    const before = await read(sid)
    const change = { ...empty, name: '', call_hook: { ...hook('other'), webhook_sid: '' } }
    expect((await api.put(`/Applications/${sid}`, api.own.accountKey, change)).status).toBe(204)
    expect(await read(sid)).toMatchObject({ name: before['name'], account_sid: api.own.account_sid })
    const required = await api.post('/Applications', api.adminKey, body(empty))
    expect([required.status, required.body]).toMatchObject([400, { msg: 'account_sid is required' }])
  })

  it.each(['ws://app.example.com/call', 'wss://app.example.com/call'])(
    'takes a hook over WebSocket, when it is made and when it is changed: %s',
    async (url) => {
      const sid = await create()
      const made = await api.post('/Applications', api.own.accountKey, body({ call_hook: { url } }))
      expect(made.status).toBe(201)
      const hooks = { call_hook: { url }, call_status_hook: { url } }
      expect((await api.put(`/Applications/${sid}`, api.own.accountKey, hooks)).status).toBe(204)
      expect(await read(sid)).toMatchObject({ call_hook: { url }, call_status_hook: { url } })
    },
  )

  it('takes the same address for its messaging hook as for the others, also over WebSocket', async () => {
    const messaging_hook = { url: 'wss://app.example.com/message' }
    const sid = await create({ messaging_hook })
    expect(await read(sid)).toMatchObject({ messaging_hook })
    expect((await api.put(`/Applications/${sid}`, api.own.accountKey, await read(sid))).status).toBe(204)
  })

  it('takes null for speech fields that a form leaves empty', async () => {
    await create({ speech_synthesis_vendor: null, speech_recognizer_language: null })
  })

  it.each([
    ['a missing name', { name: undefined }, 'name is required'],
    ['an empty name', { name: '' }, 'name must not be empty'],
    ['a long name', { name: 'x'.repeat(65) }, 'name must have at most 64 characters'],
    ['a number as name', { name: 5 }, 'name must be text'],
    ['CR LF in a name', { name: 'a\r\nX: y' }, 'name must not contain control characters'],
    ['a missing call_hook', { call_hook: undefined }, 'call_hook is required'],
    ['a call_hook that is text', { call_hook: 'https://a.example.com' }, 'call_hook must be an object'],
    ['a call_hook without url', { call_hook: { method: 'GET' } }, 'call_hook.url is required'],
    ['an empty call_hook', { call_hook: {} }, 'call_hook is required'],
    ['a relative url', { call_hook: { url: '/call' } }, 'call_hook.url must be an absolute URL'],
    [
      'a url with a space',
      { call_hook: { url: ' https://a.example.com' } },
      'call_hook.url must not contain',
    ],
    ['an ftp url', { call_hook: { url: 'ftp://a.example.com' } }, 'call_hook.url must be an http'],
    ['an unknown method', { call_hook: { ...hook(''), method: 'WS' } }, 'call_hook.method must be one of'],
    [
      'CR LF in hook credentials',
      { call_hook: { ...hook(''), username: 'a\r\nb' } },
      'call_hook.username must not contain control characters',
    ],
    ['app_json that is not JSON', { app_json: '[' }, 'app_json must be JSON text'],
    ['app_json nested without end', { app_json: `[{"a":${'['.repeat(31)}` }, 'app_json is nested more'],
    ['app_json with an unknown verb', { app_json: '[{"verb":"fly"}]' }, 'app_json: '],
    ['env_vars that are text', { env_vars: 'a=b' }, 'env_vars must be an object'],
    ['a flag of 2', { record_all_calls: 2 }, 'record_all_calls must be one of 0, 1'],
    ['a malformed account_sid', { account_sid: 'mine' }, 'account_sid must be a UUID'],
    ['an unknown account_sid', { account_sid: createSid() }, 'account_sid names no existing account'],
    ['no account_sid from an administrator', { account_sid: undefined }, 'account_sid is required'],
  ])('answers 400 naming the field for %s', async (_name, more, msg) => {
    const answer = await api.post('/Applications', api.adminKey, body(more))
    expect(answer.status).toBe(400)
    expect((answer.body as { msg: string }).msg).toContain(msg)
  })

  it('stores nothing when a later check fails', async () => {
    const before = await api.storage.for(systemTenancy).webhooks.count()
    const name = `application ${++made}`
    await create({ name })
    const answer = await api.post('/Applications', api.adminKey, body({ name }))
    expect(answer.status).toBe(422)
    expect((answer.body as { msg: string }).msg).toContain('name')
    expect(await api.storage.for(systemTenancy).webhooks.count()).toBe(before + 2)
  })

  it.each([['another account'], ['a foreign account for a provider']])(
    'answers 403 insufficient privileges for %s',
    async (who) => {
      const isAccount = who === 'another account'
      const token = isAccount ? api.own.accountKey : api.own.providerKey
      const { account_sid } = isAccount ? api.sibling : api.foreign
      const answer = await api.post('/Applications', token, body({ account_sid }))
      expect(answer.status).toBe(403)
      expect(answer.body).toMatchObject({ msg: 'insufficient privileges' })
    },
  )
})

describe('GET /Applications/{sid}', () => {
  it('answers 404 alike for a missing, a malformed and a foreign id', async () => {
    const foreign = await create({ account_sid: api.foreign.account_sid })
    for (const sid of [createSid(), 'nonsense', foreign]) {
      const answer = await api.get(`/Applications/${sid}`, api.own.accountKey)
      expect(answer.status).toBe(404)
      expect(answer.body).toMatchObject({ msg: 'no such application', code: 'not_found' })
    }
  })

  it('answers a provider for its own accounts only', async () => {
    const own = await create()
    const foreign = await create({ account_sid: api.foreign.account_sid })
    expect((await api.get(`/Applications/${own}`, api.own.providerKey)).status).toBe(200)
    expect((await api.get(`/Applications/${foreign}`, api.own.providerKey)).status).toBe(404)
  })
})

describe('PUT /Applications/{sid}', () => {
  it('answers 204, changes what is sent and keeps what is not', async () => {
    const sid = await create({ app_json: '[{"verb":"hangup"}]' })
    const answer = await api.put(`/Applications/${sid}`, api.own.accountKey, { record_all_calls: true })
    expect(answer.status).toBe(204)
    expect(answer.text).toBe('')
    expect(await read(sid)).toMatchObject({ record_all_calls: 1, app_json: '[{"verb":"hangup"}]' })
  })

  it(
    'takes the full record back',
    covers({ section: 'Fields: Application', says: 'An update takes the full record.' }),
    async () => {
      const sid = await create()
      const record = await read(sid)
      expect((await api.put(`/Applications/${sid}`, api.adminKey, record)).status).toBe(204)
      expect(await read(sid)).toEqual(record)
    },
  )

  it('edits a hook in place when it carries its webhook_sid', async () => {
    const sid = await create()
    const { webhook_sid } = (await read(sid))['call_hook']!
    const call_hook = { webhook_sid, url: 'https://app.example.com/other' }
    expect((await api.put(`/Applications/${sid}`, api.adminKey, { call_hook })).status).toBe(204)
    expect((await read(sid))['call_hook']).toMatchObject(call_hook)
  })

  it('makes a new hook without a webhook_sid, and removes the old one', async () => {
    const sid = await create()
    const { webhook_sid } = (await read(sid))['call_hook']!
    await api.put(`/Applications/${sid}`, api.adminKey, { call_hook: hook('other') })
    const after = (await read(sid))['call_hook']!
    expect(after.url).toContain('/other')
    expect(after.webhook_sid).not.toBe(webhook_sid)
    expect((await api.get(`/Webhooks/${webhook_sid}`, api.adminKey)).status).toBe(404)
  })

  it('clears messaging_hook with null, and leaves hooks alone for {}', async () => {
    const sid = await create({ messaging_hook: hook('sms') })
    await api.put(`/Applications/${sid}`, api.adminKey, { call_hook: {}, messaging_hook: {} })
    expect(await read(sid)).toHaveProperty('messaging_hook.url', 'https://app.example.com/sms')
    await api.put(`/Applications/${sid}`, api.adminKey, { messaging_hook: null })
    expect(await read(sid)).not.toHaveProperty('messaging_hook')
  })

  it('answers 400 for the webhook_sid of another record', async () => {
    const [one, other] = [await create(), await create({ account_sid: api.foreign.account_sid })]
    const { webhook_sid } = (await read(other))['call_hook']!
    const answer = await api.put(`/Applications/${one}`, api.own.accountKey, {
      call_hook: { webhook_sid, url: 'https://evil.example.com' },
    })
    expect(answer.status).toBe(400)
    expect((await read(other))['call_hook']!.url).toContain('app.example.com')
  })

  it.each([
    ['another application_sid', { application_sid: createSid() }, 'application_sid'],
    ['another account_sid', { account_sid: createSid() }, 'account_sid'],
    ['null for a required hook', { call_status_hook: null }, 'call_status_hook'],
    ['null for the name', { name: null }, 'name must be text'],
    ['a list as body', [], 'the body must be a JSON object'],
  ])('answers 400 for %s', async (_name, change, msg) => {
    const sid = await create()
    const answer = await api.put(`/Applications/${sid}`, api.adminKey, change)
    expect(answer.status).toBe(400)
    expect((answer.body as { msg: string }).msg).toContain(msg)
  })

  it('answers 404 for a missing and a foreign id, 422 for a taken name', async () => {
    const foreign = await create({ account_sid: api.foreign.account_sid })
    for (const sid of [createSid(), foreign])
      expect((await api.put(`/Applications/${sid}`, api.own.accountKey, {})).status).toBe(404)
    const [one, other] = [await create(), await create()]
    const { name } = await read(one)
    expect((await api.put(`/Applications/${other}`, api.adminKey, { name })).status).toBe(422)
  })
})

describe('DELETE /Applications/{sid}', () => {
  it('answers 204, and the application is gone with its hooks', async () => {
    const sid = await create()
    const { webhook_sid } = (await read(sid))['call_hook']!
    expect((await api.delete(`/Applications/${sid}`, api.own.accountKey)).status).toBe(204)
    expect((await api.get(`/Applications/${sid}`, api.adminKey)).status).toBe(404)
    expect((await api.get(`/Webhooks/${webhook_sid}`, api.adminKey)).status).toBe(404)
  })

  it('answers 422 while the account names it for its devices', async () => {
    const sid = await create()
    const path = `/Accounts/${api.own.account_sid}`
    await api.put(path, api.adminKey, { device_calling_application_sid: sid })
    const answer = await api.delete(`/Applications/${sid}`, api.own.accountKey)
    expect(answer.status).toBe(422)
    expect((answer.body as { msg: string }).msg).toContain('device_calling_application_sid')
    await api.put(path, api.adminKey, { device_calling_application_sid: null })
    expect((await api.delete(`/Applications/${sid}`, api.own.accountKey)).status).toBe(204)
  })

  it('answers 404 to another account, and the application stays', async () => {
    const sid = await create()
    expect((await api.delete(`/Applications/${sid}`, api.foreign.accountKey)).status).toBe(404)
    expect((await api.get(`/Applications/${sid}`, api.adminKey)).status).toBe(200)
  })
})

describe('GET /Applications', () => {
  it('answers a bare array within the caller’s tenancy', async () => {
    await create({ account_sid: api.sibling.account_sid })
    const seenBy = async (token: string): Promise<Set<string>> => {
      const answer = await api.get('/Applications', token)
      return new Set((answer.body as { account_sid: string }[]).map(({ account_sid }) => account_sid))
    }
    expect(await seenBy(api.own.accountKey)).toEqual(new Set([api.own.account_sid]))
    expect(await seenBy(api.own.providerKey)).not.toContain(api.foreign.account_sid)
    expect(await seenBy(api.adminKey)).toContain(api.foreign.account_sid)
  })

  it(
    'finds by a part of the name in any case',
    covers({
      section: 'Not shown',
      says: 'The `name` parameter of GET /Applications.',
      chosen: 'Finds by a part of the name, in any case.',
    }),
    async () => {
      const name = `Needle ${++made}%`
      const sid = await create({ name })
      const answer = await api.get(`/Applications?name=${encodeURIComponent('eEdLe')}`, api.own.accountKey)
      expect(answer.body).toEqual([expect.objectContaining({ application_sid: sid, name })])
    },
  )

  it('answers one page with its envelope when asked for a page', async () => {
    const answer = await api.get('/Applications?page=0&page_size=2', api.own.accountKey)
    expect(answer.body).toMatchObject({ page: 1, page_size: 2, total: expect.any(Number) })
    const { data } = answer.body as { data: { name: string; call_hook: object }[] }
    expect(data.map(({ name }) => name)).toEqual(data.map(({ name }) => name).sort())
    expect(data).toHaveLength(2)
    expect(data[0]).toHaveProperty('call_hook.url')
    const next = await api.get('/Applications?page=2&page_size=2', api.own.accountKey)
    expect((next.body as { data: { name: string }[] }).data[0]!.name).not.toBe(data[0]!.name)
  })

  it.each(['page=x', 'page=-1', 'page=1&page_size=0', 'page=1&page_size=10001', 'page=1&page=2'])(
    'answers 400 for %s',
    async (query) => {
      expect((await api.get(`/Applications?${query}`, api.own.accountKey)).status).toBe(400)
    },
  )

  it('is listed below the account and the provider too', async () => {
    const { account_sid, service_provider_sid, accountKey } = api.own
    for (const path of [`/Accounts/${account_sid}`, `/ServiceProviders/${service_provider_sid}`]) {
      const answer = await api.get(`${path}/Applications`, accountKey)
      expect(answer.status).toBe(200)
      for (const one of answer.body as object[]) expect(one).toHaveProperty('account_sid', account_sid)
    }
  })

  it('joins the hooks of a list that is longer than single reads pay for', async () => {
    for (let count = 0; count < 35; count++) await create({ account_sid: api.sibling.account_sid })
    const answer = await api.get('/Applications', api.sibling.accountKey)
    for (const one of answer.body as object[]) expect(one).toHaveProperty('call_hook.url')
  })
})

describe('/Accounts/{sid}/Applications', () => {
  const below = (account_sid: string) => `/Accounts/${account_sid}/Applications`

  it('makes an application of the account in the path, which reads, changes and removes it', async () => {
    const { account_sid, accountKey } = api.own
    const { account_sid: _, ...sent } = body()
    const made = await api.post(below(account_sid), accountKey, sent)
    expect(made.status).toBe(201)
    const one = `${below(account_sid)}/${(made.body as { sid: string }).sid}`
    expect((await api.get(one, accountKey)).body).toMatchObject({ account_sid, name: sent.name })
    expect((await api.put(one, accountKey, { name: `${sent.name}, changed` })).status).toBe(204)
    expect((await api.get(one, accountKey)).body).toHaveProperty('name', `${sent.name}, changed`)
    expect((await api.delete(one, accountKey)).status).toBe(204)
    expect((await api.get(one, accountKey)).status).toBe(404)
  })

  it('answers 404 for an application of another account, also to an administrator, and it stays', async () => {
    const sid = await create({ account_sid: api.sibling.account_sid })
    const one = `${below(api.own.account_sid)}/${sid}`
    expect((await api.get(one, api.adminKey)).status).toBe(404)
    expect((await api.put(one, api.adminKey, { name: 'taken' })).status).toBe(404)
    expect((await api.delete(one, api.adminKey)).status).toBe(404)
    expect((await api.get(`/Applications/${sid}`, api.adminKey)).status).toBe(200)
  })

  it('answers 400 for a body that names another account', async () => {
    const sent = body({ account_sid: api.sibling.account_sid })
    expect((await api.post(below(api.own.account_sid), api.adminKey, sent)).status).toBe(400)
  })
})
