// The rules for SIP realms, with a real name server.
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { openTestApi, type TestApi } from '../../../test/support/api.ts'
import type { ApiAnswer } from '../../../test/support/api-request.ts'
import { startNameServer, type ScriptedNameServer } from '../../../test/support/name-server.ts'
import { until } from '../../../test/support/wait.ts'
import { createCarrierHosts, type CarrierHosts } from '../../directory/carrier-hosts.ts'
import { systemTenancy } from '../../contracts/caller.ts'
import { systemClock } from '../../lib/clock.ts'
import { silentLogger } from '../../lib/log.ts'
import { createNames } from '../../network/create-names.ts'
import type { Names } from '../../network/names.ts'
import { createRealmFacts } from '../../directory/realm-facts.ts'
import type { RealmFacts } from '../../contracts/realm-facts.ts'

let server: ScriptedNameServer
let names: Names
let api: TestApi
let facts: RealmFacts
let carrierHosts: CarrierHosts
let made = 0

beforeAll(async () => {
  server = await startNameServer()
  names = createNames({ servers: [server.at], clock: systemClock })
  const zone = 'zone.test'
  api = await openTestApi({
    realmFacts: {
      reserved: new Set(['portal.platform.test']),
      zone,
      leadsToUs: (host) => facts.leadsToUs(host),
      texts: (name) => facts.texts(name),
      isCalledByOthers: (host, account_sid) => facts.isCalledByOthers(host, account_sid),
    },
  })
  const { storage } = api
  carrierHosts = createCarrierHosts({ storage, clock: systemClock, log: silentLogger })
  facts = factsOf(true)
})

afterAll(async () => {
  await api.close()
  names.close()
  await server.close()
})

function factsOf(isProduction: boolean): RealmFacts {
  return createRealmFacts({
    names,
    storage: api.storage,
    carrierHosts,
    bind: '0.0.0.0',
    publicAddress: '203.0.113.7',
    portalUrl: undefined,
    dnsZone: undefined,
    isProduction,
  })
}

const fresh = (zone = 'free.test'): string => `r${++made}.sip.${zone}`
const claim = (realm: string, token = api.own.accountKey, { account_sid } = api.own): Promise<ApiAnswer> =>
  api.post(`/Accounts/${account_sid}/SipRealms/${realm}`, token)
const stored = async (): Promise<string | null | undefined> =>
  (await api.storage.for(systemTenancy).accounts.find(api.own.account_sid))?.sip_realm

async function refused(realm: string, why: string): Promise<void> {
  const before = await stored()
  const answer = await claim(realm)
  expect(answer.body).toMatchObject({ code: 'realm_not_proven', msg: expect.stringContaining(why) as string })
  expect(answer.status).toBe(403)
  expect(answer.text).toContain(`_switchhook.${realm} with \\"switchhook-account=${api.own.account_sid}\\"`)
  expect(await stored()).toBe(before)
}

async function calledBy({ account_sid }: { account_sid: string }, host: string): Promise<void> {
  const { carrier_hosts } = api.storage.for(systemTenancy)
  carrierHosts.carrierCalled({ account_sid }, host)
  const where = { account_sid, host }
  await until('the name to be written down', async () => (await carrier_hosts.count({ where })) === 1)
}

async function setRoot(root_domain: string | null): Promise<void> {
  const path = `/ServiceProviders/${api.own.service_provider_sid}`
  expect((await api.put(path, api.adminKey, { root_domain })).status).toBe(204)
}

describe('an account without a root domain above it', () => {
  beforeEach(() => setRoot(null))

  it('takes any name that leads nowhere or elsewhere', async () => {
    expect((await claim(fresh())).status).toBe(204)
    const elsewhere = fresh()
    server.addresses(elsewhere, ['198.51.100.4'])
    expect((await claim(elsewhere)).status).toBe(204)
  })

  it.each([['203.0.113.7'], ['127.0.0.9']])('does not take one that leads to us: %s', async (address) => {
    const realm = fresh()
    server.addresses(realm, ['198.51.100.4', address])
    await refused(realm, `${realm} leads to this platform`)
  })

  it('does not take one that leads to an address where carriers reach the platform', async () => {
    const { status } = await api.post('/Sbcs', api.adminKey, { ipv4: '203.0.113.99', port: 5060 })
    expect(status).toBe(201)
    const realm = fresh()
    server.addresses(realm, ['203.0.113.99'])
    await refused(realm, 'leads to this platform')
  })

  it('does not take one that a carrier of another account calls, but keeps one that its own calls', async () => {
    const [theirs, both, mine] = [fresh(), fresh(), fresh()]
    await calledBy(api.sibling, theirs)
    await calledBy(api.foreign, both)
    await calledBy(api.own, both)
    await calledBy(api.own, mine)
    await refused(theirs, `carriers of other accounts call ${theirs}`)
    await refused(both, 'carriers of other accounts call')
    expect((await claim(mine)).status).toBe(204)
  })

  it('takes one that leads to us with a TXT record that names the account', async () => {
    const realm = fresh()
    server.addresses(realm, ['203.0.113.7'])
    server.texts(`_switchhook.${realm}`, [`switchhook-account=${api.sibling.account_sid}`])
    await refused(realm, 'leads to this platform')
    server.texts(`_switchhook.${realm}`, ['v=other', `switchhook-account=${api.own.account_sid}`])
    expect((await claim(realm)).status).toBe(204)
    expect(await stored()).toBe(realm)
  })

  it('gets no name in production while no name server responds, and any elsewhere', async () => {
    server.silence('silent.test')
    const answer = await claim(fresh('silent.test'))
    expect([answer.status, answer.body]).toMatchObject([503, { code: 'dns_unavailable' }])
    facts = factsOf(false)
    expect((await claim(fresh('silent.test'))).status).toBe(204)
    facts = factsOf(true)
  })

  it('takes names in the zone of the platform, whose records the platform makes itself', async () => {
    const realm = fresh('zone.test')
    server.addresses(realm, ['203.0.113.7'])
    expect((await claim(realm)).status).toBe(204)
  })
})

