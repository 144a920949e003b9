import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { openTestApi, type TestApi } from '../../test/support/api.ts'
import { testPassword } from '../../test/support/api-tenants.ts'

let api: TestApi
beforeAll(async () => {
  api = await openTestApi()
})
afterAll(() => api.close())

interface Entry {
  readonly seq: number
  readonly actor_kind: string
  readonly actor_sid: string | null
  readonly account_sid: string | null
  readonly request_id: string | null
  readonly address: string | null
  readonly action: string
  readonly resource: string
  readonly sid: string
  readonly before: Record<string, unknown> | null
  readonly after: Record<string, unknown> | null
}

async function entries(query = '', token = api.adminKey): Promise<readonly Entry[]> {
  const { status, body } = await api.get(`/AuditLog?page=1&count=500${query}`, token)
  expect(status).toBe(200)
  return (body as { readonly data: readonly Entry[] }).data
}

let named = 0
const application = (more: object = {}): object => ({
  name: `application ${++named}`,
  call_hook: { url: 'https://app.example.com/call', username: 'u', password: 'planted-hook-password' },
  call_status_hook: { url: 'https://app.example.com/status' },
  ...more,
})

async function made(path: string, token: string, body: object): Promise<string> {
  const { body: answer } = await api.post(path, token, body)
  return (answer as { readonly sid: string }).sid
}

describe('each request that changes a record', () => {
  it('leaves one entry for it, which names the key, the address and the request', async () => {
    const { headers, body } = await api.request('POST', '/Applications', api.own.accountKey, {
      body: application(),
      headers: { 'x-request-id': 'my-request' },
    })
    expect(headers['x-request-id']).toBe('my-request')
    const { sid } = body as { readonly sid: string }
    const [entry, ...others] = await entries(`&sid=${sid}`)
    expect(others).toEqual([])
    expect(entry).toMatchObject({
      actor_kind: 'api_key',
      request_id: 'my-request',
      address: '127.0.0.1',
      action: 'create',
      resource: 'applications',
      account_sid: api.own.account_sid,
      before: null,
    })
    expect(entry?.after).toMatchObject({ call_hook_sid: expect.any(String) as string })
  })

  it('names the user who is logged in', async () => {
    const token = await api.logIn({ name: 'auditor', account_sid: api.own.account_sid })
    const sid = await made('/Applications', token, application())
    expect((await entries(`&sid=${sid}`))[0]).toMatchObject({ actor_kind: 'user', actor_name: 'auditor' })
  })

  it('tells of an update only what changed, and of a removal what there was', async () => {
    const sid = await made('/Applications', api.own.accountKey, application())
    await api.put(`/Applications/${sid}`, api.own.accountKey, { name: 'renamed', record_all_calls: 0 })
    await api.delete(`/Applications/${sid}`, api.own.accountKey)
    const [removed, changed] = await entries(`&sid=${sid}`)
    expect(changed?.after).toEqual({ name: 'renamed', version: 2 })
    expect(removed).toMatchObject({ action: 'delete', after: null, before: { name: 'renamed' } })
  })

  it('is recorded where a GET makes it, and where no user is logged in', async () => {
    await api.get(`/Accounts/${api.own.account_sid}/WebhookSecret?regenerate=true`, api.own.accountKey)
    const [entry] = await entries(`&sid=${api.own.account_sid}`)
    expect(entry).toMatchObject({
      action: 'update',
      actor_kind: 'api_key',
      after: { webhook_secret: '********' },
    })
    await api.logIn({ name: 'a-user', account_sid: api.own.account_sid })
    expect(await entries('&resource=user_sessions')).toContainEqual(
      expect.objectContaining({ action: 'create', actor_kind: 'anonymous', address: '127.0.0.1' }),
    )
  })

  it('leaves none when it is refused', async () => {
    const before = (await entries()).length
    expect((await api.post('/Applications', api.own.accountKey, { name: '' })).status).toBe(400)
    const taken = application({ name: 'application 1' })
    expect((await api.post('/Applications', api.own.accountKey, taken)).status).toBe(422)
    expect((await api.delete('/Applications/none', api.own.accountKey)).status).toBe(404)
    expect((await entries()).length).toBe(before)
  })
})

