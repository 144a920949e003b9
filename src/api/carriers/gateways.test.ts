import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { systemTenancy } from '../../contracts/caller.ts'
import { createSid } from '../../lib/ids.ts'
import { openTestApi, type TestApi } from '../../../test/support/api.ts'

let api: TestApi
let ownCarrier: string
let siblingCarrier: string
let foreignCarrier: string
let sharedCarrier: string
beforeAll(async () => {
  api = await openTestApi()
  const carrier = async (owner: object): Promise<string> => {
    const answer = await api.post('/VoipCarriers', api.adminKey, { name: 'a carrier', ...owner })
    return (answer.body as { sid: string }).sid
  }
  ownCarrier = await carrier({ account_sid: api.own.account_sid })
  siblingCarrier = await carrier({ account_sid: api.sibling.account_sid })
  foreignCarrier = await carrier({ account_sid: api.foreign.account_sid })
  sharedCarrier = await carrier({ service_provider_sid: api.own.service_provider_sid })
})
afterAll(() => api.close())

let host = 0
const body = (more: object = {}) => ({
  voip_carrier_sid: ownCarrier,
  ipv4: `192.0.2.${(++host % 200) + 1}`,
  ...more,
})

describe.each([
  ['/SipGateways', 'sip_gateways'],
  ['/SmppGateways', 'smpp_gateways'],
] as const)('%s', (path, table) => {
  async function create(more: object = {}, token = api.adminKey): Promise<string> {
    const answer = await api.post(path, token, body(more))
    expect(answer.text).toMatch(/^\{"sid":"[0-9a-f-]{36}"\}$/)
    expect(answer.status).toBe(201)
    return (answer.body as { sid: string }).sid
  }

  it('are made by the owner of the carrier, and owned as it is', async () => {
    const { account_sid, service_provider_sid } = api.own
    const rows = api.storage.for(systemTenancy)[table]
    for (const token of [api.adminKey, api.own.providerKey, api.own.accountKey])
      expect(await rows.find(await create({}, token))).toMatchObject({ account_sid, service_provider_sid })
    for (const token of [api.adminKey, api.own.providerKey])
      expect(await rows.find(await create({ voip_carrier_sid: sharedCarrier }, token))).toMatchObject({
        account_sid: null,
        service_provider_sid,
      })
  })

  it('are not made for a shared carrier by an account, nor for a carrier that is not there', async () => {
    const refused = await api.post(path, api.own.accountKey, body({ voip_carrier_sid: sharedCarrier }))
    expect(refused.status).toBe(403)
    for (const [token, voip_carrier_sid] of [
      [api.own.accountKey, siblingCarrier],
      [api.own.accountKey, foreignCarrier],
      [api.own.accountKey, createSid()],
      [api.own.providerKey, foreignCarrier],
      [api.adminKey, createSid()],
    ] as const) {
      const answer = await api.post(path, token, body({ voip_carrier_sid }))
      expect(answer.status).toBe(400)
      expect(answer.body).toMatchObject({ msg: 'voip_carrier_sid names no existing voip carrier' })
    }
  })

  it('are listed by their carrier, a shared one’s too', async () => {
    const sid = await create({ voip_carrier_sid: sharedCarrier })
    for (const token of [api.own.accountKey, api.sibling.accountKey, api.own.providerKey, api.adminKey]) {
      const answer = await api.get(`${path}?voip_carrier_sid=${sharedCarrier}`, token)
      expect(answer.status).toBe(200)
      const listed = answer.body as { voip_carrier_sid: string }[]
      expect(JSON.stringify(listed)).toContain(sid)
      for (const gateway of listed) expect(gateway.voip_carrier_sid).toBe(sharedCarrier)
      expect((await api.get(`${path}/${sid}`, token)).status).toBe(200)
    }
    expect((await api.get(`${path}/${sid}`, api.foreign.accountKey)).status).toBe(404)
  })

  it('answer 400 without a carrier to list, and alike for a foreign and an unknown one', async () => {
    for (const query of ['', '?voip_carrier_sid=', '?voip_carrier_sid=x'])
      expect((await api.get(`${path}${query}`, api.adminKey)).status).toBe(400)
    for (const sid of [foreignCarrier, siblingCarrier, createSid()]) {
      const answer = await api.get(`${path}?voip_carrier_sid=${sid}`, api.own.accountKey)
      expect(answer.status).toBe(400)
      expect(answer.body).toMatchObject({ msg: 'voip_carrier_sid names no existing voip carrier' })
    }
  })

  it.each([
    ['no carrier', { voip_carrier_sid: undefined }, 'voip_carrier_sid is required'],
    ['no address', { ipv4: undefined }, 'ipv4 is required'],
    ['an empty address', { ipv4: '' }, 'ipv4 must not be empty'],
    ['white space in the address', { ipv4: '192.0.2.1 ' }, 'ipv4 must be an IPv4 address or a host name'],
    ['CR LF in the address', { ipv4: '192.0.2.1\r\nX: y' }, 'ipv4 must be an IPv4 address or a host name'],
    ['an address out of range', { ipv4: '192.0.2.256' }, 'ipv4 must be an IPv4 address or a host name'],
    ['an unspecified address', { ipv4: '0.0.0.0' }, 'ipv4 must not be an unspecified, broadcast or'],
    ['an address of this network', { ipv4: '0.1.2.3' }, 'ipv4 must not be an unspecified'],
    ['a broadcast address', { ipv4: '255.255.255.255' }, 'ipv4 must not be an unspecified, broadcast'],
    ['a multicast address', { ipv4: '224.0.0.1' }, 'ipv4 must not be an unspecified, broadcast or multicast'],
    ['the last multicast address', { ipv4: '239.255.255.255' }, 'ipv4 must not be an unspecified'],
    ['a long address', { ipv4: `${'a.'.repeat(64)}example` }, 'ipv4 must have at most 128 characters'],
    ['a name for inbound', { ipv4: 'sip.example.com', inbound: true }, 'ipv4 must be an IPv4 address where'],
    ['a port of 0', { port: 0 }, 'port must be at least 1'],
    ['a port of 65536', { port: 65_536 }, 'port must be at most 65535'],
    ['a port as text', { port: '5060' }, 'port must be a whole number'],
    ['a netmask of 0', { netmask: 0 }, 'netmask must be at least 1'],
    ['a netmask of 33', { netmask: 33 }, 'netmask must be at most 32'],
    ['a wide outbound netmask', { netmask: 24, inbound: false, outbound: true }, 'netmask must be 32'],
    ['a flag of 2', { inbound: 2 }, 'inbound must be'],
  ])('answer 400 naming the field for %s', async (_name, more, msg) => {
    const answer = await api.post(path, api.own.accountKey, body(more))
    expect(answer.status).toBe(400)
    expect((answer.body as { msg: string }).msg).toContain(msg)
  })

  it('are wider than /24 only by the hand of the provider or an administrator', async () => {
    const wide = { inbound: true, netmask: 23 }
    const refused = await api.post(path, api.own.accountKey, body(wide))
    expect(refused.status).toBe(400)
    expect((refused.body as { msg: string }).msg).toContain('netmask must be at least 24')
    expect((await api.post(path, api.own.accountKey, body({ ...wide, netmask: 24 }))).status).toBe(201)
    for (const token of [api.adminKey, api.own.providerKey]) {
      const sid = await create(wide, token)
      const change = (sent: object) => api.put(`${path}/${sid}`, api.own.accountKey, sent)
      // A network that the provider allowed stays allowed; only the provider may move or widen it.
      expect((await change({ port: 5090 })).status).toBe(204)
      expect((await change({ netmask: 22 })).status).toBe(400)
      expect((await change({ ipv4: '198.51.100.1' })).status).toBe(400)
      expect((await change({ netmask: 32 })).status).toBe(204)
      expect((await change({ netmask: 23 })).status).toBe(400)
    }
  })

  it('hold the rules between fields against the record as it will be', async () => {
    const sid = await create({ inbound: true, outbound: true, netmask: 24 })
    const change = (sent: object) => api.put(`${path}/${sid}`, api.own.accountKey, sent)
    expect((await change({ inbound: false })).status).toBe(400)
    expect((await change({ ipv4: 'sip.example.com' })).status).toBe(400)
    expect((await change({ inbound: false, netmask: 32, ipv4: 'sip.example.com' })).status).toBe(204)
    expect((await change({ inbound: true })).status).toBe(400)
  })

  it('are not moved to an address that no host has', async () => {
    const sid = await create()
    const changed = await api.put(`${path}/${sid}`, api.own.accountKey, { ipv4: '224.0.0.1' })
    expect([changed.status, changed.text]).toEqual([400, expect.stringContaining('ipv4 must not be')])
  })

  it('are changed in part or as a whole, and stay with their carrier', async () => {
    const sid = await create({ port: 5070, inbound: '1' })
    expect((await api.put(`${path}/${sid}`, api.own.accountKey, { port: 5080 })).status).toBe(204)
    const record = (await api.get(`${path}/${sid}`, api.own.accountKey)).body as Record<string, unknown>
    expect(record).toMatchObject({ port: 5080, voip_carrier_sid: ownCarrier })
    expect((await api.put(`${path}/${sid}`, api.own.accountKey, record)).status).toBe(204)
    expect((await api.get(`${path}/${sid}`, api.own.accountKey)).body).toEqual(record)
    for (const voip_carrier_sid of [sharedCarrier, createSid()])
      expect((await api.put(`${path}/${sid}`, api.adminKey, { voip_carrier_sid })).status).toBe(400)
  })

  it('answer 404 for a missing and a foreign one, 403 to an account for a shared carrier’s', async () => {
    const foreign = await create({ voip_carrier_sid: foreignCarrier })
    const shared = await create({ voip_carrier_sid: sharedCarrier })
    for (const method of ['PUT', 'DELETE'] as const) {
      for (const sid of [foreign, createSid()])
        expect((await api.request(method, `${path}/${sid}`, api.own.accountKey)).status).toBe(404)
      expect((await api.request(method, `${path}/nonsense`, api.own.accountKey)).status).toBe(400)
      expect((await api.request(method, `${path}/${shared}`, api.own.accountKey)).status).toBe(403)
    }
    expect((await api.get(`${path}/${shared}`, api.own.accountKey)).status).toBe(200)
    expect((await api.delete(`${path}/${shared}`, api.own.providerKey)).status).toBe(204)
    expect((await api.get(`${path}/${shared}`, api.adminKey)).status).toBe(404)
  })
})