describe('an account below a root domain', () => {
  beforeEach(() => setRoot('voice.test'))

  it('takes any name below it, wherever that leads', async () => {
    const realm = fresh('voice.test')
    server.addresses(realm, ['203.0.113.7'])
    expect((await claim(realm)).status).toBe(204)
  })

  it('takes no other, and not one that carriers of others call', async () => {
    await refused(fresh(), 'SipRealm does not lie below voice.test')
    await refused('x.notvoice.test', 'SipRealm does not lie below voice.test')
    const shared = fresh('voice.test')
    await calledBy(api.sibling, shared)
    await refused(shared, 'carriers of other accounts call')
  })

  it('takes another with a TXT record that names the account', async () => {
    const realm = fresh('own.test')
    server.texts(`_switchhook.${realm}`, [`switchhook-account=${api.own.account_sid}`])
    expect((await claim(realm)).status).toBe(204)
  })

  it('says so once more for the realm it has: nothing is asked', async () => {
    const realm = await stored()
    expect((await claim(realm ?? '')).status).toBe(204)
  })
})

describe('an account beside others', () => {
  beforeEach(() => setRoot(null))

  it('takes no name below the root domain of another provider, and an administrator does', async () => {
    const { service_provider_sid } = api.foreign
    const path = `/ServiceProviders/${service_provider_sid}`
    expect((await api.put(path, api.adminKey, { root_domain: 'two.test' })).status).toBe(204)
    for (const realm of ['sales.two.test', 'a.b.two.test'])
      await refused(realm, 'two.test is the root domain of another service provider')
    expect((await claim('sales.two.test', api.adminKey)).status).toBe(204)
    expect((await claim('x.nottwo.test')).status).toBe(204)
  })

  it('does not take the root domain of another provider itself', async () => {
    const root_domain = fresh()
    const path = `/ServiceProviders/${api.foreign.service_provider_sid}`
    expect((await api.put(path, api.adminKey, { root_domain })).status).toBe(204)
    await refused(root_domain, `${root_domain} is the root domain of another service provider`)
  })

  it('takes no name below the SIP realm of another account, and below its own', async () => {
    const theirs = fresh()
    expect((await claim(theirs, api.sibling.accountKey, api.sibling)).status).toBe(204)
    await refused(`pbx.${theirs}`, `${theirs} is the SIP realm of another account`)
    const mine = fresh()
    expect((await claim(mine)).status).toBe(204)
    expect((await claim(`pbx.${mine}`)).status).toBe(204)
  })
})

describe('an administrator or a service provider', () => {
  it('sets any name for an account, one that leads to us included', async () => {
    for (const token of [api.adminKey, api.own.providerKey]) {
      const [path, put] = [fresh(), fresh()]
      for (const realm of [path, put]) server.addresses(realm, ['203.0.113.7'])
      expect((await claim(path, token)).status).toBe(204)
      const { account_sid } = api.own
      expect((await api.put(`/Accounts/${account_sid}`, token, { sip_realm: put })).status).toBe(204)
    }
  })

  it('sets no name of the platform itself, on any way', async () => {
    const { account_sid, service_provider_sid } = api.own
    const before = await stored()
    for (const sip_realm of ['a.b.localhost', 'portal.platform.test']) {
      expect((await claim(sip_realm, api.adminKey)).status).toBe(400)
      expect((await api.put(`/Accounts/${account_sid}`, api.adminKey, { sip_realm })).status).toBe(400)
      const account = { name: `n${++made}`, service_provider_sid, sip_realm }
      expect((await api.post('/Accounts', api.own.providerKey, account)).status).toBe(400)
    }
    expect(await stored()).toBe(before)
  })
})
