// Rights: callers of every kind request every declared route. A route that is not covered fails here.
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { systemTenancy } from '../contracts/caller.ts'
import { createFakeClock } from '../../test/support/fake-clock.ts'
import { createSid } from '../lib/ids.ts'
import { openTestApi, type TestApi } from '../../test/support/api.ts'
import { createKey, type TestTenant } from '../../test/support/api-tenants.ts'
import type { ApiAnswer } from '../../test/support/api-request.ts'
import type { ApiRoute } from './define/route.ts'
import { apiRoutes } from './index.ts'

const clock = createFakeClock()
const guarded = apiRoutes.filter(({ access }) => access !== 'public')
const title = ({ method, path }: ApiRoute): string => `${method} ${path}`

let api: TestApi
let viewOnly: string
let expired: string
let revoked: string
beforeAll(async () => {
  api = await openTestApi({ clock })
  const { account_sid, service_provider_sid } = api.own
  expired = await createKey(api.storage, { expires_at: clock.now() - 1 })
  revoked = await createKey(api.storage, { account_sid })
  const listed = await api.get(`/Accounts/${account_sid}/ApiKeys`, api.adminKey)
  const key = (listed.body as { api_key_sid: string; token: string }[]).find(({ token }) =>
    token.startsWith(revoked.slice(0, 6)),
  )
  expect((await api.delete(`/ApiKeys/${key!.api_key_sid}`, api.adminKey)).status).toBe(204)
  viewOnly = await api.logIn({ account_sid, service_provider_sid, permissions: ['VIEW_ONLY'] })
})
afterAll(() => api.close())

/** Returns the path with the tenant's ids, and unknown ids for the rest. */
function fill(path: string, { account_sid, service_provider_sid }: TestTenant): string {
  return path
    .replace('{AccountSid}', account_sid)
    .replace('{ServiceProviderSid}', service_provider_sid)
    .replace('{SipRealm}', 'a.sip.example.com')
    .replace(/\{\w+\}/g, createSid())
}

function ask({ method, path }: ApiRoute, tenant: TestTenant, token?: string): Promise<ApiAnswer> {
  return api.request(method, fill(path, tenant), token)
}

describe('declarations', () => {
  it('name who may use each route, once per method and path', () => {
    const seen = new Set<string>()
    for (const route of apiRoutes) {
      expect(route.access === 'public' || route.access.length > 0, title(route)).toBe(true)
      expect(seen.has(title(route).toLowerCase()), title(route)).toBe(false)
      seen.add(title(route).toLowerCase())
    }
  })

  it('leave only ways to log in without authentication', () => {
    const open = apiRoutes.filter(({ access }) => access === 'public').map(title)
    expect(open.sort()).toEqual(['POST /forgot-password', 'POST /login', 'POST /signin'])
  })

  it('let view-only users do nothing but read, log out, make dry runs, look up registrations and change their password', () => {
    const open = apiRoutes.filter(({ openToViewOnly }) => openToViewOnly).map(title)
    expect(open.sort()).toEqual([
      'POST /Accounts/{AccountSid}/DryRuns',
      'POST /Accounts/{AccountSid}/RegisteredSipUsers',
      'POST /change-password',
      'POST /logout',
      'PUT /Users/{UserSid}',
    ])
  })
})

describe.each(guarded.map((route) => [title(route), route] as const))('%s', (_title, route) => {
  it('answers 401 {msg} without a token, and to an unknown, expired or revoked one', async () => {
    for (const token of [undefined, createSid(), expired, revoked]) {
      const answer = await ask(route, api.own, token)
      expect(answer.status).toBe(401)
      expect(answer.body).toMatchObject({ msg: expect.any(String), code: 'not_authenticated' })
      expect(answer.headers['www-authenticate']).toMatch(/^Bearer realm=/)
    }
  })

  it('answers 400 to a malformed Authorization header, 401 to another scheme', async () => {
    const path = fill(route.path, api.own)
    for (const [authorization, status] of [
      ['Bearer', 400],
      ['Bearer a b', 400],
      [`Bearer ${'x'.repeat(5000)}`, 400],
      ['Basic YTpi', 401],
      [api.adminKey, 401],
    ] as const)
      expect((await api.request(route.method, path, undefined, { headers: { authorization } })).status).toBe(
        status,
      )
  })

  it('takes no token from the query or the body', async () => {
    const path = `${fill(route.path, api.own)}?access_token=${api.adminKey}`
    const body = { access_token: api.adminKey }
    expect((await api.request(route.method, path, undefined, { body })).status).toBe(401)
  })

  it('refuses callers of levels it is not declared for', async () => {
    const keys = { admin: api.adminKey, service_provider: api.own.providerKey, account: api.own.accountKey }
    for (const [level, token] of Object.entries(keys)) {
      if (route.access === 'public' || route.access.some((allowed) => allowed === level)) continue
      const answer = await ask(route, api.own, token)
      expect(answer.status).toBe(403)
      expect(answer.body).toMatchObject({ msg: 'insufficient permissions' })
    }
  })
})

