import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createSid } from '../../lib/ids.ts'
import { openTestApi, type TestApi } from '../../../test/support/api.ts'

let api: TestApi
beforeAll(async () => {
  api = await openTestApi()
})
afterAll(() => api.close())

interface Template {
  readonly predefined_carrier_sid: string
  readonly name: string
}

const templates = async (): Promise<Template[]> =>
  (await api.get('/PredefinedCarriers', api.own.accountKey)).body

describe('GET /PredefinedCarriers', () => {
  it('answers every template with all its keys', async () => {
    const all = await templates()
    expect(all.map(({ name }) => name)).toEqual(['Twilio', 'Voxbone', 'TelecomsXChange', 'Simwood', 'Retell'])
    expect(new Set(all.map(({ predefined_carrier_sid }) => predefined_carrier_sid)).size).toBe(all.length)
    expect(all[0]).toEqual({
      predefined_carrier_sid: expect.any(String),
      name: 'Twilio',
      requires_static_ip: 0,
      e164_leading_plus: 1,
      requires_register: 0,
      register_username: null,
      register_sip_realm: null,
      register_password: null,
      tech_prefix: null,
      inbound_auth_username: null,
      inbound_auth_password: null,
      diversion: null,
      trunk_type: 'static_ip',
    })
  })
})

describe('POST .../PredefinedCarriers/{PredefinedCarrierSid}', () => {
  it('makes a carrier of the owner in the path, under a name of its own', async () => {
    const { account_sid, service_provider_sid, accountKey, providerKey } = api.own
    const [template] = await templates()
    const names: unknown[] = []
    for (const [path, token, owner] of [
      [`/Accounts/${account_sid}`, accountKey, { account_sid, service_provider_sid }],
      [`/Accounts/${account_sid}`, api.adminKey, { account_sid, service_provider_sid }],
      [`/ServiceProviders/${service_provider_sid}`, providerKey, { account_sid: null, service_provider_sid }],
    ] as const) {
      const made = await api.post(
        `${path}/PredefinedCarriers/${template!.predefined_carrier_sid}`,
        token,
        undefined,
      )
      expect(made.status).toBe(201)
      const { sid } = made.body as { sid: string }
      const carrier = (await api.get(`/VoipCarriers/${sid}`, api.adminKey)).body as Record<string, unknown>
      expect(carrier).toMatchObject({ ...owner, e164_leading_plus: 1, trunk_type: 'static_ip', is_active: 1 })
      names.push(carrier['name'])
    }
    expect(names[0]).toBe('Twilio')
    expect(names.slice(1)).toEqual([
      expect.stringMatching(/^Twilio-[0-9a-f]{8}$/),
      expect.stringMatching(/^Twilio-[0-9a-f]{8}$/),
    ])
  })

  it.each([
    ['Voxbone', ['voxout.voxbone.com']],
    ['TelecomsXChange', ['sip01.telecomsxchange.com', 'sip02.telecomsxchange.com']],
    ['Simwood', ['out.simwood.com']],
    ['Retell', ['sip.retellai.com']],
    ['Twilio', []],
  ])(
    'brings the published host names of %s as outbound gateways, and says what is left',
    async (name, hosts) => {
      const template = (await templates()).find((one) => one.name === name)
      const { account_sid, accountKey } = api.own
      const made = await api.post(
        `/Accounts/${account_sid}/PredefinedCarriers/${template!.predefined_carrier_sid}`,
        accountKey,
      )
      const { sid, note } = made.body as { sid: string; note: string }
      expect(note).toContain('enter the addresses that its calls come from as inbound gateways')
      if (hosts.length === 0) expect(note).toContain('enter it as an outbound gateway')
      const answer = await api.get(`/SipGateways?voip_carrier_sid=${sid}`, accountKey)
      const gateways = (answer.body as { readonly ipv4: string }[]).toSorted((a, b) =>
        a.ipv4.localeCompare(b.ipv4),
      )
      expect(gateways).toHaveLength(hosts.length)
      expect(gateways).toMatchObject(
        hosts.map((ipv4) => ({
          ipv4,
          port: 5060,
          netmask: 32,
          inbound: false,
          outbound: true,
          is_active: 1,
        })),
      )
    },
  )

  it('answers 404 for an unknown template', async () => {
    const unknown = `/Accounts/${api.own.account_sid}/PredefinedCarriers/${createSid()}`
    expect((await api.post(unknown, api.adminKey)).status).toBe(404)
  })
})
