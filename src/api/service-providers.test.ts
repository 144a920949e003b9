import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { systemTenancy } from '../contracts/caller.ts'
import { createSid } from '../lib/ids.ts'
import { openTestApi, type TestApi } from '../../test/support/api.ts'
import { createUser } from '../../test/support/api-tenants.ts'

let api: TestApi
beforeAll(async () => {
  api = await openTestApi()
})
afterAll(() => api.close())

describe('service providers', () => {
  it('are listed whole to an administrator, and one’s own to everybody else', async () => {
    const names = async (token: string): Promise<string[]> =>
      ((await api.get('/ServiceProviders', token)).body as { name: string }[]).map(({ name }) => name)
    expect((await names(api.adminKey)).sort()).toEqual(['ours', 'theirs'])
    expect(await names(api.own.providerKey)).toEqual(['ours'])
    expect(await names(api.own.accountKey)).toEqual(['ours'])
  })

  it('are read with their fields, null where unset', async () => {
    const { service_provider_sid } = api.own
    const answer = await api.get(`/ServiceProviders/${service_provider_sid}`, api.own.accountKey)
    expect(answer.body).toEqual({
      service_provider_sid,
      name: 'ours',
      description: null,
      root_domain: null,
      ms_teams_fqdn: null,
      registration_hook: null,
    })
  })

  it('keep the credentials of their own hooks from accounts', async () => {
    const { service_provider_sid } = api.foreign
    const rows = api.storage.for(systemTenancy)
    const hook = { url: 'https://a.example.com', password: 'secret', service_provider_sid }
    const { webhook_sid } = await rows.webhooks.insert(hook)
    await rows.service_providers.update(service_provider_sid, { registration_hook_sid: webhook_sid })
    const path = `/ServiceProviders/${service_provider_sid}`
    expect((await api.get(path, api.foreign.providerKey)).body).toHaveProperty('registration_hook.password')
    expect((await api.get(path, api.foreign.accountKey)).body).toHaveProperty('registration_hook', null)
  })

  it('answer 400 for an id that is not a UUID, and list their accounts to callers that they belong to', async () => {
    expect((await api.get('/ServiceProviders/x', api.adminKey)).status).toBe(400)
    const path = `/ServiceProviders/${api.own.service_provider_sid}/Accounts`
    const names = async (token: string): Promise<string[]> =>
      ((await api.get(path, token)).body as { name: string }[]).map(({ name }) => name).sort()
    expect(await names(api.own.providerKey)).toEqual(['own', 'sibling'])
    expect(await names(api.own.accountKey)).toEqual(['own'])
  })
})

describe('POST /ServiceProviders', () => {
  const post = (body: object, token = api.adminKey) => api.post('/ServiceProviders', token, body)

  it('answers 201 {sid}, and the record has its hook', async () => {
    const answer = await post({
      name: 'made',
      root_domain: 'SIP.Made.example.com',
      registration_hook: { url: 'https://a.example.com/reg', username: 'u', password: 'p' },
    })
    expect([answer.status, answer.body]).toEqual([201, { sid: expect.any(String) }])
    const { sid } = answer.body as { sid: string }
    expect((await api.get(`/ServiceProviders/${sid}`, api.adminKey)).body).toEqual({
      service_provider_sid: sid,
      name: 'made',
      description: null,
      root_domain: 'sip.made.example.com',
      ms_teams_fqdn: null,
      registration_hook: { url: 'https://a.example.com/reg', method: 'POST', username: 'u', password: 'p' },
    })
  })

  it.each([
    [{}, 400, 'name is required'],
    [{ name: '' }, 400, 'name must not be empty'],
    [{ name: 'x'.repeat(65) }, 400, 'name must have at most 64'],
    [{ name: 'a', description: 5 }, 400, 'description must be text'],
    [{ name: 'a', root_domain: 'a b' }, 400, 'root_domain must be a host name'],
    [{ name: 'a', ms_teams_fqdn: 'a\r\nb' }, 400, 'ms_teams_fqdn must be a host name'],
    [{ name: 'a', registration_hook: 'x' }, 400, 'registration_hook must be an object'],
    [{ name: 'theirs' }, 422, 'name is already in use'],
  ])('answers %j with %i', async (body, status, msg) => {
    const answer = await post(body)
    expect([answer.status, answer.body]).toEqual([
      status,
      expect.objectContaining({ msg: expect.stringContaining(msg) }),
    ])
  })

  it('is for administrators only', async () => {
    for (const token of [api.own.providerKey, api.own.accountKey])
      expect((await post({ name: 'no' }, token)).status).toBe(403)
  })
})

