// Records that others refer to may not be removed, and parts are removed with their owner.
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { systemTenancy } from '../../contracts/caller.ts'
import { openTestApi, type TestApi } from '../../../test/support/api.ts'

let api: TestApi
beforeAll(async () => {
  api = await openTestApi()
})
afterAll(() => api.close())

async function post(path: string, sent: object): Promise<string> {
  const answer = await api.post(path, api.adminKey, sent)
  expect(answer.status).toBe(201)
  return (answer.body as { sid: string }).sid
}

let made = 0
function application(account_sid: string): Promise<string> {
  const hook = { url: 'https://a.example.com' }
  const name = `application ${++made}`
  return post('/Applications', { name, account_sid, call_hook: hook, call_status_hook: hook })
}

describe('DELETE /Applications/{sid}', () => {
  it.each([
    ['/PhoneNumbers', 'phone numbers', () => ({ number: `1555${++made}` })],
    ['/VoipCarriers', 'carriers', () => ({ name: 'a carrier' })],
    [
      '/MicrosoftTeamsTenants',
      'Microsoft Teams tenants',
      () => ({
        tenant_fqdn: `t${++made}.example.com`,
        service_provider_sid: api.own.service_provider_sid,
      }),
    ],
  ])('answers 422 while one of %s refers to it', async (path, words, sent) => {
    const { account_sid, accountKey } = api.own
    const application_sid = await application(account_sid)
    const user = await post(path, { ...sent(), account_sid, application_sid })
    const refused = await api.delete(`/Applications/${application_sid}`, accountKey)
    expect(refused.status).toBe(422)
    expect(refused.body).toMatchObject({ msg: `${words} still refer to this application` })
    expect((await api.put(`${path}/${user}`, accountKey, { application_sid: null })).status).toBe(204)
    expect((await api.delete(`/Applications/${application_sid}`, accountKey)).status).toBe(204)
    expect((await api.get(`${path}/${user}`, accountKey)).status).toBe(200)
  })
})

const owned = [
  'voip_carriers',
  'sip_gateways',
  'smpp_gateways',
  'phone_numbers',
  'ms_teams_tenants',
  'lcrs',
  'lcr_routes',
  'lcr_carrier_set_entries',
  'applications',
] as const

describe('DELETE /Accounts/{sid}', () => {
  it('takes carriers, gateways, numbers, tenants and routing along, however they refer to each other', async () => {
    const { service_provider_sid, providerKey } = api.own
    const account_sid = await post('/Accounts', { name: 'to be gone', service_provider_sid })
    const shared = await post('/VoipCarriers', { name: 'shared', service_provider_sid })
    const application_sid = await application(account_sid)
    const owner = { account_sid, application_sid }
    const voip_carrier_sid = await post('/VoipCarriers', { name: 'own', ...owner })
    await post('/SipGateways', { voip_carrier_sid, ipv4: '192.0.2.1' })
    await post('/SmppGateways', { voip_carrier_sid, ipv4: '192.0.2.1' })
    await post('/PhoneNumbers', { number: `1${++made}`, voip_carrier_sid, ...owner })
    await post('/PhoneNumbers', { number: `1${++made}`, voip_carrier_sid: shared, ...owner })
    const tenant_fqdn = `t${++made}.example.com`
    await post('/MicrosoftTeamsTenants', { tenant_fqdn, service_provider_sid, ...owner })
    const lcr = await post('/Lcrs', { name: 'a table', account_sid })
    const lcr_carrier_set_entries = [{ voip_carrier_sid }, { voip_carrier_sid: shared }]
    const routes = [1, 9999].map((priority) => ({ regex: '1', priority, lcr_carrier_set_entries }))
    expect((await api.post(`/Lcrs/${lcr}/Routes`, api.adminKey, routes)).status).toBe(204)
    const rows = api.storage.for(systemTenancy)
    const count = (table: (typeof owned)[number]) => rows[table].count({ where: { account_sid } })
    for (const table of owned) expect(await count(table), table).toBeGreaterThan(0)

    expect((await api.delete(`/Accounts/${account_sid}`, providerKey)).status).toBe(204)
    for (const table of owned) expect(await count(table), table).toBe(0)
    expect((await api.get(`/VoipCarriers/${shared}`, providerKey)).status).toBe(200)
  })
})
