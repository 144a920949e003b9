import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { systemTenancy } from '../../contracts/caller.ts'
import { apiKeyColumns } from '../../lib/api-key.ts'
import { openTestApi, type TestApi } from '../../../test/support/api.ts'

let api: TestApi
afterAll(() => api.close())

async function post(path: string, token: string, sent: object): Promise<string> {
  const answer = await api.post(path, token, sent)
  expect(answer.status).toBe(201)
  return (answer.body as { sid: string }).sid
}

describe('quotas', () => {
  beforeAll(async () => {
    api = await openTestApi({ rules: { hasQuotas: true } })
  })

  it('refuse an account one carrier more with 422, and refuse no other caller', async () => {
    const { account_sid, accountKey, providerKey } = api.own
    const sent = { name: 'a carrier', account_sid }
    await post('/VoipCarriers', accountKey, sent)
    await api.storage.transaction(systemTenancy, async ({ voip_carriers }) => {
      for (let n = 1; n < 100; n++) await voip_carriers.insert({ account_sid, name: `${n}` })
    })
    const path = `/Accounts/${account_sid}/VoipCarriers`
    for (const at of ['/VoipCarriers', path]) {
      const answer = await api.post(at, accountKey, sent)
      expect(answer.status).toBe(422)
      expect(answer.body).toMatchObject({
        msg: 'an account may have at most 100 voip carriers',
        code: 'quota_reached',
      })
    }
    const templates = (await api.get('/PredefinedCarriers', accountKey)).body as {
      predefined_carrier_sid: string
    }[]
    const { predefined_carrier_sid } = templates[0]!
    const made = await api.post(
      `/Accounts/${account_sid}/PredefinedCarriers/${predefined_carrier_sid}`,
      accountKey,
    )
    expect(made.status).toBe(422)
    await post('/VoipCarriers', providerKey, sent)
    await post('/VoipCarriers', api.sibling.accountKey, { name: 'a carrier' })
  })

  it.each([
    ['phone_numbers', 5000, '/PhoneNumbers', { number: '9999' }],
    ['applications', 500, '/Applications', application('one more')],
    ['api_keys', 100, '/ApiKeys', {}],
  ] as const)('count %s up to %i', async (table, quota, path, sent) => {
    const { account_sid, accountKey } = api.own
    await api.storage.transaction(systemTenancy, async (rows) => {
      const present = await rows[table].count({ where: { account_sid } })
      for (let n = present; n < quota; n++) {
        if (table === 'phone_numbers')
          await rows.phone_numbers.insert({ account_sid, number: `${n}`, received_number: `${n}` })
        if (table === 'applications') await rows.applications.insert({ account_sid, name: `${n}` })
        if (table === 'api_keys')
          await rows.api_keys.insert({ account_sid, token_hash: `${n}`, token_prefix: '' })
      }
    })
    const answer = await api.post(path, accountKey, { ...sent, account_sid })
    expect(answer.status).toBe(422)
    expect(answer.body).toMatchObject({
      msg: `an account may have at most ${quota} ${table.replace('_', ' ')}`,
    })
    expect((await api.post(path, api.adminKey, { ...sent, account_sid })).status).toBeLessThan(300)
  })

  it('count gateways over all carriers of the account', async () => {
    const { account_sid, accountKey } = api.own
    const listed = (await api.get('/VoipCarriers', accountKey)).body as { voip_carrier_sid: string }[]
    const { voip_carrier_sid } = listed[0]!
    await api.storage.transaction(systemTenancy, async ({ sip_gateways }) => {
      for (let n = 0; n < 500; n++)
        await sip_gateways.insert({ account_sid, voip_carrier_sid, ipv4: '192.0.2.1' })
    })
    const sent = { voip_carrier_sid, ipv4: '192.0.2.1' }
    expect((await api.post('/SipGateways', accountKey, sent)).status).toBe(422)
  })
})

function application(name: string) {
  const hook = { url: 'https://a.example.com' }
  return { name, call_hook: hook, call_status_hook: hook }
}

