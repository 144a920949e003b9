import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { covers } from '../../test/support/covers.ts'
import { systemTenancy } from '../contracts/caller.ts'
import { createSid } from '../lib/ids.ts'
import { openTestApi, type TestApi } from '../../test/support/api.ts'

const calledByOthers = new Set<string>()
const texts = new Map<string, readonly string[]>()
let api: TestApi
beforeAll(async () => {
  api = await openTestApi({
    realmFacts: {
      isCalledByOthers: async (host) => calledByOthers.has(host),
      leadsToUs: async (host) => host.endsWith('.here.example'),
      texts: async (name) => texts.get(name) ?? [],
    },
  })
})
afterAll(() => api.close())

const path = '/MicrosoftTeamsTenants'
let made = 0
const body = (more: object = {}) => ({
  service_provider_sid: api.own.service_provider_sid,
  tenant_fqdn: `t${++made}.teams.example.com`,
  ...more,
})

async function create(more: object = {}, token = api.adminKey): Promise<string> {
  const answer = await api.post(path, token, body(more))
  expect(answer.text).toMatch(/^\{"sid":"[0-9a-f-]{36}"\}$/)
  expect(answer.status).toBe(201)
  return (answer.body as { sid: string }).sid
}

async function application(account_sid: string): Promise<string> {
  const hook = { url: 'https://a.example.com' }
  const sent = { name: `application ${++made}`, account_sid, call_hook: hook, call_status_hook: hook }
  return ((await api.post('/Applications', api.adminKey, sent)).body as { sid: string }).sid
}

describe('POST /MicrosoftTeamsTenants', () => {
  it('answers 201 {sid}; optional fields of the record are left out while unset', async () => {
    const { account_sid, service_provider_sid } = api.own
    const sid = await create({ tenant_fqdn: 'Upper.Teams.Example.com' })
    expect((await api.get(`${path}/${sid}`, api.adminKey)).body).toEqual({
      ms_teams_tenant_sid: sid,
      service_provider_sid,
      tenant_fqdn: 'upper.teams.example.com',
    })
    const application_sid = await application(account_sid)
    const whole = await create({ account_sid, application_sid })
    expect((await api.get(`${path}/${whole}`, api.own.accountKey)).body).toMatchObject({
      account_sid,
      application_sid,
      service_provider_sid,
    })
  })

  it('takes owner and provider from the key of an account or a provider', async () => {
    const { account_sid, service_provider_sid, accountKey, providerKey } = api.own
    const ofAccount = await create({ service_provider_sid: undefined }, accountKey)
    expect((await api.get(`${path}/${ofAccount}`, accountKey)).body).toMatchObject({
      account_sid,
      service_provider_sid,
    })
    const ofProvider = await create({ service_provider_sid: undefined }, providerKey)
    expect((await api.get(`${path}/${ofProvider}`, providerKey)).body).not.toHaveProperty('account_sid')
  })

  it.each([
    ['no provider', { service_provider_sid: undefined }, 'service_provider_sid is required'],
    ['an unknown provider', { service_provider_sid: createSid() }, 'service_provider_sid names no'],
    ['an unknown account', { account_sid: createSid() }, 'account_sid names no existing account'],
    ['no tenant_fqdn', { tenant_fqdn: undefined }, 'tenant_fqdn is required'],
    ['null for tenant_fqdn', { tenant_fqdn: null }, 'tenant_fqdn must be'],
    ['a number', { tenant_fqdn: 5 }, 'tenant_fqdn must be'],
    ['a name without a dot', { tenant_fqdn: 'teams' }, 'tenant_fqdn must be a domain name'],
    ['an address', { tenant_fqdn: '192.0.2.1' }, 'tenant_fqdn must be a domain name'],
    ['CR LF', { tenant_fqdn: 'a.example.com\r\nX: y' }, 'tenant_fqdn must be a domain name'],
    ['a long name', { tenant_fqdn: `${'a.'.repeat(128)}com` }, 'tenant_fqdn must have at most 255'],
    ['an unknown application', { application_sid: createSid() }, 'application_sid names no application'],
  ])('answers 400 naming the field for %s', async (_name, more, msg) => {
    const answer = await api.post(path, api.adminKey, body(more))
    expect(answer.status).toBe(400)
    expect((answer.body as { msg: string }).msg).toContain(msg)
  })

  it('answers 400 for an account of another provider and an application without its account', async () => {
    const account_sid = api.foreign.account_sid
    expect((await api.post(path, api.adminKey, body({ account_sid }))).status).toBe(400)
    const application_sid = await application(api.own.account_sid)
    expect((await api.post(path, api.adminKey, body({ application_sid }))).status).toBe(400)
  })

  it('answers 403 for another owner than the caller', async () => {
    for (const [token, sent] of [
      [api.own.accountKey, { account_sid: api.sibling.account_sid }],
      [api.own.accountKey, { service_provider_sid: api.foreign.service_provider_sid }],
      [api.own.providerKey, { service_provider_sid: api.foreign.service_provider_sid }],
      [api.own.providerKey, { account_sid: api.foreign.account_sid }],
    ] as const)
      expect((await api.post(path, token, body(sent))).status).toBe(403)
  })

  it('answers 422 for a tenant_fqdn that is taken, in any case', async () => {
    const { tenant_fqdn, ...sent } = body()
    await create({ tenant_fqdn })
    const again = { ...sent, tenant_fqdn: tenant_fqdn.toUpperCase() }
    const answer = await api.post(path, api.adminKey, again)
    expect(answer.status).toBe(422)
    expect((answer.body as { msg: string }).msg).toContain('tenant_fqdn')
  })
})