describe('PUT /ServiceProviders/{sid}', () => {
  const path = () => `/ServiceProviders/${api.own.service_provider_sid}`

  it('changes what is sent, from its own provider too, and takes the whole record back', async () => {
    const hook = { url: 'https://a.example.com/reg' }
    expect(
      (await api.put(path(), api.own.providerKey, { description: 'd', registration_hook: hook })).status,
    ).toBe(204)
    expect((await api.put(path(), api.adminKey, { ms_teams_fqdn: 'teams.example.com' })).status).toBe(204)
    const record = (await api.get(path(), api.own.providerKey)).body
    expect(record).toMatchObject({ name: 'ours', description: 'd', ms_teams_fqdn: 'teams.example.com' })
    expect(record).toHaveProperty('registration_hook.url', hook.url)
    expect((await api.put(path(), api.own.providerKey, record)).status).toBe(204)
    expect((await api.get(path(), api.own.providerKey)).body).toEqual(record)
    await api.put(path(), api.adminKey, { registration_hook: null })
    expect((await api.get(path(), api.own.providerKey)).body).toHaveProperty('registration_hook', null)
  })

  it('answers 403 to accounts and to other providers, 404 to an administrator, 422 for a name that is taken', async () => {
    expect((await api.put(path(), api.own.accountKey, { description: 'x' })).status).toBe(403)
    expect((await api.put(path(), api.foreign.providerKey, { description: 'x' })).status).toBe(403)
    expect(
      (await api.put(`/ServiceProviders/${createSid()}`, api.adminKey, { description: 'x' })).status,
    ).toBe(404)
    expect((await api.put(path(), api.own.providerKey, { name: 'theirs' })).status).toBe(422)
    const { service_provider_sid } = api.foreign
    expect((await api.put(path(), api.adminKey, { service_provider_sid })).status).toBe(400)
  })
})

describe('DELETE /ServiceProviders/{sid}', () => {
  it('removes it with its keys, hooks, limits and addresses', async () => {
    const hook = { url: 'https://a.example.com/reg' }
    const made = await api.post('/ServiceProviders', api.adminKey, { name: 'short', registration_hook: hook })
    const { sid: service_provider_sid } = made.body as { sid: string }
    const path = `/ServiceProviders/${service_provider_sid}`
    const key = await api.post('/ApiKeys', api.adminKey, { service_provider_sid })
    const { token } = key.body as { token: string }
    await api.post(`${path}/Limits`, api.adminKey, { category: 'device', quantity: 1 })
    await api.post('/Sbcs', api.adminKey, { ipv4: '192.0.2.1', service_provider_sid })
    expect((await api.get(path, token)).status).toBe(200)
    const answer = await api.delete(path, api.adminKey)
    expect([answer.status, answer.text]).toEqual([204, ''])
    expect((await api.get(path, token)).status).toBe(401)
    expect((await api.get(path, api.adminKey)).status).toBe(404)
    const rows = api.storage.for(systemTenancy)
    for (const table of ['webhooks', 'api_keys', 'limits', 'sbc_addresses'] as const)
      expect(await rows[table].count({ where: { service_provider_sid } }), table).toBe(0)
  })

  it('answers 422 while accounts or users belong to it, 403 to a caller that is no administrator, 404 for none', async () => {
    const path = `/ServiceProviders/${api.own.service_provider_sid}`
    const answer = await api.delete(path, api.adminKey)
    expect([answer.status, answer.body]).toEqual([
      422,
      expect.objectContaining({ msg: expect.stringContaining('2 accounts') }),
    ])
    for (const token of [api.own.providerKey, api.own.accountKey])
      expect((await api.delete(path, token)).status).toBe(403)
    expect((await api.delete(`/ServiceProviders/${createSid()}`, api.adminKey)).status).toBe(404)
    const made = await api.post('/ServiceProviders', api.adminKey, { name: 'with a user' })
    const { sid: service_provider_sid } = made.body as { sid: string }
    await createUser(api.storage, { service_provider_sid })
    const refused = await api.delete(`/ServiceProviders/${service_provider_sid}`, api.adminKey)
    expect([refused.status, refused.body]).toEqual([
      422,
      expect.objectContaining({ msg: expect.stringContaining('1 user') }),
    ])
  })
})
