// Registrations end when an account loses its right to the realm.
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { openTestApi, type TestApi } from '../../../test/support/api.ts'
import type { ApiAnswer } from '../../../test/support/api-request.ts'

let api: TestApi
beforeAll(async () => {
  api = await openTestApi()
})
afterAll(() => api.close())

let made = 0
const nextRealm = (): string => `realm${++made}.example.com`

/** Creates an account with a realm in which `desk` is registered. */
async function createRegistered(): Promise<{ readonly account_sid: string; readonly realm: string }> {
  const realm = nextRealm()
  const { service_provider_sid } = api.own
  const answer = await api.post('/Accounts', api.adminKey, {
    name: realm,
    service_provider_sid,
    sip_realm: realm,
  })
  expect(answer.status).toBe(201)
  api.phones.push({
    aor: `desk@${realm}`,
    contact: 'sip:desk@192.0.2.1',
    expiresAt: Date.now() + 3_600_000,
    remote: { transport: 'udp', address: '192.0.2.1', port: 5060 },
  })
  return { account_sid: (answer.body as { sid: string }).sid, realm }
}

type Account = Awaited<ReturnType<typeof createRegistered>>

describe.each<[string, (account: Account) => Promise<ApiAnswer>]>([
  ['DELETE /Accounts/{sid}', ({ account_sid }) => api.delete(`/Accounts/${account_sid}`, api.adminKey)],
  [
    'PUT /Accounts/{sid} with another realm',
    ({ account_sid }) => api.put(`/Accounts/${account_sid}`, api.adminKey, { sip_realm: nextRealm() }),
  ],
  [
    'PUT /Accounts/{sid} without a realm',
    ({ account_sid }) => api.put(`/Accounts/${account_sid}`, api.adminKey, { sip_realm: null }),
  ],
  [
    'POST /Accounts/{sid}/SipRealms/{realm}',
    ({ account_sid }) => api.post(`/Accounts/${account_sid}/SipRealms/${nextRealm()}`, api.adminKey),
  ],
])('%s', (_name, give) => {
  it('leaves no phone in the realm for the account that gets it next', async () => {
    const former = await createRegistered()
    expect((await give(former)).status).toBe(204)
    const path = `/Accounts/${api.own.account_sid}`
    expect((await api.post(`${path}/SipRealms/${former.realm}`, api.own.accountKey)).status).toBe(204)
    expect((await api.get(`${path}/RegisteredSipUsers`, api.own.accountKey)).body).toEqual([])
  })
})

describe('PUT /Accounts/{sid}', () => {
  const isRegistered = ({ realm }: Account): boolean => api.phones.some(({ aor }) => aor === `desk@${realm}`)

  it('with is_active 0 ends the registrations', async () => {
    const account = await createRegistered()
    await api.put(`/Accounts/${account.account_sid}`, api.adminKey, { is_active: 0 })
    expect(isRegistered(account)).toBe(false)
  })

  it('of anything else leaves them, the realm it has already included', async () => {
    const account = await createRegistered()
    const { account_sid, realm } = account
    const changes = { name: 'another', is_active: 1, sip_realm: realm.toUpperCase() }
    expect((await api.put(`/Accounts/${account_sid}`, api.adminKey, changes)).status).toBe(204)
    expect((await api.post(`/Accounts/${account_sid}/SipRealms/${realm}`, api.adminKey)).status).toBe(204)
    expect(isRegistered(account)).toBe(true)
  })
})