describe('the name of a tenant', () => {
  it('may not lie below the domain of another provider, nor be what carriers of others or their phones call', async () => {
    const { accounts, service_providers } = api.storage.for(systemTenancy)
    await service_providers.update(api.foreign.service_provider_sid, {
      ms_teams_fqdn: 'teams.foreign.example',
    })
    await accounts.update(api.sibling.account_sid, { sip_realm: 'sip.sibling.example' })
    calledByOthers.add('sbc.hand-made.example')
    const { account_sid } = api.own
    for (const [tenant_fqdn, why] of [
      [
        'acme.teams.foreign.example',
        'teams.foreign.example is the ms_teams_fqdn of another service provider',
      ],
      ['teams.foreign.example', 'of another service provider'],
      ['sip.sibling.example', 'is the SIP realm of another account'],
      ['sbc.hand-made.example', 'carriers of other accounts call'],
    ] as const) {
      const answer = await api.post(path, api.own.accountKey, body({ account_sid, tenant_fqdn }))
      expect(answer.status).toBe(422)
      expect((answer.body as { msg: string }).msg).toContain(why)
      const sid = await create({ account_sid })
      expect((await api.put(`${path}/${sid}`, api.own.accountKey, { tenant_fqdn })).status).toBe(422)
    }
    await create({ account_sid: api.sibling.account_sid, tenant_fqdn: 'sip.sibling.example' })
  })
})

describe('GET /MicrosoftTeamsTenants', () => {
  it('lists what the caller may see', async () => {
    const sids = {
      own: await create({ account_sid: api.own.account_sid }),
      sibling: await create({ account_sid: api.sibling.account_sid }),
      provider: await create(),
      foreign: await create({ service_provider_sid: api.foreign.service_provider_sid }),
    }
    const seenBy = async (token: string): Promise<string[]> => {
      const text = (await api.get(path, token)).text
      return Object.entries(sids).flatMap(([name, sid]) => (text.includes(sid) ? [name] : []))
    }
    expect(await seenBy(api.own.accountKey)).toEqual(['own'])
    expect(await seenBy(api.own.providerKey)).toEqual(['own', 'sibling', 'provider'])
    expect(await seenBy(api.adminKey)).toEqual(Object.keys(sids))
  })

  it('answers 404 alike for a missing, a malformed and a foreign tenant', async () => {
    const foreign = await create({ account_sid: api.sibling.account_sid })
    for (const sid of [foreign, createSid(), 'nonsense'])
      for (const method of ['GET', 'PUT', 'DELETE'] as const) {
        const answer = await api.request(method, `${path}/${sid}`, api.own.accountKey)
        expect(answer.status).toBe(404)
        expect(answer.body).toMatchObject({ msg: 'no such Microsoft Teams tenant' })
      }
  })
})