describe('GET /AuditLog', () => {
  it('answers 401 without a token and 400 without a page, naming what is missing', async () => {
    expect((await api.get('/AuditLog')).status).toBe(401)
    const { status, body } = await api.get('/AuditLog', api.adminKey)
    expect([status, (body as { readonly msg: string }).msg]).toEqual([400, 'page and count are required'])
    expect((await api.get('/AuditLog?page=1&count=501', api.adminKey)).status).toBe(400)
    expect((await api.get('/AuditLog?page=1&count=5&action=steal', api.adminKey)).status).toBe(400)
  })

  it('shows each caller its own records, and no other by any filter', async () => {
    const of = async (tenant: TestApi['own']): Promise<string> =>
      made('/Applications', tenant.accountKey, application())
    const [own, sibling, foreign] = [await of(api.own), await of(api.sibling), await of(api.foreign)]
    const seen = async (token: string): Promise<readonly string[]> =>
      (await entries('&resource=applications&action=create', token)).map(({ sid }) => sid)
    const ofAccount = await seen(api.own.accountKey)
    expect(ofAccount).toContain(own)
    expect(ofAccount).not.toContain(sibling)
    const ofProvider = await seen(api.own.providerKey)
    expect(ofProvider).toEqual(expect.arrayContaining([own, sibling]))
    expect(ofProvider).not.toContain(foreign)
    expect(await seen(api.adminKey)).toEqual(expect.arrayContaining([own, sibling, foreign]))
    expect(await entries(`&sid=${foreign}`, api.own.accountKey)).toEqual([])
    expect(await entries(`&account_sid=${api.foreign.account_sid}`, api.own.providerKey)).toEqual([])
    const viewer = await api.logIn({ account_sid: api.own.account_sid, permissions: ['VIEW_ONLY'] })
    expect(await seen(viewer)).toEqual(ofAccount)
  })

  it('shows the owner of a user when, and from where, it logged in and out', async () => {
    const { account_sid, service_provider_sid, accountKey, providerKey } = api.own
    const loggedIn = async (name: string, owner: object): Promise<string> => {
      await api.post('/logout', await api.logIn({ name, ...owner }))
      const { body } = await api.get('/Users', api.adminKey)
      return (body as readonly { name: string; user_sid: string }[]).find((user) => user.name === name)!
        .user_sid
    }
    const [theirs, ours] = [
      await loggedIn('of the account', { account_sid }),
      await loggedIn('of the provider', { service_provider_sid }),
    ]
    const seen = async (token: string, user_sid: string): Promise<readonly string[]> =>
      (await entries('&resource=user_sessions', token))
        .filter(({ before, after }) => (after ?? before)?.['user_sid'] === user_sid)
        .map(({ action, address }) => `${action} from ${address}`)
    const both = ['delete from 127.0.0.1', 'create from 127.0.0.1']
    expect([await seen(accountKey, theirs), await seen(accountKey, ours)]).toEqual([both, []])
    expect([await seen(providerKey, theirs), await seen(providerKey, ours)]).toEqual([both, both])
    for (const stranger of [api.sibling.accountKey, api.foreign.providerKey])
      expect([await seen(stranger, theirs), await seen(stranger, ours)]).toEqual([[], []])
  })

  it('answers in pages with the total, newest first', async () => {
    const { body } = await api.get('/AuditLog?page=2&count=3', api.adminKey)
    const { total, page, page_size, data } = body as unknown as {
      readonly total: number
      readonly page: number
      readonly page_size: number
      readonly data: readonly Entry[]
    }
    expect([page, page_size, data.length]).toEqual([2, 3, 3])
    expect(data.map(({ seq }) => seq)).toEqual([total - 3, total - 4, total - 5])
  })

  it('shows no secret', async () => {
    const { text } = await api.get('/AuditLog?page=1&count=500', api.adminKey)
    expect(text).toContain('********')
    for (const secret of ['planted-hook-password', testPassword, '$argon2', 'wh_secret_'])
      expect(text).not.toContain(secret)
  })
})

describe('GET /AuditLog/verify', () => {
  it('says that the log is whole, and where it ends', async () => {
    const { status, body } = await api.get('/AuditLog/verify', api.adminKey)
    expect(status).toBe(200)
    const [newest] = await entries()
    expect(body).toMatchObject({ intact: true, problems: [], head: { seq: newest?.seq } })
  })

  it('answers 403 to everybody but administrators', async () => {
    for (const token of [api.own.accountKey, api.own.providerKey])
      expect((await api.get('/AuditLog/verify', token)).status).toBe(403)
  })
})
