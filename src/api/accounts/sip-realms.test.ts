// A realm in the database and its records in DNS, on a real name server.
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { openTestApi, type TestApi } from '../../../test/support/api.ts'
import { startBind, type NameServer } from '../../../test/support/bind.ts'
import { isMissing } from '../../../test/support/tools.ts'
import { createRealmRecords } from '../../dns/create-realm-records.ts'
import type { RealmRecords } from '../../dns/dns.ts'
import { createUpdateClient } from '../../dns/create-update-client.ts'
import { systemTenancy } from '../../contracts/caller.ts'
import { systemClock } from '../../lib/clock.ts'
import { createSid } from '../../lib/ids.ts'

const target = { address: '192.0.2.7', port: 5060 }

function recordsAt({ address, port, zone, key }: NameServer, secret = key.secret): RealmRecords {
  const client = createUpdateClient({
    server: { address, port },
    zone,
    key: { name: key.name, secret },
    clock: systemClock,
  })
  return createRealmRecords({ client, zone, target: () => target })
}

describe.skipIf(isMissing('bind'))('SIP realms with a name server', () => {
  let bind: NameServer
  let api: TestApi
  let made = 0
  beforeAll(async () => {
    bind = await startBind()
    api = await openTestApi({ realms: recordsAt(bind) })
  })
  afterAll(async () => {
    await api.close()
    await bind.stop()
  })

  const realmOf = (): string => `r${++made}.${bind.zone}`
  const set = (account_sid: string, realm: string, token = api.adminKey, at = api) =>
    at.post(`/Accounts/${account_sid}/SipRealms/${realm}`, token)
  const stored = async (account_sid: string, at = api) =>
    (await at.storage.for(systemTenancy).accounts.find(account_sid))?.sip_realm
  const isThere = (realm: string): Promise<boolean> =>
    bind.resolver.resolveSrv(`_sip._udp.${realm}`).then(
      () => true,
      () => false,
    )

  async function createAccount(more: object = {}): Promise<string> {
    const { service_provider_sid } = api.own
    const body = { name: `a${++made}`, service_provider_sid, ...more }
    const answer = await api.post('/Accounts', api.adminKey, body)
    expect(answer.status).toBe(201)
    return (answer.body as { sid: string }).sid
  }

  it('are in DNS and in the database once POST has answered 204; the former one is gone from DNS', async () => {
    const { account_sid, accountKey } = api.own
    const [first, second] = [realmOf(), realmOf()]
    expect((await set(account_sid, first, accountKey)).status).toBe(204)
    expect([await stored(account_sid), await isThere(first)]).toEqual([first, true])
    expect(await bind.resolver.resolve4(first)).toEqual([target.address])
    expect((await set(account_sid, second.toUpperCase(), accountKey)).status).toBe(204)
    expect(await stored(account_sid)).toBe(second)
    expect([await isThere(first), await isThere(second)]).toEqual([false, true])
  })

  it('of another account answer 422, and DNS stays as it is', async () => {
    const realm = realmOf()
    expect((await set(api.sibling.account_sid, realm)).status).toBe(204)
    const before = await stored(api.own.account_sid)
    expect((await set(api.own.account_sid, realm)).status).toBe(422)
    expect([await stored(api.own.account_sid), await isThere(realm)]).toEqual([before, true])
  })

  it('that the zone has for something else answer 422, and nothing is stored', async () => {
    const before = await stored(api.own.account_sid)
    expect((await set(api.own.account_sid, `www.${bind.zone}`)).status).toBe(422)
    expect(await stored(api.own.account_sid)).toBe(before)
  })

  it('are written for an account that is made with one, moved by PUT, and removed with the account', async () => {
    const [first, second] = [realmOf(), realmOf()]
    const sid = await createAccount({ sip_realm: first })
    expect(await isThere(first)).toBe(true)
    expect((await api.put(`/Accounts/${sid}`, api.adminKey, { sip_realm: second })).status).toBe(204)
    expect([await isThere(first), await isThere(second)]).toEqual([false, true])
    expect((await api.delete(`/Accounts/${sid}`, api.adminKey)).status).toBe(204)
    expect(await isThere(second)).toBe(false)
  })

  it('are removed when an administrator clears them', async () => {
    const realm = realmOf()
    const sid = await createAccount({ sip_realm: realm })
    expect((await api.put(`/Accounts/${sid}`, api.adminKey, { sip_realm: null })).status).toBe(204)
    expect([await stored(sid), await isThere(realm)]).toEqual([null, false])
  })

  it('are not written for a caller who may not make or change the account', async () => {
    const { service_provider_sid } = api.foreign
    const [first, second] = [realmOf(), realmOf()]
    const body = { name: 'a', service_provider_sid, sip_realm: first }
    expect((await api.post('/Accounts', api.own.providerKey, body)).status).toBe(403)
    const path = `/Accounts/${api.foreign.account_sid}`
    expect((await api.put(path, api.own.providerKey, { sip_realm: second })).status).toBe(403)
    expect((await set(api.foreign.account_sid, second, api.own.accountKey)).status).toBe(403)
    expect([await isThere(first), await isThere(second)]).toEqual([false, false])
  })

  it.each<[string, object, Readonly<Record<string, string>>, number]>([
    ['points at nothing', { device_calling_application_sid: createSid() }, {}, 400],
    ['supposes another state', {}, { 'if-match': '"another"' }, 412],
  ])('stay where they are when the change of the account %s', async (_name, more, headers, status) => {
    const [present, wanted] = [realmOf(), realmOf()]
    const sid = await createAccount({ sip_realm: present })
    const body = { sip_realm: wanted, ...more }
    const answer = await api.request('PUT', `/Accounts/${sid}`, api.adminKey, { body, headers })
    expect(answer.status).toBe(status)
    expect([await stored(sid), await isThere(present), await isThere(wanted)]).toEqual([present, true, false])
  })

  it.each([{}, { 'idempotency-key': 'once' }])(
    'are gone again when their account is refused (%j)',
    async (headers) => {
      const realm = realmOf()
      const { service_provider_sid } = api.own
      const body = { name: 'a', service_provider_sid, sip_realm: realm, siprec_hook_sid: createSid() }
      const answer = await api.request('POST', '/Accounts', api.adminKey, { body, headers })
      expect(answer.status).toBe(400)
      expect(await isThere(realm)).toBe(false)
    },
  )

  it('answer 500 {msg} saying what is wrong when the key is, and nothing is stored', async () => {
    const other = await openTestApi({ realms: recordsAt(bind, Buffer.alloc(32, 9)) })
    const { account_sid, realm } = other.own
    const wanted = realmOf()
    const answer = await set(account_sid, wanted, other.adminKey, other)
    expect(answer.status).toBe(500)
    expect(answer.body).toMatchObject({
      code: 'dns_update_failed',
      msg: 'the name server did not accept the signature: the secrets differ',
    })
    expect([await stored(account_sid, other), await isThere(wanted)]).toEqual([realm, false])
    await other.close()
  })
})

describe('a realm that another account gets while its records are written', () => {
  it.each([{}, { 'idempotency-key': 'once' }])(
    'is refused with 422, and the records of the former one are back (%j)',
    async (headers) => {
      const records = new Set<string>()
      let meanwhile: () => Promise<unknown> = () => Promise.resolve()
      const realms: RealmRecords = {
        async move(from, to) {
          if (from !== undefined) records.delete(from)
          records.add(to)
          await meanwhile()
        },
        async remove(realm) {
          records.delete(realm)
        },
      }
      const api = await openTestApi({ realms })
      const { own, sibling } = api
      const wanted = 'wanted.sip.example.com'
      const { accounts } = api.storage.for(systemTenancy)
      records.add(own.realm)
      meanwhile = () => accounts.update(sibling.account_sid, { sip_realm: wanted })
      const path = `/Accounts/${own.account_sid}/SipRealms/${wanted}`
      const answer = await api.request('POST', path, own.accountKey, { headers })
      expect([answer.status, answer.body]).toEqual([422, expect.objectContaining({ code: 'duplicate' })])
      expect(records).toContain(own.realm)
      await api.close()
    },
  )
})
