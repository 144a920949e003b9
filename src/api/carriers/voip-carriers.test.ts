import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { systemTenancy } from '../../contracts/caller.ts'
import { createSid } from '../../lib/ids.ts'
import { openTestApi, type TestApi } from '../../../test/support/api.ts'

let api: TestApi
beforeAll(async () => {
  api = await openTestApi()
})
afterAll(() => api.close())

type Carrier = Record<string, unknown>

let made = 0
const body = (more: object = {}) => ({ name: `carrier ${++made}`, ...more })

async function post(path: string, token: string, sent: object): Promise<string> {
  const answer = await api.post(path, token, sent)
  expect(answer.text).toMatch(/^\{"sid":"[0-9a-f-]{36}"\}$/)
  expect(answer.status).toBe(201)
  return (answer.body as { sid: string }).sid
}

const create = (more: object = {}, token = api.adminKey): Promise<string> =>
  post('/VoipCarriers', token, body({ account_sid: api.own.account_sid, ...more }))
const shared = (): Promise<string> =>
  create({ account_sid: null, service_provider_sid: api.own.service_provider_sid })
const read = async (sid: string, token = api.adminKey): Promise<Carrier> =>
  (await api.get(`/VoipCarriers/${sid}`, token)).body
const rowOf = (sid: string) => api.storage.for(systemTenancy).voip_carriers.find(sid)

async function createApplication(account_sid: string): Promise<string> {
  const hook = { url: 'https://a.example.com' }
  const name = `application ${++made}`
  return post('/Applications', api.adminKey, { name, account_sid, call_hook: hook, call_status_hook: hook })
}

const registering = {
  requires_register: true,
  register_username: 'us',
  register_password: 'our secret',
  register_sip_realm: 'sip.carrier.example.com',
}

