import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { covers } from '../../test/support/covers.ts'
import { createFakeClock } from '../../test/support/fake-clock.ts'
import { createSid } from '../lib/ids.ts'
import { systemTenancy } from '../contracts/caller.ts'
import { openTestApi, type TestApi } from '../../test/support/api.ts'

let api: TestApi
const clock = createFakeClock()
beforeAll(async () => {
  api = await openTestApi({ clock })
})
afterAll(() => api.close())

interface NewKey {
  readonly sid: string
  readonly token: string
  readonly api_key_sid: string
}

async function make(token: string, body: object): Promise<NewKey> {
  const answer = await api.post('/ApiKeys', token, body)
  expect(answer.status).toBe(200)
  return answer.body
}

describe('POST /ApiKeys', () => {
  it('answers 200 with a key that works at once', async () => {
    const { account_sid } = api.own
    const key = await make(api.own.accountKey, { account_sid })
    expect(key.sid).toBe(key.api_key_sid)
    const answer = await api.get('/Accounts', key.token)
    expect((answer.body as { account_sid: string }[])[0]).toHaveProperty('account_sid', account_sid)
  })

  it('makes keys of a provider and of the platform', async () => {
    const { service_provider_sid } = api.own
    const ofProvider = await make(api.own.providerKey, { service_provider_sid })
    expect((await api.post('/Accounts', ofProvider.token, { name: 'x' })).status).toBe(201)
    const ofPlatform = await make(api.adminKey, {})
    expect((await api.get(`/Accounts/${api.foreign.account_sid}`, ofPlatform.token)).status).toBe(200)
  })

  it('prefers the account when both are named', async () => {
    const { account_sid, service_provider_sid } = api.own
    const key = await make(api.own.providerKey, { account_sid, service_provider_sid })
    expect((await api.post('/Accounts', key.token, { name: 'x' })).status).toBe(403)
  })

  it('stores the key as a hash only', async () => {
    const { token, sid } = await make(api.adminKey, {})
    const row = await api.storage.for(systemTenancy).api_keys.find(sid)
    expect(JSON.stringify(row)).not.toContain(token)
  })

  it.each([
    ['a provider without any id', 'providerKey', {}],
    ['a provider with a foreign account', 'providerKey', { account_sid: 'foreign' }],
    ['a provider with a foreign provider', 'providerKey', { service_provider_sid: 'foreign' }],
    ['an account without id', 'accountKey', {}],
    ['an account with another account', 'accountKey', { account_sid: 'foreign' }],
    ['an expiry in the past', 'accountKey', { account_sid: 'own', expires_at: '2001-01-01T00:00:00Z' }],
    ['an expiry that is no time', 'accountKey', { account_sid: 'own', expires_at: 'soon' }],
    ['an account_sid that is no UUID', 'providerKey', { account_sid: 'x' }],
  ] as const)('answers 400 for %s', async (_name, key, body) => {
    const named = Object.fromEntries(
      Object.entries(body).map(([field, value]) => [
        field,
        value === 'own' || value === 'foreign' ? api[value][field as 'account_sid'] : value,
      ]),
    )
    expect((await api.post('/ApiKeys', api.own[key], named)).status).toBe(400)
  })

  it('answers 404 to an administrator for an unknown account or provider', async () => {
    for (const field of ['account_sid', 'service_provider_sid'])
      expect((await api.post('/ApiKeys', api.adminKey, { [field]: createSid() })).status).toBe(404)
  })
})

describe('GET /ApiKeys and its siblings', () => {
  it(
    'shows a prefix and never the key',
    covers({
      section: 'Not shown',
      says: 'The body of POST /ApiKeys and the fields of a key.',
      chosen: '`{sid, token, api_key_sid}`; the token is shown here only, lists show its first characters.',
    }),
    async () => {
      const { account_sid } = api.own
      const key = await make(api.own.accountKey, { account_sid, expires_at: '2030-01-01T00:00:00.000Z' })
      const answer = await api.get(`/Accounts/${account_sid}/ApiKeys`, api.own.accountKey)
      expect(answer.text).not.toContain(key.token)
      expect(answer.body).toContainEqual({
        api_key_sid: key.sid,
        token: key.token.slice(0, 6) + 'x'.repeat(30),
        account_sid,
        service_provider_sid: api.own.service_provider_sid,
        expires_at: '2030-01-01T00:00:00.000Z',
        last_used: null,
        created_at: expect.any(String),
      })
    },
  )

  it('lists per level: an account its own, the others those without an account', async () => {
    const owners = async (path: string, token: string): Promise<unknown[]> => {
      const answer = await api.get(path, token)
      return [...new Set((answer.body as { account_sid: unknown }[]).map(({ account_sid }) => account_sid))]
    }
    expect(await owners('/ApiKeys', api.own.accountKey)).toEqual([api.own.account_sid])
    expect(await owners('/ApiKeys', api.own.providerKey)).toEqual([null])
    expect(await owners('/ApiKeys', api.adminKey)).toEqual([null])
    const path = `/ServiceProviders/${api.own.service_provider_sid}/ApiKeys`
    expect(await owners(path, api.own.providerKey)).toEqual([null])
    expect(await owners(path, api.own.accountKey)).toEqual([])
  })

  it('answers 403 for the keys of another account', async () => {
    const path = `/Accounts/${api.own.account_sid}/ApiKeys`
    expect((await api.get(path, api.sibling.accountKey)).status).toBe(403)
  })
})

