// Misspelt fields of bodies over the whole API.
import { afterEach, describe, expect, it } from 'vitest'
import { openTestApi, type TestApi } from '../../test/support/api.ts'
import { createSid } from '../lib/ids.ts'
import { apiRoutes } from './index.ts'

let api: TestApi
afterEach(() => api.close())

const header = 'x-unknown-fields'
const hook = { url: 'https://app.example.com' }
const application = (more: object) => ({ name: 'menu', call_hook: hook, call_status_hook: hook, ...more })

describe('a body with fields that do not exist', () => {
  it('is taken without them, and the response names each with the nearest that exists', async () => {
    api = await openTestApi()
    const body = application({ call_hok: hook, zzz: 1, ['__odd\r\nx: y']: 2 })
    const answer = await api.post('/Applications', api.own.accountKey, body)
    expect(answer.status).toBe(201)
    expect(answer.headers['x-unknown-fields']).toBe(
      'call_hok (call_hook?), zzz, one whose name has other characters than letters and digits',
    )
  })

  it('is named by ten of them at most, and each by 64 characters', async () => {
    api = await openTestApi()
    const many = Object.fromEntries(Array.from({ length: 30 }, (_, n) => [`${n}${'q'.repeat(100)}`, 1]))
    const { headers } = await api.post('/Applications', api.own.accountKey, application(many))
    const names = String(headers['x-unknown-fields']).split(', ')
    expect(names).toHaveLength(11)
    expect(names[0]).toHaveLength(64)
    expect(names.at(-1)).toBe('20 more')
  })

  it('has no such header where all of its fields exist, those that cannot be set included', async () => {
    api = await openTestApi()
    const made = await api.post('/Applications', api.own.accountKey, application({}))
    expect(made.headers['x-unknown-fields']).toBeUndefined()
    const path = `/Applications/${(made.body as { readonly sid: string }).sid}`
    const record = (await api.get(path, api.own.accountKey)).body as object
    const changed = await api.request('PUT', path, api.own.accountKey, { body: record })
    expect([changed.status, changed.headers['x-unknown-fields']]).toEqual([204, undefined])
  })

  it('is refused where the operator wants that, and changes nothing', async () => {
    api = await openTestApi({ rules: { refusesUnknownFields: true } })
    const answer = await api.post('/Applications', api.own.accountKey, application({ call_hok: hook }))
    expect(answer.status).toBe(400)
    expect(answer.body).toMatchObject({ msg: 'the request has unknown fields: call_hok (call_hook?)' })
    expect((await api.get('/Applications', api.own.accountKey)).body).toEqual([])
  })
})

describe('members of objects in a body', () => {
  const named = async (path: string, body: unknown): Promise<unknown> =>
    (await api.post(path, api.own.providerKey, body)).headers[header]

  it('are named with their path where the members are declared, at any depth', async () => {
    api = await openTestApi()
    const account = `/Accounts/${api.own.account_sid}`
    const { account_sid } = api.own
    expect(
      await named('/Applications', {
        ...application({ account_sid }),
        call_hook: { ur: 'x', url: hook.url },
      }),
    ).toBe('call_hook.ur (url?)')
    expect(
      await named(`${account}/Calls`, {
        to: { type: 'sip', sipUri: 'sip:a@b.example.com', auth: { usernam: 'x' } },
        from: '1',
        call_hook: hook,
      }),
    ).toBe('to.auth.usernam (username?)')
    expect(
      await named(`${account}/BucketCredentialTest`, { vendor: 'aws_s3', nam: 'x', tags: [{ Kay: 'x' }] }),
    ).toBe('bucket_credential.nam (name?), bucket_credential.tags.0.Kay (Key?)')
    expect(
      await named(`/Lcrs/${createSid()}/Routes`, [
        { regx: 'x', lcr_carrier_set_entries: [{ workloads: 1 }] },
      ]),
    ).toBe('routes.0.regx (regex?), routes.0.lcr_carrier_set_entries.0.workloads (workload?)')
  })

  it('are free where they belong to the client', async () => {
    api = await openTestApi()
    const { account_sid } = api.own
    const free = { call_hok: { ur: 1 } }
    const application_ = application({ account_sid, env_vars: free, app_json: '[]' })
    expect(await named('/Applications', application_)).toBeUndefined()
    const call = { to: { type: 'phone', number: '1' }, from: '1', tag: free, headers: { 'X-Call': '1' } }
    expect(await named(`/Accounts/${account_sid}/Calls`, call)).toBeUndefined()
  })
})

describe('the audit entry of a change', () => {
  it('names what its request had and nothing knows, without values, ten names at most', async () => {
    api = await openTestApi()
    const secret = 'planted-value'
    const many = Object.fromEntries(Array.from({ length: 12 }, (_, n) => [`${n}${'q'.repeat(100)}`, secret]))
    const body = application({ call_hok: { url: secret }, ...many })
    const made = await api.post('/Applications?pag=1', api.own.accountKey, body)
    const { sid } = made.body as { readonly sid: string }
    const { body: page, text } = await api.get(`/AuditLog?page=1&count=9&sid=${sid}`, api.own.accountKey)
    const [entry] = (page as { readonly data: readonly { readonly unknown_fields: string | null }[] }).data
    expect(entry?.unknown_fields).toBe(made.headers[header])
    expect(entry?.unknown_fields).toMatch(/4 more$/)
    expect(text).not.toContain(secret)
    expect((await api.get('/AuditLog/verify', api.adminKey)).body).toMatchObject({ intact: true })
  })

  it('names nothing after a request in which all is known', async () => {
    api = await openTestApi()
    const made = await api.post('/Applications', api.own.accountKey, application({}))
    const { sid } = made.body as { readonly sid: string }
    const { body } = await api.get(`/AuditLog?page=1&count=9&sid=${sid}`, api.own.accountKey)
    expect(body).toMatchObject({ data: [{ unknown_fields: null }] })
  })
})

describe('every route', () => {
  const pathOf = (path: string): string =>
    path
      .replace('{AccountSid}', api.own.account_sid)
      .replace('{ServiceProviderSid}', api.own.service_provider_sid)
      .replace('{SipRealm}', 'a.sip.example.com')
      .replaceAll(/\{\w+\}/g, createSid())

  it('names unknown fields and query parameters, whatever else becomes of the request', async () => {
    api = await openTestApi()
    for (const { method, path, bodyIs } of apiRoutes) {
      // The body of a DELETE is not read.
      const hasBody = method === 'POST' || method === 'PUT'
      const body = hasBody ? { zzField: 1 } : undefined
      const { headers } = await api.request(method, `${pathOf(path)}?zzQuery=1`, api.adminKey, { body })
      const isList = bodyIs !== undefined && bodyIs !== 'bucket_credential'
      const field = bodyIs === undefined ? 'zzField' : `${bodyIs}.zzField`
      expect(headers[header], `${method} ${path}`).toBe(
        !hasBody || isList ? '?zzQuery' : `${field}, ?zzQuery`,
      )
    }
  })

  it('refuses an unknown query parameter, and an unknown field, where the operator wants that', async () => {
    api = await openTestApi({ rules: { refusesUnknownFields: true } })
    for (const { method, path } of apiRoutes) {
      const { status, body } = await api.request(method, `${pathOf(path)}?zzQuery=1`, api.adminKey)
      // The interface has 403 for whatever is wrong with a user.
      const refusal = path.startsWith('/Users') && status === 403 ? 403 : 400
      expect([status, body], `${method} ${path}`).toEqual([
        refusal,
        expect.objectContaining({ msg: 'the request has unknown fields: ?zzQuery' }),
      ])
    }
  })
})