describe('POST /VoipCarriers', () => {
  it('answers 201 {sid}, and the record reads back whole, with its defaults', async () => {
    const sid = await create({ e164_leading_plus: '1', dtmf_type: 'INFO' })
    expect(await read(sid)).toEqual({
      voip_carrier_sid: sid,
      name: `carrier ${made}`,
      description: null,
      account_sid: api.own.account_sid,
      service_provider_sid: api.own.service_provider_sid,
      application_sid: null,
      e164_leading_plus: 1,
      send_user_phone: 0,
      requires_register: 0,
      register_username: null,
      register_sip_realm: null,
      register_password: null,
      register_from_user: null,
      register_from_domain: null,
      register_public_ip_in_contact: 0,
      register_status: {},
      tech_prefix: null,
      inbound_auth_username: null,
      inbound_auth_password: null,
      diversion: null,
      is_active: 1,
      created_at: expect.stringMatching(/^\d{4}-.*Z$/),
      smpp_system_id: null,
      smpp_password: null,
      smpp_inbound_system_id: null,
      smpp_inbound_password: null,
      smpp_enquire_link_interval: 0,
      dtmf_type: 'info',
      outbound_sip_proxy: null,
      trunk_type: 'static_ip',
    })
  })

  it('belongs to whom the caller is, or names', async () => {
    const { account_sid, service_provider_sid, accountKey, providerKey } = api.own
    const owners = { account_sid, service_provider_sid }
    expect(await read(await post('/VoipCarriers', accountKey, body()))).toMatchObject(owners)
    expect(await read(await post('/VoipCarriers', accountKey, body({ account_sid: null })))).toMatchObject(
      owners,
    )
    expect(await read(await post('/VoipCarriers', providerKey, body({ account_sid })))).toMatchObject(owners)
    expect(await read(await post('/VoipCarriers', providerKey, body()))).toMatchObject({
      account_sid: null,
      service_provider_sid,
    })
    expect(await read(await post('/VoipCarriers', api.adminKey, body()))).toMatchObject({
      account_sid: null,
      service_provider_sid: null,
    })
  })

  it('answers 403 for another account or provider than one’s own', async () => {
    for (const [token, sent] of [
      [api.own.accountKey, { account_sid: api.sibling.account_sid }],
      [api.own.accountKey, { service_provider_sid: api.foreign.service_provider_sid }],
      [api.own.providerKey, { account_sid: api.foreign.account_sid }],
      [api.own.providerKey, { account_sid: createSid() }],
      [api.own.providerKey, { service_provider_sid: api.foreign.service_provider_sid }],
    ] as const) {
      const answer = await api.post('/VoipCarriers', token, body(sent))
      expect(answer.status).toBe(403)
      expect(answer.body).toMatchObject({ msg: 'insufficient permissions' })
    }
  })

  it.each([
    ['no name', { name: undefined }, 'name is required'],
    ['a long name', { name: 'x'.repeat(65) }, 'name must have at most 64 characters'],
    ['CR LF in the name', { name: 'a\r\nVia: x' }, 'name must not contain control characters'],
    ['CR LF in register_username', { register_username: 'a\r\nb' }, 'register_username must not contain'],
    [
      'white space in register_username',
      { register_username: 'your name' },
      'register_username must not contain',
    ],
    ['an empty realm', { register_sip_realm: '' }, 'register_sip_realm must be an IPv4 address or a domain'],
    ['a realm with sip:', { register_sip_realm: 'sip:a.example.com' }, 'register_sip_realm must be'],
    ['a realm without a dot', { register_sip_realm: 'localhost' }, 'register_sip_realm must be'],
    ['a realm with white space', { register_sip_realm: 'a. b.c' }, 'register_sip_realm must be'],
    ['a realm that is no address', { register_sip_realm: '300.1.1.1' }, 'register_sip_realm must be'],
    ['a from domain with CR LF', { register_from_domain: 'a.b\r\n' }, 'register_from_domain must be'],
    ['a from user with a bracket', { register_from_user: 'a>' }, 'register_from_user must not contain'],
    ['CR LF in diversion', { diversion: '1\r\nX: y' }, 'diversion must not contain'],
    ['white space in tech_prefix', { tech_prefix: '1 2' }, 'tech_prefix must be digits'],
    ['a pause in tech_prefix', { tech_prefix: '9,' }, 'tech_prefix must be digits'],
    ['a long tech_prefix', { tech_prefix: '1'.repeat(17) }, 'tech_prefix must have at most 16'],
    [
      'CR LF in the proxy',
      { outbound_sip_proxy: 'sip:a\r\nRoute: b' },
      'outbound_sip_proxy must not contain',
    ],
    ['CR LF in inbound_auth_username', { inbound_auth_username: 'a\nb' }, 'inbound_auth_username must not'],
    ['CR LF in a password', { register_password: 'a\r\nb' }, 'register_password must not contain'],
    ['a number as password', { inbound_auth_password: 5 }, 'inbound_auth_password must be text or null'],
    ['an unknown dtmf_type', { dtmf_type: 'x' }, 'dtmf_type must be one of "rfc2833", "tones", "info"'],
    ['an unknown trunk_type', { trunk_type: 'x' }, 'trunk_type must be one of'],
    ['a flag of 2', { is_active: 2 }, 'is_active must be one of 0, 1'],
    ['a malformed account', { account_sid: 'mine' }, 'account_sid must be a UUID'],
    ['an unknown account', { account_sid: createSid() }, 'account_sid names no existing account'],
    ['an unknown application', { application_sid: createSid() }, 'application_sid names no application'],
    ['registering without a user', { ...registering, register_username: ' ' }, 'register_username'],
    [
      'registering without a password',
      { ...registering, register_password: '' },
      'register_password is required',
    ],
    [
      'a mask for a password',
      { ...registering, register_password: 'XXXXXXXX' },
      'register_password is required',
    ],
  ])('answers 400 naming the field for %s', async (_name, more, msg) => {
    const sent = body({ account_sid: api.own.account_sid, ...more })
    const before = await api.storage.for(systemTenancy).voip_carriers.count()
    for (const [path, token] of [
      ['/VoipCarriers', api.adminKey],
      [`/Accounts/${api.own.account_sid}/VoipCarriers/`, api.own.accountKey],
      [`/ServiceProviders/${api.own.service_provider_sid}/VoipCarriers`, api.own.providerKey],
    ] as const) {
      // The nested paths name the owner elsewhere.
      if (path !== '/VoipCarriers' && 'account_sid' in more) continue
      const answer = await api.post(path, token, sent)
      expect(answer.status).toBe(400)
      expect((answer.body as { msg: string }).msg).toContain(msg)
    }
    expect(await api.storage.for(systemTenancy).voip_carriers.count()).toBe(before)
  })

  it('takes what the checks allow', async () => {
    await create(registering)
    await create({
      register_sip_realm: '192.0.2.1',
      register_from_domain: '',
      register_from_user: '+15551230100',
    })
    await create({ register_sip_realm: null, outbound_sip_proxy: 'sip:proxy.example.com:5070;transport=tcp' })
  })

  it('answers 400 for an application of another account, and for one without an account', async () => {
    const application_sid = await createApplication(api.sibling.account_sid)
    const { service_provider_sid } = api.own
    for (const owner of [{}, { account_sid: null, service_provider_sid }]) {
      const sent = body({ account_sid: api.own.account_sid, ...owner, application_sid })
      const answer = await api.post('/VoipCarriers', api.adminKey, sent)
      expect(answer.status).toBe(400)
      expect((answer.body as { msg: string }).msg).toContain('application_sid')
    }
  })
})