const changing = guarded.filter(({ method, openToViewOnly }) => method !== 'GET' && !openToViewOnly)
describe.each(changing.map((route) => [title(route), route] as const))('%s', (_title, route) => {
  it('refuses a view-only user', async () => {
    const answer = await ask(route, api.own, viewOnly)
    expect(answer.status).toBe(403)
    expect(answer.body).toMatchObject({ msg: 'a view-only user cannot make changes' })
  })
})

const ofTenants = guarded.filter(({ path }) => /\{(Account|ServiceProvider)Sid\}/.test(path))
describe.each(ofTenants.map((route) => [title(route), route] as const))('%s', (_title, route) => {
  it('answers 403 alike for a foreign and a missing tenant in the path, 404 to an administrator', async () => {
    const { accountKey, providerKey } = api.own
    const missing = { ...api.foreign, account_sid: createSid(), service_provider_sid: createSid() }
    for (const token of [accountKey, providerKey]) {
      for (const tenant of [api.foreign, missing]) {
        const { status, body } = await ask(route, tenant, token)
        expect(status).toBe(403)
        expect(body).toMatchObject({ msg: 'insufficient permissions' })
      }
    }
    expect((await ask(route, missing, api.adminKey)).status).toBe(404)
    if (!route.path.includes('{AccountSid}')) return
    expect((await ask(route, api.sibling, accountKey)).status).toBe(403)
  })
})

describe('the Bearer scheme', () => {
  it.each(['bearer', 'BEARER', 'Bearer '])('is taken as %j', async (scheme) => {
    const headers = { authorization: `${scheme} ${api.adminKey}` }
    expect((await api.request('GET', '/Accounts', undefined, { headers })).status).toBe(200)
  })
})

describe('a view-only user', () => {
  it('reads no secret: not of hooks, of the account, of SIP users, carriers or speech vendors', async () => {
    const { account_sid, service_provider_sid, accountKey } = api.own
    const plain = 'a-secret-to-find'
    const hook = { url: 'https://a.example.com', username: 'u', password: plain }
    const make = async (path: string, body: object) => {
      const answer = await api.post(path, accountKey, { account_sid, ...body })
      expect(answer.status).toBe(201)
      return (answer.body as { sid: string }).sid
    }
    const application = { name: 'one', call_hook: hook, call_status_hook: hook }
    const application_sid = await make('/Applications', application)
    await make('/Clients', { username: 'alice', password: plain })
    await make('/VoipCarriers', { name: 'one', inbound_auth_password: plain, register_password: plain })
    const speech = { vendor: 'deepgram', api_key: plain, use_for_tts: 1 }
    await make(`/Accounts/${account_sid}/SpeechCredentials`, speech)
    expect((await api.put(`/Accounts/${account_sid}`, accountKey, { queue_event_hook: hook })).status).toBe(
      204,
    )
    const row = await api.storage.for(systemTenancy).applications.find(application_sid)
    const webhook = `/Webhooks/${row?.call_hook_sid}`
    const account = await api.storage.for(systemTenancy).accounts.find(account_sid)
    const secrets = [plain, account!.webhook_secret]

    const base = `/Accounts/${account_sid}`
    const paths = [
      ...['/Accounts', '/Applications', '/Applications?page=1', '/Clients', '/VoipCarriers', base, webhook],
      ...['/Applications', '/VoipCarriers', '/SpeechCredentials'].map((path) => base + path),
      `/Applications/${application_sid}`,
      '/Users/me',
      `/ServiceProviders/${service_provider_sid}/SpeechCredentials`,
    ]
    // First with the key: a list that was kept for it must not be sent to the viewer.
    const seen = new Set<string>()
    for (const token of [accountKey, viewOnly, accountKey])
      for (const path of paths) {
        const { status, text } = await api.get(path, token)
        if (token === accountKey) for (const one of secrets) if (text.includes(one)) seen.add(one)
        if (token !== viewOnly) continue
        expect([200, 403], path).toContain(status)
        for (const one of secrets) expect(text, path).not.toContain(one)
      }
    expect([...seen].sort()).toEqual([...secrets].sort())
    expect((await api.get(webhook, viewOnly)).body).toMatchObject({ username: 'u', password: 'XXXXXXXX' })
    expect((await api.get(`${base}/WebhookSecret`, viewOnly)).status).toBe(403)
  })
})

describe('the second wall', () => {
  it('hides foreign rows from a handler that forgets its check', async () => {
    const { account_sid, service_provider_sid } = api.own
    const rows = api.storage.for({ level: 'account', account_sid, service_provider_sid })
    expect(await rows.accounts.find(api.sibling.account_sid)).toBeUndefined()
    expect(await rows.api_keys.list({ where: { account_sid: api.sibling.account_sid } })).toEqual([])
    expect(await api.storage.for(systemTenancy).accounts.find(api.sibling.account_sid)).toBeDefined()
  })
})
