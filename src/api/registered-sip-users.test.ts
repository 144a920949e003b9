import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { covers } from '../../test/support/covers.ts'
import { createSid } from '../lib/ids.ts'
import { openTestApi, type TestApi } from '../../test/support/api.ts'

let api: TestApi
beforeAll(async () => {
  api = await openTestApi()
  await api.post('/Clients', api.own.accountKey, {
    username: 'desk',
    password: 'secret',
    allow_direct_queue_calling: 0,
  })
  for (const [user, realm] of [
    ['desk', api.own.realm],
    ['hall', api.own.realm],
    ['far', api.sibling.realm],
  ] as const)
    api.phones.push({
      aor: `${user}@${realm}`,
      contact: `sip:${user}@192.0.2.1:5062`,
      expiresAt: 1_800_000_000_000,
      remote: { transport: 'udp', address: '192.0.2.1', port: 5062 },
    })
})
afterAll(() => api.close())

const path = () => `/Accounts/${api.own.account_sid}/RegisteredSipUsers`
const contacts = [
  {
    contact: expect.stringContaining('sip:'),
    expiryTime: 1_800_000_000_000,
    protocol: 'udp',
    proxy: 'sip:192.0.2.1:5062',
  },
]
const active = {
  contact: expect.stringContaining('sip:'),
  expiryTime: 1_800_000_000_000,
  protocol: 'udp',
  registered_status: 'active',
  contacts,
}
const inactive = { contact: null, expiryTime: 0, protocol: null, registered_status: 'inactive', contacts: [] }

describe('RegisteredSipUsers', () => {
  it(
    'lists the addresses of the account’s realm',
    covers({ section: 'Endpoints: Registered SIP users', says: 'The list is of the users that are online.' }),
    async () => {
      const answer = await api.get(path(), api.own.accountKey)
      expect(answer.body).toEqual([`desk@${api.own.realm}`, `hall@${api.own.realm}`])
    },
  )

  it(
    'answers one record per name asked for, in order',
    covers({
      section: 'Endpoints: Registered SIP users',
      says: 'POST takes an array of user names and answers a record for each.',
    }),
    async () => {
      const answer = await api.post(path(), api.own.accountKey, ['unknown', 'desk'])
      expect(answer.status).toBe(200)
      expect(answer.body).toEqual([
        { name: 'unknown', ...inactive },
        { name: 'desk', ...active },
      ])
    },
  )

  it.each([[undefined], [[]]])('answers all registered users for the body %j', async (body) => {
    const answer = await api.post(path(), api.own.accountKey, body)
    expect((answer.body as { name: string }[]).map(({ name }) => name)).toEqual(['desk', 'hall'])
  })

  it(
    'answers one user with the permissions of its client',
    covers({
      section: 'Not shown',
      says: 'The fields of a registration record.',
      chosen:
        '`name, contact, expiryTime, protocol, registered_status`, and with one user the flags of its client.',
    }),
    async () => {
      expect((await api.get(`${path()}/desk`, api.own.accountKey)).body).toEqual({
        name: 'desk',
        ...active,
        allow_direct_app_calling: 1,
        allow_direct_queue_calling: 0,
        allow_direct_user_calling: 1,
        proxy: 'sip:192.0.2.1:5062',
      })
    },
  )

  it('answers 200 for a user that never registered', async () => {
    expect((await api.get(`${path()}/Unknown`, api.own.accountKey)).body).toEqual({
      name: 'Unknown',
      ...inactive,
      allow_direct_app_calling: 0,
      allow_direct_queue_calling: 0,
      allow_direct_user_calling: 0,
      proxy: null,
    })
  })

  it('shows a user with several phones once, by the one that registered last, and with all of them', async () => {
    const far = `/Accounts/${api.sibling.account_sid}/RegisteredSipUsers`
    const phone = {
      aor: `far@${api.sibling.realm}`,
      contact: 'sip:far@198.51.100.9:5060;transport=tcp',
      expiresAt: 1_800_000_060_000,
      remote: { transport: 'tcp', address: '198.51.100.9', port: 40_000 },
    }
    api.phones.unshift(phone)
    const { contact, expiresAt: expiryTime } = phone
    const latest = { contact, expiryTime, protocol: 'tcp' }
    const shown = {
      name: 'far',
      ...latest,
      registered_status: 'active',
      contacts: [{ ...latest, proxy: 'sip:198.51.100.9:40000' }, ...contacts],
    }
    expect((await api.get(far, api.sibling.accountKey)).body).toEqual([phone.aor])
    expect((await api.post(far, api.sibling.accountKey, [])).body).toEqual([shown])
    expect((await api.post(far, api.sibling.accountKey, ['far'])).body).toEqual([shown])
    expect((await api.get(`${far}/far`, api.sibling.accountKey)).body).toMatchObject({
      ...shown,
      proxy: 'sip:198.51.100.9:40000',
    })
    api.phones.shift()
  })

  it('answers 400 for a body that is no list of texts', async () => {
    for (const body of [{ users: ['a'] }, 'x', [5], Array.from({ length: 1001 }, () => 'a')])
      expect((await api.post(path(), api.own.accountKey, JSON.stringify(body))).status).toBe(400)
  })

  it('answers 400 without a realm, 403 for a foreign account, 404 to an administrator for none', async () => {
    const made = await api.post('/Accounts', api.own.providerKey, { name: 'no realm' })
    const { sid } = made.body as { sid: string }
    const noRealm = `/Accounts/${sid}/RegisteredSipUsers`
    for (const answer of [
      await api.get(noRealm, api.own.providerKey),
      await api.post(noRealm, api.own.providerKey, []),
      await api.get(`${noRealm}/a`, api.own.providerKey),
    ])
      expect(answer.status).toBe(400)
    expect((await api.get(path(), api.sibling.accountKey)).status).toBe(403)
    expect((await api.get(`/Accounts/${createSid()}/RegisteredSipUsers`, api.adminKey)).status).toBe(404)
  })
})