describe('carriers that the operator keeps', () => {
  beforeAll(async () => {
    await api.close()
    api = await openTestApi({ rules: { reservesCarriers: true, minNetmask: 24 } })
  })

  it('are read by an account, and changed by those above it', async () => {
    const { account_sid, accountKey, providerKey } = api.own
    const voip_carrier_sid = await post('/VoipCarriers', providerKey, { name: 'a carrier', account_sid })
    const gateway = { voip_carrier_sid, ipv4: '192.0.2.1' }
    const sip = await post('/SipGateways', providerKey, gateway)
    const smpp = await post('/SmppGateways', providerKey, gateway)
    const number = await post('/PhoneNumbers', providerKey, { number: '1', account_sid })
    for (const [path, sid, sent] of [
      ['/VoipCarriers', voip_carrier_sid, { name: 'another' }],
      ['/SipGateways', sip, gateway],
      ['/SmppGateways', smpp, gateway],
      ['/PhoneNumbers', number, { number: '2' }],
      [`/Accounts/${account_sid}/VoipCarriers`, undefined, { name: 'another' }],
    ] as const) {
      const answers = [await api.post(path, accountKey, sent)]
      if (sid !== undefined) {
        answers.push(await api.put(`${path}/${sid}`, accountKey, {}))
        answers.push(await api.delete(`${path}/${sid}`, accountKey))
        expect((await api.get(`${path}/${sid}`, accountKey)).status).toBe(200)
      }
      for (const { status, body } of answers) {
        expect(status).toBe(400)
        expect(body).toMatchObject({ msg: expect.stringContaining('managed by the operator') })
      }
    }
    expect((await api.delete(`/VoipCarriers/${voip_carrier_sid}`, providerKey)).status).toBe(204)
  })

  it('stand for no wider network than the operator allows', async () => {
    const voip_carrier_sid = await post('/VoipCarriers', api.adminKey, { name: 'a carrier' })
    const gateway = { voip_carrier_sid, ipv4: '192.0.2.0', inbound: true }
    for (const path of ['/SipGateways', '/SmppGateways']) {
      const answer = await api.post(path, api.adminKey, { ...gateway, netmask: 23 })
      expect(answer.status).toBe(400)
      expect(answer.body).toMatchObject({ msg: 'netmask must be at least 24 on this platform' })
      const sid = await post(path, api.adminKey, { ...gateway, netmask: 24 })
      expect((await api.put(`${path}/${sid}`, api.adminKey, { netmask: 1 })).status).toBe(400)
    }
  })
})

describe('passwords that others may know or guess', () => {
  beforeAll(async () => {
    await api.close()
    api = await openTestApi({ rules: { minSipPassword: 8, refusesPublished: true } })
  })

  it.each([
    ['/Clients', 'password', { username: 'alice' }],
    ['/VoipCarriers', 'inbound_auth_password', { name: 'a carrier' }],
  ])('are refused by %s when they are set, and stored ones stay', async (path, field, rest) => {
    const { account_sid, accountKey } = api.own
    const sid = await post(path, accountKey, { account_sid, ...rest, [field]: 'eight ch' })
    const table = path === '/Clients' ? 'clients' : 'voip_carriers'
    await api.storage.transaction(systemTenancy, (rows) =>
      table === 'clients'
        ? rows.clients.update(sid, { password: '1' })
        : rows.voip_carriers.update(sid, { inbound_auth_password: '1' }),
    )
    const short = `${field} must have at least 8 characters, which SWITCHHOOK_MIN_SIP_PASSWORD of the platform says`
    for (const [sent, msg] of [
      ['1234567', short],
      ['a-long-secret', `${field} is printed in the documentation`],
    ] as const) {
      const other = path === '/Clients' ? { username: 'bob' } : { name: 'another' }
      for (const answer of [
        await api.post(path, accountKey, { account_sid, ...other, [field]: sent }),
        await api.put(`${path}/${sid}`, accountKey, { [field]: sent }),
      ]) {
        expect(answer.status).toBe(400)
        expect((answer.body as { msg: string }).msg).toContain(msg)
      }
    }
    // A form sends every field back, the short password that is stored among them.
    const record = (await api.get(`${path}/${sid}`, accountKey)).body as Record<string, unknown>
    for (const sent of [record[field], '1'])
      expect((await api.put(`${path}/${sid}`, accountKey, { ...rest, [field]: sent })).status).toBe(204)
  })

  it.each(['register_password', 'smpp_password', 'smpp_inbound_password'])(
    'are refused as %s of a carrier when they are printed, whatever their length, and stored ones stay',
    async (field) => {
      const { account_sid, accountKey } = api.own
      const sid = await post('/VoipCarriers', accountKey, { account_sid, name: field, [field]: 'short' })
      for (const answer of [
        await api.post('/VoipCarriers', accountKey, { account_sid, name: 'other', [field]: 'trunk-secret' }),
        await api.put(`/VoipCarriers/${sid}`, accountKey, { [field]: 'trunk-secret' }),
      ]) {
        expect(answer.status).toBe(400)
        expect((answer.body as { msg: string }).msg).toContain(`${field} is printed in the documentation`)
      }
      await api.storage.transaction(systemTenancy, (rows) =>
        rows.voip_carriers.update(sid, { [field]: 'trunk-secret' }),
      )
      const change = { description: 'x', [field]: 'trunk-secret' }
      expect((await api.put(`/VoipCarriers/${sid}`, accountKey, change)).status).toBe(204)
    },
  )

  it('are refused as passwords of users', async () => {
    const sent = {
      name: 'carla',
      email: 'carla@example.com',
      is_active: true,
      force_change: false,
      is_view_only: false,
      initial_password: 'correct horse 1',
      account_sid: api.own.account_sid,
    }
    const answer = await api.post('/Users', api.adminKey, sent)
    expect(answer.status).toBe(403)
    expect(answer.body).toMatchObject({ msg: expect.stringContaining('initial_password is printed') })
    const other = { ...sent, initial_password: 'no horse 1' }
    expect((await api.post('/Users', api.adminKey, other)).status).toBe(200)
  })

  it('are refused as API keys that were stored outside production', async () => {
    const published = 'test-admin-key-0123456789abcdef'
    await api.storage.transaction(systemTenancy, (rows) => rows.api_keys.insert(apiKeyColumns(published)))
    expect((await api.get('/Accounts', published)).status).toBe(401)
    expect((await api.get('/Accounts', api.adminKey)).status).toBe(200)
  })
})