describe('the record of a SIP gateway', () => {
  const read = async (more: object): Promise<object> => {
    const answer = await api.post('/SipGateways', api.own.accountKey, body(more))
    const { sid } = answer.body as { sid: string }
    return (await api.get(`/SipGateways/${sid}`, api.own.accountKey)).body
  }

  it('has its defaults, with booleans for inbound and outbound and 0 or 1 for the other flags', async () => {
    expect(await read({ ipv4: '198.51.100.1' })).toEqual({
      sip_gateway_sid: expect.any(String),
      voip_carrier_sid: ownCarrier,
      ipv4: '198.51.100.1',
      port: 5060,
      netmask: 32,
      inbound: false,
      outbound: false,
      is_active: 1,
      protocol: 'udp',
      pad_crypto: 0,
      send_options_ping: 0,
      use_sips_scheme: 0,
      remove_ice: 0,
      dtls_off: 0,
    })
  })

  it('takes the flags and words as clients send them', async () => {
    const sent = { inbound: 1, outbound: 'x', protocol: 'TLS/SRTP', pad_crypto: true }
    const refused = await api.post('/SipGateways', api.own.accountKey, body(sent))
    expect(refused.status).toBe(400)
    expect(await read({ ...sent, outbound: 0 })).toMatchObject({
      inbound: true,
      outbound: false,
      protocol: 'tls/srtp',
      port: 5061,
      pad_crypto: 1,
    })
    const unknown = await api.post('/SipGateways', api.own.accountKey, body({ protocol: 'sctp' }))
    expect(unknown.status).toBe(400)
  })

  it.each([
    ['application/x-www-form-urlencoded', 'inbound=true&outbound=1&is_active=false&pad_crypto=1&port=5090'],
    [
      'multipart/form-data; boundary=b',
      [
        ['inbound', 'true'],
        ['outbound', '1'],
        ['is_active', 'FALSE'],
        ['pad_crypto', '1'],
        ['port', '5090'],
      ]
        .map(([name, value]) => `--b\r\nContent-Disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`)
        .join('') + '--b--\r\n',
    ],
  ])('takes flags and numbers from a form, whose values are texts: %s', async (type, form) => {
    const { sid } = (await api.post('/SipGateways', api.own.accountKey, body())).body as { sid: string }
    const changed = await api.request('PUT', `/SipGateways/${sid}`, api.own.accountKey, {
      body: form,
      headers: { 'content-type': type },
    })
    expect([changed.status, changed.text]).toEqual([204, ''])
    expect((await api.get(`/SipGateways/${sid}`, api.own.accountKey)).body).toMatchObject({
      inbound: true,
      outbound: true,
      is_active: 0,
      pad_crypto: 1,
      port: 5090,
    })
  })

  it('has no port when null is sent: the name says it', async () => {
    expect(await read({ ipv4: 'sip.example.com', outbound: true, port: null })).toHaveProperty('port', null)
  })
})

describe('the record of an SMPP gateway', () => {
  it('has its defaults', async () => {
    const made = await api.post('/SmppGateways', api.own.accountKey, body({ ipv4: '198.51.100.2' }))
    const { sid } = made.body as { sid: string }
    expect((await api.get(`/SmppGateways/${sid}`, api.own.accountKey)).body).toEqual({
      smpp_gateway_sid: sid,
      voip_carrier_sid: ownCarrier,
      ipv4: '198.51.100.2',
      port: 2775,
      netmask: 32,
      is_primary: 1,
      inbound: 0,
      outbound: 1,
      use_tls: 0,
    })
  })
})
