import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { covers } from '../../../test/support/covers.ts'
import { systemTenancy } from '../../contracts/caller.ts'
import { createSid } from '../../lib/ids.ts'
import { openTestApi, type TestApi } from '../../../test/support/api.ts'
import { createUser } from '../../../test/support/api-tenants.ts'

let api: TestApi
beforeAll(async () => {
  api = await openTestApi()
})
afterAll(() => api.close())

let made = 0
const body = (more: object = {}) => ({
  name: `account ${++made}`,
  service_provider_sid: api.own.service_provider_sid,
  ...more,
})

async function create(more: object = {}, token = api.adminKey): Promise<string> {
  const answer = await api.post('/Accounts', token, body(more))
  expect(answer.status).toBe(201)
  return (answer.body as { sid: string }).sid
}

async function read(sid: string): Promise<Record<string, unknown>> {
  return (await api.get(`/Accounts/${sid}`, api.adminKey)).body
}

const path = () => `/Accounts/${api.own.account_sid}`

describe('POST /Accounts', () => {
  it('answers 201 {sid}, and the record has a signing secret and its hooks', async () => {
    const sid = await create({
      sip_realm: `Made${made}.SIP.example.com`,
      registration_hook: { url: 'https://a.example.com/reg', username: 'u', password: 'p' },
    })
    expect(await read(sid)).toMatchObject({
      account_sid: sid,
      sip_realm: expect.stringMatching(/^made\d+\.sip\.example\.com$/),
      registration_hook: { url: 'https://a.example.com/reg', method: 'POST', username: 'u', password: 'p' },
      webhook_secret: expect.stringMatching(/^wh_secret_[\w-]{22}$/),
      is_active: 1,
      plan_type: 'trial',
      device_calling_application_sid: null,
      subspace_client_id: null,
    })
    expect(await read(sid)).not.toHaveProperty('registration_hook.webhook_sid')
    expect(await read(sid)).not.toHaveProperty('queue_event_hook')
  })

  it('takes the provider from its key', async () => {
    const answer = await api.post('/Accounts', api.foreign.providerKey, { name: 'theirs' })
    expect(answer.status).toBe(201)
    const { sid } = answer.body as { sid: string }
    expect(await read(sid)).toHaveProperty('service_provider_sid', api.foreign.service_provider_sid)
  })

  it.each([
    ['a missing name', { name: undefined }, 'name is required'],
    ['a missing provider', { service_provider_sid: undefined }, 'service_provider_sid is required'],
    ['an unknown provider', { service_provider_sid: createSid() }, 'service_provider_sid names no'],
    ['a hook that is no object', { registration_hook: 'x' }, 'registration_hook must be an object'],
    ['a realm with CR LF', { sip_realm: 'a.b.c\r\nX: y' }, 'sip_realm must be a host name'],
    ['a realm that is an address', { sip_realm: '192.0.2.1' }, 'sip_realm must be a host name'],
    ['a realm with a space', { sip_realm: 'a b.c.d' }, 'sip_realm must be a host name'],
    [
      'an application that does not exist',
      { siprec_hook_sid: createSid() },
      'siprec_hook_sid names no application',
    ],
    ['an unknown record format', { record_format: 'ogg' }, 'record_format must be one of "mp3", "wav"'],
    [
      'an incomplete bucket',
      { bucket_credential: { vendor: 'aws_s3', name: 'b' } },
      'bucket_credential.region is required',
    ],
    [
      'an unknown bucket vendor',
      { bucket_credential: { vendor: 'floppy' } },
      'bucket_credential.vendor must be one of',
    ],
  ])('answers 400 naming the field for %s', async (_name, more, msg) => {
    const answer = await api.post('/Accounts', api.adminKey, body(more))
    expect(answer.status).toBe(400)
    expect((answer.body as { msg: string }).msg).toContain(msg)
  })

  it('answers 422 for a realm that is taken', async () => {
    const answer = await api.post('/Accounts', api.adminKey, body({ sip_realm: api.own.realm.toUpperCase() }))
    expect(answer.status).toBe(422)
    expect((answer.body as { msg: string }).msg).toContain('sip_realm')
  })

  it('answers 403 to an account, and to a provider for another provider', async () => {
    expect((await api.post('/Accounts', api.own.accountKey, body())).status).toBe(403)
    const { service_provider_sid } = api.foreign
    const answer = await api.post('/Accounts', api.own.providerKey, body({ service_provider_sid }))
    expect(answer.status).toBe(403)
  })
})