describe('DELETE /ApiKeys/{sid}', () => {
  it('answers 204, and the very next request with the key is refused', async () => {
    const { account_sid } = api.own
    const key = await make(api.own.accountKey, { account_sid })
    expect((await api.get('/Accounts', key.token)).status).toBe(200)
    expect((await api.get('/Accounts', key.token)).status).toBe(200)
    expect((await api.delete(`/ApiKeys/${key.sid}`, api.own.providerKey)).status).toBe(204)
    const refused = await api.get('/Accounts', key.token)
    expect(refused.status).toBe(401)
    expect(refused.headers['www-authenticate']).toContain('invalid_token')
  })

  it('answers 404 for a missing key and for one of others, which goes on working', async () => {
    const key = await make(api.foreign.accountKey, { account_sid: api.foreign.account_sid })
    expect((await api.delete(`/ApiKeys/${key.sid}`, api.own.providerKey)).status).toBe(404)
    expect((await api.delete(`/ApiKeys/${createSid()}`, api.own.providerKey)).status).toBe(404)
    expect((await api.get('/Accounts', key.token)).status).toBe(200)
  })
})

describe('an API key', () => {
  it('is refused from the moment it expires, also while it is remembered', async () => {
    const { account_sid } = api.own
    const expires_at = new Date(clock.now() + 1000).toISOString()
    const key = await make(api.own.accountKey, { account_sid, expires_at })
    expect((await api.get('/Accounts', key.token)).status).toBe(200)
    clock.advance(999)
    expect((await api.get('/Accounts', key.token)).status).toBe(200)
    clock.advance(1)
    expect((await api.get('/Accounts', key.token)).status).toBe(401)
    expect((await api.get('/Accounts', key.token)).status).toBe(401)
  })

  it('notes its last use, at most once a minute', async () => {
    const key = await make(api.own.accountKey, { account_sid: api.own.account_sid })
    const lastUsed = async (): Promise<number | null | undefined> =>
      (await api.storage.for(systemTenancy).api_keys.find(key.sid))?.last_used
    const first = clock.now()
    await api.get('/Accounts', key.token)
    await expect.poll(lastUsed).toBe(first)
    clock.advance(59_000)
    await api.get('/Accounts', key.token)
    clock.advance(1000)
    await api.get('/Accounts', key.token)
    await expect.poll(lastUsed).toBe(first + 60_000)
  })

  it('stops working when its account is switched off, and works again afterwards', async () => {
    const path = `/Accounts/${api.sibling.account_sid}`
    expect((await api.get(path, api.sibling.accountKey)).status).toBe(200)
    await api.put(path, api.adminKey, { is_active: 0 })
    const refused = await api.get(path, api.sibling.accountKey)
    expect(refused.status).toBe(403)
    expect(refused.body).toMatchObject({ code: 'account_inactive' })
    await api.put(path, api.adminKey, { is_active: 1 })
    expect((await api.get(path, api.sibling.accountKey)).status).toBe(200)
  })
})

it('POST /ApiKeys without a body makes no key: an admin key is asked for with {}', async () => {
  const count = () => api.storage.for(systemTenancy).api_keys.count({})
  const before = await count()
  const answer = await api.post('/ApiKeys', api.adminKey)
  expect(answer.status).toBe(400)
  expect(answer.body).toMatchObject({ msg: expect.stringContaining('account_sid is required') })
  expect(await count()).toBe(before)
  expect((await api.post('/ApiKeys', api.adminKey, {})).status).toBe(200)
})