describe('passwords of a carrier', () => {
  const passwords = {
    register_password: 'register secret',
    inbound_auth_password: 'inbound secret',
    smpp_password: 'smpp secret',
    smpp_inbound_password: 'smpp inbound secret',
  }

  it('are never answered, not even their length', async () => {
    const sid = await create(passwords)
    const answer = await api.get(`/VoipCarriers/${sid}`, api.own.accountKey)
    for (const name of Object.keys(passwords)) expect(answer.body).toHaveProperty(name, 'XXXXXXXX')
    const list = await api.get('/VoipCarriers', api.own.accountKey)
    expect(answer.text + list.text).not.toContain('secret"')
  })

  it('survive being sent back masked, are changed by others, and cleared by null and empty text', async () => {
    const sid = await create(passwords)
    const record = await read(sid)
    expect((await api.put(`/VoipCarriers/${sid}`, api.own.accountKey, record)).status).toBe(204)
    expect(await rowOf(sid)).toMatchObject(passwords)
    const change = { register_password: 'another', smpp_password: null, inbound_auth_password: '' }
    await api.put(`/VoipCarriers/${sid}`, api.own.accountKey, { ...record, ...change })
    expect(await rowOf(sid)).toMatchObject({
      register_password: 'another',
      smpp_password: null,
      inbound_auth_password: null,
      smpp_inbound_password: 'smpp inbound secret',
    })
  })
})

describe('register_status', () => {
  it('shows how the last registration went, and is not for clients to set', async () => {
    const sid = await create({ register_status: { status: 'ok' }, ...registering })
    expect(await read(sid)).toHaveProperty('register_status', {})
    const status = { status: 'fail', reason: '403 Forbidden', cseq: '2 REGISTER', callId: 'a@b' }
    await api.storage
      .for(systemTenancy)
      .voip_carriers.update(sid, { register_status: JSON.stringify(status) })
    await api.put(`/VoipCarriers/${sid}`, api.own.accountKey, { register_status: {} })
    expect(await read(sid)).toHaveProperty('register_status', status)
  })

  it.each([{ is_active: 0 }, { requires_register: 0 }])('is empty once the carrier is %o', async (off) => {
    const sid = await create(registering)
    const register_status = JSON.stringify({ status: 'ok', reason: '200 OK' })
    await api.storage.for(systemTenancy).voip_carriers.update(sid, { register_status })
    await api.put(`/VoipCarriers/${sid}`, api.own.accountKey, off)
    expect(await read(sid)).toHaveProperty('register_status', {})
  })
})