describe('GET /Accounts and /Accounts/{sid}', () => {
  it('lists what the caller may see', async () => {
    const seenBy = async (token: string): Promise<string[]> => {
      const answer = await api.get('/Accounts', token)
      return (answer.body as { account_sid: string }[]).map(({ account_sid }) => account_sid)
    }
    expect(await seenBy(api.own.accountKey)).toEqual([api.own.account_sid])
    const ofProvider = await seenBy(api.own.providerKey)
    expect(ofProvider).toContain(api.sibling.account_sid)
    expect(ofProvider).not.toContain(api.foreign.account_sid)
    expect(await seenBy(api.adminKey)).toContain(api.foreign.account_sid)
  })

  it('answers 403 alike for a foreign and a missing account, 404 to an administrator and for what is no id', async () => {
    const missing = createSid()
    for (const [token, sid] of [
      [api.own.accountKey, api.sibling.account_sid],
      [api.own.accountKey, missing],
      [api.own.providerKey, api.foreign.account_sid],
      [api.own.providerKey, missing],
    ] as const) {
      const answer = await api.get(`/Accounts/${sid}`, token)
      expect(answer.status).toBe(403)
      expect(answer.body).toMatchObject({ msg: 'insufficient permissions' })
    }
    expect((await api.get(`/Accounts/${missing}`, api.adminKey)).status).toBe(404)
    for (const below of ['', '/WebhookSecret', '/Limits', '/RecentCalls?page=1&count=25'])
      expect((await api.get(`/Accounts/nonsense${below}`, api.own.accountKey)).status).toBe(404)
    const elsewhere = await api.get('/Accounts/nonsense/SpeechCredentials', api.adminKey)
    expect(elsewhere.status).toBe(400)
    expect((elsewhere.body as { msg: string }).msg).toContain('AccountSid')
  })
})