describe('PUT and DELETE /MicrosoftTeamsTenants/{sid}', () => {
  it(
    'take the full record back, change what is sent and keep the rest',
    covers({ section: 'Fields: MS Teams tenant', says: 'An update takes the full record.' }),
    async () => {
      const { account_sid } = api.own
      const sid = await create({ account_sid })
      const application_sid = await application(account_sid)
      expect((await api.put(`${path}/${sid}`, api.own.accountKey, { application_sid })).status).toBe(204)
      const record = (await api.get(`${path}/${sid}`, api.own.accountKey)).body as object
      expect(record).toMatchObject({ application_sid, account_sid })
      expect((await api.put(`${path}/${sid}`, api.own.accountKey, record)).status).toBe(204)
      expect((await api.get(`${path}/${sid}`, api.own.accountKey)).body).toEqual(record)
      const cleared = await api.put(`${path}/${sid}`, api.adminKey, {
        account_sid: null,
        application_sid: null,
      })
      expect(cleared.status).toBe(204)
      expect((await api.get(`${path}/${sid}`, api.own.accountKey)).status).toBe(404)
    },
  )

  it('answer 422 for a taken tenant_fqdn, 400 for another provider, 403 to an account that gives it away', async () => {
    const [one, other] = [await create({ account_sid: api.own.account_sid }), await create()]
    const { tenant_fqdn } = (await api.get(`${path}/${other}`, api.adminKey)).body as { tenant_fqdn: string }
    expect((await api.put(`${path}/${one}`, api.own.accountKey, { tenant_fqdn })).status).toBe(422)
    const { service_provider_sid } = api.foreign
    expect((await api.put(`${path}/${one}`, api.adminKey, { service_provider_sid })).status).toBe(400)
    const { account_sid } = api.sibling
    expect((await api.put(`${path}/${one}`, api.own.accountKey, { account_sid })).status).toBe(403)
  })

  it('answer 422 where the account that it is given to may not have its name, alone or with another one', async () => {
    const { accounts } = api.storage.for(systemTenancy)
    await accounts.update(api.own.account_sid, { sip_realm: 'sip.own.example' })
    const sid = await create({ account_sid: api.own.account_sid, tenant_fqdn: 'sip.own.example' })
    const { account_sid } = api.sibling
    for (const given of [
      { account_sid },
      { account_sid: null },
      { account_sid, tenant_fqdn: 'sip.own.example' },
    ])
      expect((await api.put(`${path}/${sid}`, api.adminKey, given)).status).toBe(422)
    const free = { account_sid, tenant_fqdn: `t${++made}.teams.example.com` }
    expect((await api.put(`${path}/${sid}`, api.adminKey, free)).status).toBe(204)
  })

  it('answers 204, and the tenant is gone', async () => {
    const sid = await create({ account_sid: api.own.account_sid })
    expect((await api.delete(`${path}/${sid}`, api.own.accountKey)).status).toBe(204)
    expect((await api.get(`${path}/${sid}`, api.adminKey)).status).toBe(404)
  })
})

describe('a name that leads to this platform', () => {
  const name = () => `t${++made}.here.example`
  const proof = (account_sid: string) => [`switchhook-account=${account_sid}`]

  it('needs a TXT record of the account that takes it, when it is made and when it is changed', async () => {
    const { account_sid, accountKey } = api.own
    const tenant_fqdn = name()
    const mine = await create({ service_provider_sid: undefined }, accountKey)
    const tries = [
      () => api.post(path, accountKey, { tenant_fqdn }),
      () => api.put(`${path}/${mine}`, accountKey, { tenant_fqdn }),
    ]
    texts.set(`_switchhook.${tenant_fqdn}`, proof(api.sibling.account_sid))
    for (const attempt of tries) {
      const answer = await attempt()
      expect(answer.status).toBe(403)
      expect(answer.body).toMatchObject({
        code: 'realm_not_proven',
        msg: `${tenant_fqdn} leads to this platform; a TXT record _switchhook.${tenant_fqdn} with "switchhook-account=${account_sid}" would prove that it is yours`,
      })
    }
    texts.set(`_switchhook.${tenant_fqdn}`, proof(account_sid))
    expect((await api.put(`${path}/${mine}`, accountKey, { tenant_fqdn })).status).toBe(204)
    const other = name()
    texts.set(`_switchhook.${other}`, proof(account_sid))
    await create({ service_provider_sid: undefined, tenant_fqdn: other }, accountKey)
  })

  it('needs none below the ms_teams_fqdn of its provider, as its own realm, or from those above accounts', async () => {
    const { account_sid, accountKey, providerKey, service_provider_sid } = api.own
    await create({ account_sid, tenant_fqdn: name() }, providerKey)
    await create({ account_sid, tenant_fqdn: name() })
    const realm = name()
    const all = api.storage.for(systemTenancy)
    await all.accounts.update(account_sid, { sip_realm: realm })
    await create({ service_provider_sid: undefined, tenant_fqdn: realm }, accountKey)
    await all.service_providers.update(service_provider_sid, { ms_teams_fqdn: 'here.example' })
    await create({ service_provider_sid: undefined, tenant_fqdn: name() }, accountKey)
    const outside = await api.post(path, accountKey, { tenant_fqdn: 'other.example' })
    expect(outside.body).toMatchObject({
      code: 'realm_not_proven',
      msg: expect.stringContaining('tenant_fqdn does not lie below here.example'),
    })
    await all.service_providers.update(service_provider_sid, { ms_teams_fqdn: null })
  })
})