describe('GET /VoipCarriers', () => {
  it('lists what the caller may see: an account its own and the shared ones of its provider', async () => {
    const sids = {
      own: await create(),
      sibling: await create({ account_sid: api.sibling.account_sid }),
      foreign: await create({ account_sid: api.foreign.account_sid }),
      shared: await shared(),
      platform: await create({ account_sid: null }),
    }
    const seenBy = async (token: string, path = '/VoipCarriers'): Promise<string[]> => {
      const listed = (await api.get(path, token)).body as { voip_carrier_sid: string }[]
      const seen = new Set(listed.map(({ voip_carrier_sid }) => voip_carrier_sid))
      return Object.entries(sids).flatMap(([name, sid]) => (seen.has(sid) ? [name] : []))
    }
    const { account_sid, service_provider_sid, accountKey, providerKey } = api.own
    expect(await seenBy(accountKey)).toEqual(['own', 'shared'])
    expect(await seenBy(providerKey)).toEqual(['own', 'sibling', 'shared'])
    expect(await seenBy(api.adminKey)).toEqual(Object.keys(sids))
    expect(await seenBy(accountKey, `/VoipCarriers?account_sid=${account_sid}`)).toEqual(['own'])
    expect(await seenBy(accountKey, `/VoipCarriers?account_sid=${api.sibling.account_sid}`)).toEqual([])
    expect(await seenBy(accountKey, '/VoipCarriers?account_sid=')).toEqual(['own', 'shared'])
    const ofAccount = `/Accounts/${account_sid}/VoipCarriers`
    for (const token of [accountKey, providerKey, api.adminKey])
      expect(await seenBy(token, ofAccount)).toEqual(['own'])
    const ofProvider = `/ServiceProviders/${service_provider_sid}/VoipCarriers`
    expect(await seenBy(providerKey, ofProvider)).toEqual(['own', 'sibling', 'shared'])
    expect(await seenBy(accountKey, ofProvider)).toEqual(['own'])
    for (const [name, sid] of Object.entries(sids)) {
      const isSeen = ['own', 'shared'].includes(name)
      expect((await api.get(`/VoipCarriers/${sid}`, accountKey)).status).toBe(isSeen ? 200 : 404)
    }
  })

  it('finds by a part of the name, and answers pages', async () => {
    const name = `Needle ${++made}`
    const sid = await create({ name })
    const path = `/ServiceProviders/${api.own.service_provider_sid}/VoipCarriers`
    for (const base of ['/VoipCarriers', path]) {
      const query = `?name=${encodeURIComponent(name.toLowerCase())}`
      const found = await api.get(`${base}${query}`, api.own.providerKey)
      expect(found.body).toEqual([expect.objectContaining({ voip_carrier_sid: sid })])
      const page = await api.get(`${base}${query}&page=1&page_size=10`, api.own.providerKey)
      expect(page.body).toMatchObject({ total: 1, page: 1, page_size: 10, data: [{ name }] })
    }
  })

  it('answers 400 for a malformed account_sid or page', async () => {
    for (const query of ['account_sid=x', 'page=x', 'page=1&page_size=0'])
      expect((await api.get(`/VoipCarriers?${query}`, api.adminKey)).status).toBe(400)
  })
})