describe('PUT /Accounts/{sid}', () => {
  it(
    'takes the full record back from every level that may write it',
    covers({ section: 'Fields: Account', says: 'An update takes the full record.' }),
    async () => {
      const record = await read(api.own.account_sid)
      for (const token of [api.adminKey, api.own.providerKey, api.own.accountKey])
        expect((await api.put(path(), token, record)).status).toBe(204)
      expect(await read(api.own.account_sid)).toEqual(record)
    },
  )

  it.each([[null], [{}], [{ url: '', method: 'POST', username: '', password: '' }]])(
    'clears a hook with %j',
    async (empty) => {
      await api.put(path(), api.own.accountKey, { queue_event_hook: { url: 'https://a.example.com/q' } })
      expect(await read(api.own.account_sid)).toHaveProperty('queue_event_hook.url')
      await api.put(path(), api.own.accountKey, { queue_event_hook: empty })
      expect(await read(api.own.account_sid)).not.toHaveProperty('queue_event_hook')
    },
  )

  it('keeps a hook that is sent back unchanged, and leaves no hook behind that is replaced', async () => {
    const rows = api.storage.for(systemTenancy)
    const queue_event_hook = {
      url: 'https://a.example.com/q',
      method: 'POST',
      username: null,
      password: null,
    }
    await api.put(path(), api.own.accountKey, { queue_event_hook })
    const before = await rows.webhooks.count()
    const sid = (await rows.accounts.find(api.own.account_sid))?.queue_event_hook_sid
    await api.put(path(), api.own.accountKey, { queue_event_hook })
    expect((await rows.accounts.find(api.own.account_sid))?.queue_event_hook_sid).toBe(sid)
    await api.put(path(), api.own.accountKey, { queue_event_hook: { url: 'https://b.example.com/q' } })
    expect(await rows.webhooks.count()).toBe(before)
  })

  it('masks the secret of a bucket, and keeps it when the mask comes back', async () => {
    const bucket_credential = {
      vendor: 'aws_s3',
      name: 'b',
      region: 'eu',
      access_key_id: 'AKIA',
      secret_access_key: 'abcdefghijklmnopqrst',
    }
    await api.put(path(), api.own.accountKey, { bucket_credential })
    const masked = await read(api.own.account_sid)
    expect(masked).toHaveProperty('bucket_credential.secret_access_key', 'abcdefXXXXXXXXXXXXXX')
    await api.put(path(), api.own.accountKey, masked)
    const row = await api.storage.for(systemTenancy).accounts.find(api.own.account_sid)
    expect(JSON.parse(row?.bucket_credential ?? '')).toEqual(bucket_credential)
    await api.put(path(), api.own.accountKey, { bucket_credential: { vendor: 'none' } })
    expect(await read(api.own.account_sid)).toHaveProperty('bucket_credential', null)
  })

  it('ignores a webhook_secret: it is made here, not there', async () => {
    const { webhook_secret } = await read(api.own.account_sid)
    await api.put(path(), api.own.accountKey, { webhook_secret: 'mine' })
    expect(await read(api.own.account_sid)).toHaveProperty('webhook_secret', webhook_secret)
  })

  it('refuses an account its own realm and activity, and lets its provider change them', async () => {
    const sid = await create()
    await api.put(`/Accounts/${sid}`, api.own.providerKey, {
      is_active: false,
      sip_realm: `r${made}.example.com`,
    })
    expect(await read(sid)).toMatchObject({ is_active: 0, sip_realm: `r${made}.example.com` })
    const realm = await api.put(path(), api.own.accountKey, { sip_realm: 'x.example.com' })
    expect(realm.status).toBe(400)
    expect((await api.put(path(), api.own.accountKey, { is_active: 0 })).status).toBe(403)
  })

  it('answers 400 for another provider or id, 422 for a taken realm', async () => {
    const { service_provider_sid } = api.foreign
    expect((await api.put(path(), api.adminKey, { service_provider_sid })).status).toBe(400)
    expect((await api.put(path(), api.adminKey, { account_sid: createSid() })).status).toBe(400)
    expect((await api.put(path(), api.adminKey, { sip_realm: api.sibling.realm })).status).toBe(422)
  })

  it('answers 400 for an application of another account', async () => {
    const answer = await api.post('/Applications', api.adminKey, {
      name: 'sibling’s',
      account_sid: api.sibling.account_sid,
      call_hook: { url: 'https://a.example.com' },
      call_status_hook: { url: 'https://a.example.com' },
    })
    const { sid } = answer.body as { sid: string }
    for (const token of [api.adminKey, api.own.providerKey, api.own.accountKey]) {
      const refused = await api.put(path(), token, { device_calling_application_sid: sid })
      expect(refused.status).toBe(400)
    }
  })

  it('answers 403 for a foreign account, 404 to an administrator for a missing one', async () => {
    expect((await api.put(path(), api.foreign.accountKey, {})).status).toBe(403)
    expect((await api.put(`/Accounts/${createSid()}`, api.adminKey, {})).status).toBe(404)
  })
})

