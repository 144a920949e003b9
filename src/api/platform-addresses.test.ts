import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createSid } from '../lib/ids.ts'
import { openTestApi, type TestApi } from '../../test/support/api.ts'

let api: TestApi
beforeAll(async () => {
  api = await openTestApi()
})
afterAll(() => api.close())

const kinds = [
  {
    path: '/Sbcs',
    key: 'sbc_address_sid',
    record: { port: 5060, tls_port: null, wss_port: null, last_updated: null },
    flaws: [[{ ipv4: '192.0.2.1', tls_port: 70_000 }, 'tls_port must be at most 65535']],
  },
  {
    path: '/Smpps',
    key: 'smpp_address_sid',
    record: { port: 2775, use_tls: 0, is_primary: 1 },
    flaws: [[{ ipv4: '192.0.2.1', use_tls: 2 }, 'use_tls must be one of']],
  },
] as const

describe.each(kinds)('$path', ({ path, key, record, flaws }) => {
  const make = async (body: object): Promise<string> => {
    const answer = await api.post(path, api.adminKey, body)
    expect([answer.status, answer.body]).toEqual([201, { sid: expect.any(String) }])
    return (answer.body as { sid: string }).sid
  }
  const seenBy = async (token: string, query = ''): Promise<unknown[]> =>
    ((await api.get(path + query, token)).body as Record<string, unknown>[]).map((address) => address[key])

  it('shows a provider its own addresses, and those of the platform to one that has none', async () => {
    const { service_provider_sid } = api.own
    const general = await make({ ipv4: '192.0.2.1' })
    for (const token of [api.own.accountKey, api.own.providerKey, api.foreign.accountKey, api.adminKey])
      expect(await seenBy(token)).toEqual([general])
    expect((await api.get(path, api.own.accountKey)).body).toEqual([
      { [key]: general, ipv4: '192.0.2.1', service_provider_sid: null, ...record },
    ])
    const own = await make({ ipv4: '192.0.2.2', service_provider_sid })
    for (const token of [api.own.accountKey, api.own.providerKey]) {
      expect(await seenBy(token)).toEqual([own])
      // These callers cannot choose the provider.
      expect(await seenBy(token, `?service_provider_sid=${api.foreign.service_provider_sid}`)).toEqual([own])
    }
    expect(await seenBy(api.foreign.providerKey)).toEqual([general])
    expect(await seenBy(api.adminKey, `?service_provider_sid=${service_provider_sid}`)).toEqual([own])
    expect((await api.delete(`${path}/${own}`, api.adminKey)).status).toBe(204)
    expect(await seenBy(api.own.accountKey)).toEqual([general])
  })

  it('is changed by administrators only', async () => {
    const sid = await make({ ipv4: '192.0.2.3' })
    for (const token of [api.own.providerKey, api.own.accountKey]) {
      expect((await api.post(path, token, { ipv4: '192.0.2.4' })).status).toBe(403)
      expect((await api.delete(`${path}/${sid}`, token)).status).toBe(403)
    }
    expect((await api.delete(`${path}/${createSid()}`, api.adminKey)).status).toBe(404)
    expect((await api.delete(`${path}/nonsense`, api.adminKey)).status).toBe(400)
  })

  it.each([
    [{}, 'ipv4 is required'],
    [{ ipv4: 'sbc.example.com' }, 'ipv4 must be an IPv4 address'],
    [{ ipv4: '192.0.2.256' }, 'ipv4 must be an IPv4 address'],
    [{ ipv4: 5 }, 'ipv4 must be text'],
    [{ ipv4: '192.0.2.1', port: 0 }, 'port must be at least 1'],
    [{ ipv4: '192.0.2.1', port: '5060' }, 'port must be a whole number'],
    [{ ipv4: '192.0.2.1', service_provider_sid: 'x' }, 'service_provider_sid must be a UUID'],
    [{ ipv4: '192.0.2.1', service_provider_sid: createSid() }, 'service_provider_sid names no existing'],
    ...flaws,
  ] as [object, string][])('answers 400 naming the field for %j', async (body, msg) => {
    const answer = await api.post(path, api.adminKey, body)
    expect([answer.status, answer.body]).toEqual([
      400,
      expect.objectContaining({ msg: expect.stringContaining(msg) }),
    ])
  })
})