describe('PUT /VoipCarriers/{sid}', () => {
  it('answers 204, changes what is sent, keeps the rest, and takes the full record back', async () => {
    const sid = await create({ tech_prefix: '77' })
    expect((await api.put(`/VoipCarriers/${sid}`, api.own.accountKey, { is_active: false })).status).toBe(204)
    const record = await read(sid)
    expect(record).toMatchObject({ is_active: 0, tech_prefix: '77' })
    expect((await api.put(`/VoipCarriers/${sid}`, api.own.providerKey, record)).status).toBe(204)
    expect(await read(sid)).toEqual(record)
  })

  it('holds the checks of registration against the record as it will be', async () => {
    const sid = await create(registering)
    for (const change of [
      { register_username: null },
      { register_password: null },
      { register_password: '' },
    ])
      expect((await api.put(`/VoipCarriers/${sid}`, api.own.accountKey, change)).status).toBe(400)
    const off = { requires_register: 0, register_username: null }
    expect((await api.put(`/VoipCarriers/${sid}`, api.own.accountKey, off)).status).toBe(204)
    const on = await api.put(`/VoipCarriers/${sid}`, api.own.accountKey, { requires_register: 1 })
    expect(on.status).toBe(400)
    expect((on.body as { msg: string }).msg).toContain('register_username')
  })

  it('answers 404 for a missing and a foreign one, 403 to an account for a shared one, which stays', async () => {
    const foreign = await create({ account_sid: api.foreign.account_sid })
    for (const sid of [createSid(), foreign])
      for (const method of ['PUT', 'DELETE'] as const)
        expect(
          (await api.request(method, `/VoipCarriers/${sid}`, api.own.accountKey, { body: {} })).status,
        ).toBe(404)
    const sid = await shared()
    for (const method of ['PUT', 'DELETE'] as const) {
      const answer = await api.request(method, `/VoipCarriers/${sid}`, api.own.accountKey, {
        body: { name: 'mine' },
      })
      expect(answer.status).toBe(403)
    }
    expect(await read(sid)).toHaveProperty('name', `carrier ${made}`)
  })

  it('answers 400 for another id or provider', async () => {
    const sid = await create()
    for (const change of [
      { voip_carrier_sid: createSid() },
      { service_provider_sid: api.foreign.service_provider_sid },
      { account_sid: api.foreign.account_sid },
    ])
      expect((await api.put(`/VoipCarriers/${sid}`, api.adminKey, change)).status).toBe(400)
  })

  it('gives a carrier to another account of its provider, gateways included, for those above accounts', async () => {
    const sid = await create()
    const gateway = await post('/SipGateways', api.own.accountKey, {
      voip_carrier_sid: sid,
      ipv4: '192.0.2.1',
    })
    const smpp = await post('/SmppGateways', api.own.accountKey, { voip_carrier_sid: sid, ipv4: '192.0.2.1' })
    const { account_sid } = api.sibling
    expect((await api.put(`/VoipCarriers/${sid}`, api.own.accountKey, { account_sid })).status).toBe(403)
    expect((await api.put(`/VoipCarriers/${sid}`, api.own.accountKey, { account_sid: null })).status).toBe(
      403,
    )
    expect((await api.put(`/VoipCarriers/${sid}`, api.own.providerKey, { account_sid })).status).toBe(204)
    for (const path of [`/VoipCarriers/${sid}`, `/SipGateways/${gateway}`, `/SmppGateways/${smpp}`]) {
      expect((await api.get(path, api.own.accountKey)).status).toBe(404)
      expect((await api.get(path, api.sibling.accountKey)).status).toBe(200)
    }
    expect((await api.put(`/VoipCarriers/${sid}`, api.adminKey, { account_sid: null })).status).toBe(204)
    expect((await api.get(`/SipGateways/${gateway}`, api.own.accountKey)).status).toBe(200)
  })

  it('answers 400 for a move that its application does not fit, 422 for one that its numbers do not', async () => {
    const { account_sid } = api.sibling
    const application_sid = await createApplication(api.own.account_sid)
    const one = await create({ application_sid })
    expect((await api.put(`/VoipCarriers/${one}`, api.adminKey, { account_sid })).status).toBe(400)
    const moved = await api.put(`/VoipCarriers/${one}`, api.adminKey, { account_sid, application_sid: null })
    expect(moved.status).toBe(204)
    const voip_carrier_sid = await shared()
    await post('/PhoneNumbers', api.own.accountKey, { number: `555${++made}`, voip_carrier_sid })
    expect((await api.put(`/VoipCarriers/${voip_carrier_sid}`, api.adminKey, { account_sid })).status).toBe(
      422,
    )
  })
})

