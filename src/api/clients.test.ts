import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { covers } from '../../test/support/covers.ts'
import { systemTenancy } from '../contracts/caller.ts'
import { createSid } from '../lib/ids.ts'
import { openTestApi, type TestApi } from '../../test/support/api.ts'

let api: TestApi
beforeAll(async () => {
  api = await openTestApi()
})
afterAll(() => api.close())

let made = 0
const body = (more: object = {}) => ({
  account_sid: api.own.account_sid,
  username: `phone${++made}`,
  password: 'secret',
  ...more,
})

async function create(more: object = {}, token = api.adminKey): Promise<string> {
  const answer = await api.post('/Clients', token, body(more))
  expect(answer.status).toBe(201)
  return (answer.body as { sid: string }).sid
}

describe('POST /Clients', () => {
  it(
    'answers 201 {sid}; flags are 1 unless sent, and the password is masked',
    covers({ section: 'Fields: Client', says: 'The four flags are 1 unless sent.' }),
    async () => {
      const sid = await create({ allow_direct_user_calling: false })
      expect((await api.get(`/Clients/${sid}`, api.own.accountKey)).body).toEqual({
        client_sid: sid,
        account_sid: api.own.account_sid,
        username: `phone${made}`,
        password: 'sxxxxx',
        is_active: 1,
        allow_direct_app_calling: 1,
        allow_direct_queue_calling: 1,
        allow_direct_user_calling: 0,
      })
    },
  )

  it.each([
    ['a missing username', { username: undefined }, 'username is required'],
    ['a missing password', { password: undefined }, 'password is required'],
    ['a missing account', { account_sid: undefined }, 'account_sid is required'],
    ['CR LF in the username', { username: 'a\r\nContact: b' }, 'username must have only'],
    ['an at sign in the username', { username: 'a@b' }, 'username must have only'],
    ['a control character in the password', { password: 'a\u0000b' }, 'password must not contain control'],
    ['a long username', { username: 'x'.repeat(65) }, 'username must have at most 64 characters'],
    ['a word as flag', { is_active: 'yes' }, 'is_active must be'],
  ])('answers 400 naming the field for %s', async (_name, more, msg) => {
    const answer = await api.post('/Clients', api.adminKey, body(more))
    expect(answer.status).toBe(400)
    expect((answer.body as { msg: string }).msg).toContain(msg)
  })

  it('answers 400 for a username of the same account, 201 for that of another', async () => {
    await create({ username: 'twice' })
    const answer = await api.post('/Clients', api.own.accountKey, body({ username: 'twice' }))
    expect([answer.status, (answer.body as { code: string }).code]).toEqual([400, 'already_exists'])
    expect((answer.body as { msg: string }).msg).toContain('username')
    await create({ username: 'twice', account_sid: api.sibling.account_sid })
  })

  it('answers 403 for a foreign account', async () => {
    const { account_sid } = api.foreign
    expect((await api.post('/Clients', api.own.accountKey, body({ account_sid }))).status).toBe(403)
    expect((await api.post('/Clients', api.own.providerKey, body({ account_sid }))).status).toBe(403)
  })
})

describe('GET /Clients', () => {
  it(
    'lists the caller’s own, with masked passwords',
    covers({
      section: 'Fields: Client',
      says: 'A list shows the first character of a password and `x` for each other.',
    }),
    async () => {
      await create({ account_sid: api.foreign.account_sid })
      const answer = await api.get('/Clients', api.own.accountKey)
      const listed = answer.body as { account_sid: string; password: string }[]
      expect(listed.length).toBeGreaterThan(0)
      for (const { account_sid, password } of listed) {
        expect(account_sid).toBe(api.own.account_sid)
        expect(password).toBe('sxxxxx')
      }
    },
  )
})

describe('PUT /Clients/{sid}', () => {
  it(
    'changes the flags that are sent, keeps the others, and ignores what is no field',
    covers({
      section: 'Fields: Client',
      says: 'An update takes the four flags.',
      chosen: 'It takes `username` and `password` too, so that a password that leaked can be changed.',
    }),
    async () => {
      const sid = await create()
      const change = { is_active: '0', nickname: 'other', password: 'sxxxxx', client_sid: sid }
      expect((await api.put(`/Clients/${sid}`, api.own.accountKey, change)).status).toBe(204)
      const row = await api.storage.for(systemTenancy).clients.find(sid)
      expect(row).toMatchObject({ is_active: 0, allow_direct_app_calling: 1, password: 'secret' })
    },
  )

  it.each([
    ['is switched off', { is_active: 0 }],
    ['gets another password', { password: 'second secret' }],
    ['gets another username', { username: 'another' }],
  ])('ends the registration of a phone that %s, and of no other change', async (_what, change) => {
    const username = `desk${++made}`
    const sid = await create({ username })
    const phone = {
      aor: `${username}@${api.own.realm}`,
      contact: 'sip:desk@192.0.2.1',
      expiresAt: 1,
      remote: { transport: 'udp', address: '192.0.2.1', port: 5060 },
    } as const
    api.phones.push(phone)
    const same = { username, password: 'sxxxxx', is_active: 1, allow_direct_app_calling: 0 }
    expect((await api.put(`/Clients/${sid}`, api.own.accountKey, same)).status).toBe(204)
    expect(api.phones).toEqual([phone])
    const sent = 'username' in change ? { username: `${username}b` } : change
    expect((await api.put(`/Clients/${sid}`, api.own.accountKey, sent)).status).toBe(204)
    expect(api.phones).toEqual([])
    const row = await api.storage.for(systemTenancy).clients.find(sid)
    expect(row).toMatchObject({ username, password: 'secret', ...sent })
  })

  it.each([
    [{ password: '' }, 'password'],
    [{ password: 'a\u0000b' }, 'password must not contain control'],
    [{ username: 'a@b' }, 'username must have only'],
    [{ username: 'taken' }, 'username is already used'],
  ])('answers 400 for %j, as POST does, and changes nothing', async (change, msg) => {
    if ('username' in change && change.username === 'taken') await create({ username: 'taken' })
    const sid = await create()
    const username = `phone${made}`
    const answer = await api.put(`/Clients/${sid}`, api.own.accountKey, change)
    expect([answer.status, (answer.body as { msg: string }).msg]).toEqual([400, expect.stringContaining(msg)])
    const row = await api.storage.for(systemTenancy).clients.find(sid)
    expect(row).toMatchObject({ username, password: 'secret' })
  })

  it('answers 404 for a missing and a foreign client, which keeps its flags', async () => {
    const foreign = await create({ account_sid: api.foreign.account_sid })
    for (const sid of [createSid(), foreign])
      expect((await api.put(`/Clients/${sid}`, api.own.accountKey, { is_active: 0 })).status).toBe(404)
    expect((await api.get(`/Clients/${foreign}`, api.adminKey)).body).toMatchObject({ is_active: 1 })
  })
})

describe('DELETE /Clients/{sid}', () => {
  it('answers 204 once, 404 after that and to others', async () => {
    const sid = await create()
    expect((await api.delete(`/Clients/${sid}`, api.foreign.accountKey)).status).toBe(404)
    expect((await api.delete(`/Clients/${sid}`, api.own.providerKey)).status).toBe(204)
    expect((await api.delete(`/Clients/${sid}`, api.own.providerKey)).status).toBe(404)
  })
})