describe('DELETE /Accounts/{sid}', () => {
  it('answers 204 and takes everything the account owns with it', async () => {
    const account_sid = await create({ registration_hook: { url: 'https://a.example.com' } })
    const hooks = {
      call_hook: { url: 'https://a.example.com' },
      call_status_hook: { url: 'https://a.example.com' },
    }
    const application = await api.post('/Applications', api.adminKey, { name: 'a', account_sid, ...hooks })
    const { sid } = application.body as { sid: string }
    await api.put(`/Accounts/${account_sid}`, api.adminKey, { device_calling_application_sid: sid })
    await api.post('/Clients', api.adminKey, { account_sid, username: 'u', password: 'secret' })
    const key = (await api.post('/ApiKeys', api.adminKey, { account_sid })).body as { token: string }
    await createUser(api.storage, { account_sid, service_provider_sid: api.own.service_provider_sid })
    expect((await api.get(`/Accounts/${account_sid}`, key.token)).status).toBe(200)

    // Clients send their password with it: a body on DELETE has no meaning.
    const answer = await api.request('DELETE', `/Accounts/${account_sid}`, api.own.providerKey, {
      body: { password: 'x' },
    })
    expect(answer.status).toBe(204)
    expect((await api.get(`/Accounts/${account_sid}`, api.adminKey)).status).toBe(404)
    expect((await api.get('/Accounts', key.token)).status).toBe(401)
    const rows = api.storage.for(systemTenancy)
    for (const table of ['applications', 'clients', 'api_keys', 'users', 'webhooks'] as const)
      expect(await rows[table].count({ where: { account_sid } as never })).toBe(0)
  })

  it('answers 403 for a foreign account, which stays', async () => {
    expect((await api.delete(path(), api.foreign.providerKey)).status).toBe(403)
    expect((await api.get(path(), api.adminKey)).status).toBe(200)
  })
})

describe('GET /Accounts/{sid}/WebhookSecret', () => {
  it(
    'answers the secret, and a new one only for regenerate=true',
    covers({
      section: 'Endpoints: Accounts',
      says: 'WebhookSecret answers the secret, and makes a new one with `regenerate`.',
    }),
    async () => {
      const url = `${path()}/WebhookSecret`
      const first = await api.get(url, api.own.accountKey)
      expect(first.body).toEqual({ webhook_secret: expect.stringMatching(/^wh_secret_/) })
      expect((await api.get(`${url}?regenerate=false`, api.own.accountKey)).body).toEqual(first.body)
      const second = await api.get(`${url}?regenerate=true`, api.own.accountKey)
      expect(second.body).not.toEqual(first.body)
      expect((await api.get(url, api.own.accountKey)).body).toEqual(second.body)
    },
  )

  it('answers 400 for a word that is no boolean, 403 for a foreign account', async () => {
    expect((await api.get(`${path()}/WebhookSecret?regenerate=maybe`, api.own.accountKey)).status).toBe(400)
    expect((await api.get(`${path()}/WebhookSecret`, api.foreign.accountKey)).status).toBe(403)
  })

  it('is not renewed by a view-only user', async () => {
    const token = await api.logIn({ permissions: ['VIEW_ONLY'] })
    expect((await api.get(`${path()}/WebhookSecret`, token)).status).toBe(403)
    expect((await api.get(`${path()}/WebhookSecret?regenerate=true`, token)).status).toBe(403)
  })
})

describe('POST /Accounts/{sid}/SipRealms/{realm}', () => {
  it(
    'answers 204 without a body, and the realm is set in lower case',
    covers({
      section: 'Endpoints: Accounts',
      says: 'POST SipRealms adds or changes the realm, without a body.',
    }),
    async () => {
      const answer = await api.post(`${path()}/SipRealms/New.SIP.Example.com`, api.own.accountKey)
      expect(answer.status).toBe(204)
      expect(await read(api.own.account_sid)).toHaveProperty('sip_realm', 'new.sip.example.com')
    },
  )

  it.each(['example.com', '192.0.2.1', 'a..b', '-a.b.c', 'a.b.c%0d%0aX'])(
    'answers 400 for %s',
    async (realm) => {
      expect((await api.post(`${path()}/SipRealms/${realm}`, api.own.accountKey)).status).toBe(400)
    },
  )

  it('answers 422 for a realm that is taken, 403 for a foreign account', async () => {
    const url = `${path()}/SipRealms/${api.sibling.realm}`
    expect((await api.post(url, api.own.accountKey)).status).toBe(422)
    expect((await api.post(url, api.foreign.accountKey)).status).toBe(403)
  })
})