describe('DELETE /VoipCarriers/{sid}', () => {
  it('answers 204 and takes the gateways along', async () => {
    const voip_carrier_sid = await create()
    const facts = { voip_carrier_sid, ipv4: '192.0.2.1' }
    const sip = await post('/SipGateways', api.own.accountKey, facts)
    const smpp = await post('/SmppGateways', api.own.accountKey, facts)
    expect((await api.delete(`/VoipCarriers/${voip_carrier_sid}`, api.own.accountKey)).status).toBe(204)
    for (const path of [`/VoipCarriers/${voip_carrier_sid}`, `/SipGateways/${sip}`, `/SmppGateways/${smpp}`])
      expect((await api.get(path, api.adminKey)).status).toBe(404)
  })

  it('answers 422 while a phone number or a route refers to it', async () => {
    const voip_carrier_sid = await create()
    const number = await post('/PhoneNumbers', api.own.accountKey, {
      number: `556${++made}`,
      voip_carrier_sid,
    })
    const refused = async (words: string): Promise<void> => {
      const answer = await api.delete(`/VoipCarriers/${voip_carrier_sid}`, api.own.accountKey)
      expect(answer.status).toBe(422)
      expect((answer.body as { msg: string }).msg).toContain(words)
    }
    await refused('phone numbers')
    expect((await api.delete(`/PhoneNumbers/${number}`, api.own.accountKey)).status).toBe(204)
    const lcr = await post('/Lcrs', api.own.accountKey, { name: 'a table' })
    const entries = { lcr_carrier_set_entries: [{ voip_carrier_sid }] }
    await api.post(`/Lcrs/${lcr}/Routes`, api.own.accountKey, [{ regex: '1', priority: 1, ...entries }])
    await refused('least cost routing')
    expect((await api.delete(`/Lcrs/${lcr}`, api.own.accountKey)).status).toBe(204)
    expect((await api.delete(`/VoipCarriers/${voip_carrier_sid}`, api.own.accountKey)).status).toBe(204)
  })
})

describe('carriers below accounts and providers', () => {
  const account = () => `/Accounts/${api.own.account_sid}/VoipCarriers`
  const provider = () => `/ServiceProviders/${api.own.service_provider_sid}/VoipCarriers`

  it('are made with the owner of the path', async () => {
    const { account_sid, service_provider_sid } = api.own
    for (const token of [api.adminKey, api.own.providerKey, api.own.accountKey])
      expect(await read(await post(`${account()}/`, token, body()))).toMatchObject({
        account_sid,
        service_provider_sid,
      })
    for (const token of [api.adminKey, api.own.providerKey]) {
      expect(await read(await post(provider(), token, body()))).toMatchObject({
        account_sid: null,
        service_provider_sid,
      })
      expect(await read(await post(provider(), token, body({ account_sid })))).toMatchObject({ account_sid })
    }
  })

  it('are refused when the body names another owner', async () => {
    const other = body({ account_sid: api.sibling.account_sid })
    expect((await api.post(account(), api.adminKey, other)).status).toBe(400)
    const foreign = body({ account_sid: api.foreign.account_sid })
    expect((await api.post(provider(), api.adminKey, foreign)).status).toBe(400)
    expect((await api.post(provider(), api.own.providerKey, foreign)).status).toBe(403)
  })

  it('are changed there with the same checks, and only those that belong there', async () => {
    const sid = await create()
    for (const path of [account(), provider()]) {
      expect((await api.put(`${path}/${sid}`, api.own.providerKey, { name: 'x' })).status).toBe(204)
      expect((await api.put(`${path}/${sid}`, api.own.providerKey, { requires_register: 1 })).status).toBe(
        400,
      )
    }
    const [siblings, foreign] = [
      await create({ account_sid: api.sibling.account_sid }),
      await create({ account_sid: api.foreign.account_sid }),
    ]
    expect((await api.put(`${account()}/${siblings}`, api.adminKey, { name: 'x' })).status).toBe(404)
    expect((await api.put(`${provider()}/${foreign}`, api.adminKey, { name: 'x' })).status).toBe(404)
    expect((await api.put(`${account()}/${createSid()}`, api.own.accountKey, {})).status).toBe(404)
  })
})
