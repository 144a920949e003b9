import { decodeJwt } from 'jose'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { systemTenancy } from '../../contracts/caller.ts'
import { createSid } from '../../lib/ids.ts'
import { openTestApi, type TestApi } from '../../../test/support/api.ts'
import { createUser, testPassword, type TestTenant } from '../../../test/support/api-tenants.ts'
import type { ApiAnswer } from '../../../test/support/api-request.ts'

let api: TestApi
beforeAll(async () => {
  api = await openTestApi()
})
afterAll(() => api.close())

const password = 'first pass 1'
let made = 0
const body = (more: object = {}) => {
  const name = `person ${++made}`
  return {
    name,
    email: `person${made}@example.com`,
    is_active: true,
    force_change: false,
    initial_password: password,
    is_view_only: false,
    ...more,
  }
}

async function create(more: object = {}, token = api.adminKey): Promise<string> {
  const answer = await api.post('/Users', token, body(more))
  expect(answer.body).toMatchObject({ user_sid: expect.any(String) })
  expect(answer.status).toBe(200)
  return (answer.body as { user_sid: string }).user_sid
}

interface UserRecord {
  readonly name: string
  readonly account_sid: string | null
  readonly [field: string]: unknown
}

async function read(user_sid: string): Promise<UserRecord> {
  return (await api.get(`/Users/${user_sid}`, api.adminKey)).body
}

async function logIn(name: string, given = password): Promise<string> {
  const answer = await api.post('/login', undefined, { username: name, password: given })
  expect(answer.body).toHaveProperty('token')
  return (answer.body as { token: string }).token
}

const ofAccount = ({ account_sid, service_provider_sid }: TestTenant) => ({
  account_sid,
  service_provider_sid,
})

function expectRefusal({ status, body: { msg } }: { status: number; body: never }, text: string): void {
  expect([status, msg]).toEqual([403, expect.stringContaining(text)])
}

describe('POST /Users', () => {
  it('makes an administrator, a provider user or an account user, as the owner says', async () => {
    expect(await read(await create({ account_sid: null, service_provider_sid: null }))).toMatchObject({
      account_sid: null,
      service_provider_sid: null,
    })
    const { service_provider_sid, account_sid } = api.own
    expect(await read(await create({ service_provider_sid }))).toMatchObject({
      account_sid: null,
      service_provider_sid,
    })
    // The provider is that of the account: such a user must never count as an administrator.
    expect(await read(await create({ account_sid }))).toMatchObject({ account_sid, service_provider_sid })
  })

  it('fills in the level of the caller', async () => {
    const { service_provider_sid, account_sid } = api.own
    expect(await read(await create({}, api.own.accountKey))).toMatchObject({
      account_sid,
      service_provider_sid,
    })
    expect(await read(await create({}, api.own.providerKey))).toMatchObject({
      account_sid: null,
      service_provider_sid,
    })
    expect(await read(await create({ account_sid }, api.own.providerKey))).toMatchObject({ account_sid })
  })

  it('stores a hash that the password logs in with', async () => {
    const sent = body()
    await api.post('/Users', api.adminKey, sent)
    expect(decodeJwt(await logIn(sent.name))).toMatchObject({ scope: 'admin', is_view_only: false })
  })

  it('answers 403 to a caller that reaches above or beside itself', async () => {
    for (const [token, more] of [
      [api.own.accountKey, { account_sid: api.sibling.account_sid }],
      [api.own.accountKey, { service_provider_sid: api.foreign.service_provider_sid }],
      [api.own.providerKey, { service_provider_sid: api.foreign.service_provider_sid }],
      [api.own.providerKey, { account_sid: api.foreign.account_sid }],
      [api.own.providerKey, { account_sid: createSid() }],
      [api.adminKey, { account_sid: createSid() }],
      [api.adminKey, { service_provider_sid: createSid() }],
      [api.adminKey, { ...ofAccount(api.own), service_provider_sid: api.foreign.service_provider_sid }],
    ] as const) {
      const before = await api.storage.for(systemTenancy).users.count()
      expect((await api.post('/Users', token, body(more))).status).toBe(403)
      expect(await api.storage.for(systemTenancy).users.count()).toBe(before)
    }
  })

  it.each([
    [{ name: undefined }, 'name is required'],
    [{ name: undefined, email: undefined, is_active: undefined }, 'name, email and is_active are required'],
    [{ name: 5 }, 'name must be text'],
    [{ name: 'a\r\nb' }, 'name must not contain control characters'],
    [{ name: 'x'.repeat(256) }, 'name must have at most 255 characters'],
    [{ email: undefined }, 'email is required'],
    [{ email: 'no-address' }, 'email must be an e-mail address'],
    [{ email: 'a@b.c\r\nBcc: d@e.f' }, 'email must be an e-mail address'],
    [{ email: '<a@b.c>' }, 'email must be an e-mail address'],
    [{ is_active: undefined }, 'is_active is required'],
    [{ is_active: 'yes' }, 'is_active must be'],
    [{ force_change: undefined }, 'force_change is required'],
    [{ force_change: 2 }, 'force_change must be'],
    [{ is_view_only: undefined }, 'is_view_only is required'],
    [{ is_view_only: 'maybe' }, 'is_view_only must be true or false'],
    [{ account_sid: 'x' }, 'account_sid must be a UUID'],
    [{ service_provider_sid: 'x' }, 'service_provider_sid must be a UUID'],
    [{ initial_password: undefined }, 'initial_password is required'],
    [{ initial_password: ['long enough'] }, 'initial_password must be text'],
    [{ initial_password: 'short' }, 'initial_password must have 8 to 20 characters'],
    [{ initial_password: 'x'.repeat(21) }, 'initial_password must have 8 to 20 characters'],
  ])('answers 403 saying which rule %j breaks', async (more, msg) => {
    const answer = await api.post('/Users', api.adminKey, body(more))
    expectRefusal(answer, msg)
    expect(answer.body).toHaveProperty('code', 'user_refused')
  })

  it('answers 403 to what is no JSON', async () => {
    expectRefusal(await api.post('/Users', api.adminKey, '{"name":'), 'not valid JSON')
  })

  it('answers 403 for a name or an address that any other user has, however it is written', async () => {
    const taken = body(ofAccount(api.foreign))
    await api.post('/Users', api.adminKey, taken)
    expectRefusal(await api.post('/Users', api.own.accountKey, body({ name: taken.name })), 'name is already')
    const email = taken.email.toUpperCase()
    expectRefusal(await api.post('/Users', api.own.accountKey, body({ email })), 'email is already')
  })

  it('makes one of two users at once that have the same address', async () => {
    const first = body()
    const requests = [first, body({ email: first.email.toUpperCase() })].map((user) =>
      api.post('/Users', api.adminKey, user),
    )
    expect((await Promise.all(requests)).map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([
      200, 403,
    ])
  })
})

describe('GET /Users', () => {
  it('lists whom the caller may see, with scope and names, without what is unset', async () => {
    const account = await create(ofAccount(api.own))
    const provider = await create({ service_provider_sid: api.own.service_provider_sid })
    const admin = await create()
    const foreign = await create(ofAccount(api.foreign))
    const seenBy = async (token: string) =>
      new Map(
        ((await api.get('/Users', token)).body as Record<string, unknown>[]).map((user) => [
          user['user_sid'],
          user,
        ]),
      )
    const all = await seenBy(api.adminKey)
    expect(all.get(account)).toEqual({
      user_sid: account,
      name: expect.any(String),
      email: expect.stringContaining('@'),
      scope: 'account',
      force_change: 0,
      is_active: 1,
      ...ofAccount(api.own),
      account_name: 'own',
      service_provider_name: 'ours',
    })
    expect(all.get(provider)).toMatchObject({ scope: 'service_provider', service_provider_name: 'ours' })
    expect(all.get(provider)).not.toHaveProperty('account_sid')
    expect(all.get(admin)).toMatchObject({ scope: 'admin' })
    expect(all.get(admin)).not.toHaveProperty('service_provider_sid')
    const ofProvider = await seenBy(api.own.providerKey)
    expect([account, provider, admin, foreign].map((sid) => ofProvider.has(sid))).toEqual([
      true,
      true,
      false,
      false,
    ])
    const mine = await seenBy(api.own.accountKey)
    expect([account, provider, admin, foreign].map((sid) => mine.has(sid))).toEqual([
      true,
      false,
      false,
      false,
    ])
  })

  it('answers an empty list where there are none', async () => {
    expect((await api.get('/Users', api.sibling.accountKey)).body).toEqual([])
  })
})

describe('GET /Users/{sid}', () => {
  it('answers the record with its types, without hash or codes', async () => {
    const user_sid = await create({ is_view_only: true })
    const record = await read(user_sid)
    expect(record).toEqual({
      user_sid,
      name: record.name,
      email: expect.any(String),
      pending_email: null,
      phone: null,
      account_sid: null,
      service_provider_sid: null,
      force_change: 0,
      provider: 'local',
      provider_userid: null,
      scope: 'read-write',
      email_validated: 0,
      phone_validated: 0,
      email_content_opt_out: 0,
      is_active: 1,
      is_view_only: true,
    })
  })

  it('answers 403 alike for a foreign user, a missing one and what is no id', async () => {
    const foreign = await create(ofAccount(api.foreign))
    const sibling = await create(ofAccount(api.sibling))
    for (const [token, sid] of [
      [api.own.accountKey, sibling],
      [api.own.accountKey, createSid()],
      [api.own.providerKey, foreign],
      [api.adminKey, createSid()],
      [api.adminKey, 'nonsense'],
    ] as const) {
      const { status, body: answer } = await api.get(`/Users/${sid}`, token)
      expect(status).toBe(403)
      expect(answer).toMatchObject({ msg: 'no such user', code: 'user_refused' })
    }
  })
})

describe('GET /Users/me', () => {
  it('answers the user with its account and provider', async () => {
    const token = await api.logIn(ofAccount(api.own))
    const { status, body: me } = await api.get('/Users/me', token)
    expect(status).toBe(200)
    expect(me).toMatchObject({
      user: { provider: 'local', email_validated: false, phone_validated: false, force_change: false },
      account: {
        account_sid: api.own.account_sid,
        sip_realm: api.own.realm,
        is_active: 1,
        plan_type: 'trial',
      },
      sp: { name: 'ours' },
    })
    expect(JSON.stringify(me)).not.toContain('argon2')
  })

  it('answers nulls where an administrator has no account, and 403 to an API key', async () => {
    const { body: me } = await api.get('/Users/me', await api.logIn())
    expect(me).toMatchObject({
      account: { account_sid: null, name: null },
      sp: { service_provider_sid: null },
    })
    expect((await api.get('/Users/me', api.adminKey)).status).toBe(403)
  })
})

describe('PUT /Users/{sid}', () => {
  let user_sid: string
  let name: string
  beforeEach(async () => {
    user_sid = await create(ofAccount(api.own))
    ;({ name } = await read(user_sid))
  })
  const put = (sent: object, token = api.adminKey): Promise<ApiAnswer> =>
    api.put(`/Users/${user_sid}`, token, sent)

  it('changes what is sent and leaves the rest, nulls included', async () => {
    const before = await read(user_sid)
    const answer = await put({
      email: `new-${made}@example.com`,
      is_active: 1,
      initial_password: null,
      name: null,
    })
    expect([answer.status, answer.text]).toEqual([204, ''])
    expect(await read(user_sid)).toEqual({ ...before, email: `new-${made}@example.com` })
  })

  it('takes the whole record back', async () => {
    const record = await read(user_sid)
    expect((await put(record)).status).toBe(204)
    expect(await read(user_sid)).toEqual(record)
  })

  it('changes is_view_only, at once, and leaves it when it is not sent', async () => {
    const token = await logIn(name)
    expect((await put({ is_view_only: true })).status).toBe(204)
    await put({ force_change: true })
    expect(await read(user_sid)).toMatchObject({ is_view_only: true, force_change: 1 })
    expect((await api.post('/Webhooks', token, { url: 'https://a.example.com' })).status).toBe(403)
    await put({ is_view_only: false, force_change: false })
    expect((await api.post('/Webhooks', token, { url: 'https://a.example.com' })).status).toBe(201)
  })

  it('changes the password with the old one, clears force_change, and keeps only the session it was changed in', async () => {
    await put({ force_change: true })
    const [token, other] = [await logIn(name), await logIn(name)]
    const sent = { old_password: password, new_password: 'second pass 2' }
    expect((await put(sent, token)).status).toBe(204)
    expect(await read(user_sid)).toHaveProperty('force_change', 0)
    expect((await api.get('/Users/me', token)).status).toBe(200)
    expect((await api.get('/Users/me', other)).status).toBe(401)
    await logIn(name, 'second pass 2')
    expect((await api.post('/login', undefined, { username: name, password })).status).toBe(403)
  })

  it('resets the password of another user, whose sessions end', async () => {
    const token = await logIn(name)
    expect((await put({ initial_password: 'reset pass 3' })).status).toBe(204)
    expect((await api.get('/Users/me', token)).status).toBe(401)
    await logIn(name, 'reset pass 3')
  })

  it('moves a user, and ends its sessions', async () => {
    const token = await logIn(name)
    const { account_sid } = api.sibling
    expect((await put({ account_sid }, api.own.providerKey)).status).toBe(204)
    expect((await read(user_sid)).account_sid).toBe(account_sid)
    expect((await api.get('/Users/me', token)).status).toBe(401)
  })

  it('ends the sessions of a user it switches off, for good', async () => {
    const token = await logIn(name)
    await put({ is_active: false })
    expect((await api.get('/Users/me', token)).status).toBe(401)
    await put({ is_active: true })
    expect((await api.get('/Users/me', token)).status).toBe(401)
  })

  it.each([
    [{}, 'nothing to change'],
    [{ unknown: 1 }, 'nothing to change'],
    [{ name: 5 }, 'name must be text'],
    [{ email: 'no-address' }, 'email must be an e-mail address'],
    [{ account_sid: null, is_active: 1 }, 'cannot be promoted'],
    [{ service_provider_sid: null, is_active: 1 }, 'cannot be promoted'],
    [{ account_sid: 'x' }, 'account_sid must be a UUID'],
    [{ account_sid: createSid() }, 'account_sid names no account'],
    [{ old_password: password }, 'go together'],
    [{ new_password: 'second pass 2' }, 'go together'],
    [{ old_password: password, new_password: 'second pass 2', name: 'n' }, 'cannot be changed together'],
    [{ old_password: password, new_password: password }, 'must differ'],
    [{ old_password: 'wrong', new_password: 'second pass 2' }, 'old_password is wrong'],
    [{ old_password: password, new_password: 'short' }, 'new_password must have 8 to 20'],
    [{ initial_password: 'short' }, 'initial_password must have 8 to 20'],
    [{ email_activation_code: '123' }, 'email_activation_code goes with email'],
  ])('answers 403 saying which rule %j breaks, and changes nothing', async (sent, msg) => {
    const before = await read(user_sid)
    expectRefusal(await put(sent), msg)
    expect(await read(user_sid)).toEqual(before)
    await logIn(name)
  })

  it('accepts null for an owner that is not set, as forms send it', async () => {
    const sid = await create()
    const sent = { account_sid: null, service_provider_sid: null, is_active: true }
    expect((await api.put(`/Users/${sid}`, api.adminKey, sent)).status).toBe(204)
  })

  it('answers 403 to an account that moves a user and a provider that moves one away', async () => {
    expectRefusal(await put({ account_sid: api.sibling.account_sid }, api.own.accountKey), 'insufficient')
    expectRefusal(
      await put({ account_sid: api.foreign.account_sid }, api.own.providerKey),
      'names no account',
    )
    const { service_provider_sid } = api.foreign
    expectRefusal(await put({ service_provider_sid }, api.own.providerKey), 'insufficient')
    expect(await read(user_sid)).toMatchObject(ofAccount(api.own))
  })

  it('answers 403 alike for a foreign and a missing user', async () => {
    for (const token of [api.sibling.accountKey, api.foreign.providerKey])
      expectRefusal(await put({ is_active: false }, token), 'no such user')
    expectRefusal(await api.put(`/Users/${createSid()}`, api.adminKey, { is_active: 0 }), 'no such user')
    expect(await read(user_sid)).toHaveProperty('is_active', 1)
  })

  it('lets no user reset the own password without the old one', async () => {
    expectRefusal(
      await put({ initial_password: 'taken over 1' }, await logIn(name)),
      'old_password and new_password',
    )
  })

  it('lets a view-only user change the own password and nothing else', async () => {
    await put({ is_view_only: true })
    const token = await logIn(name)
    const sent = { old_password: password, new_password: 'second pass 2' }
    for (const [sid, refused] of [
      [user_sid, { ...sent, email: 'other@example.com' }],
      [user_sid, { is_view_only: false }],
      [await create(ofAccount(api.own)), sent],
    ] as const)
      expectRefusal(await api.put(`/Users/${sid}`, token, refused), 'a view-only user cannot make changes')
    expect((await put(sent, token)).status).toBe(204)
  })

  it('marks a new address with a code as not validated', async () => {
    await api.storage.for(systemTenancy).users.update(user_sid, { email_validated: 1 })
    await put({ email: `coded-${made}@example.com`, email_activation_code: '123456' })
    expect(await read(user_sid)).toHaveProperty('email_validated', 0)
  })

  it('locks out a user who guesses the old password', async () => {
    const guess = { old_password: 'wrong', new_password: 'second pass 2' }
    for (let count = 0; count < 6; count++) await put(guess)
    const locked = await put({ old_password: password, new_password: 'second pass 2' })
    expect(locked.body).toHaveProperty('code', 'locked_out')
  })
})

describe('DELETE /Users/{sid}', () => {
  it('removes the user, and the next request with its token is refused', async () => {
    const token = await api.logIn(ofAccount(api.own))
    const { user_sid } = decodeJwt(token) as { user_sid: string }
    expect((await api.get('/Users/me', token)).status).toBe(200)
    expect((await api.delete(`/Users/${user_sid}`, api.own.accountKey)).status).toBe(204)
    expect((await api.get('/Users/me', token)).status).toBe(401)
    expect((await api.get(`/Users/${user_sid}`, api.adminKey)).status).toBe(403)
  })

  it('answers 404 alike for a foreign and a missing user, which stays', async () => {
    const foreign = await create(ofAccount(api.foreign))
    for (const sid of [foreign, createSid(), 'nonsense']) {
      const answer = await api.delete(`/Users/${sid}`, api.own.providerKey)
      expect(answer.status).toBe(404)
      expect(answer.body).toMatchObject({ msg: 'no such user' })
    }
    expect(await read(foreign)).toHaveProperty('user_sid', foreign)
  })
})

describe('the last active administrator', () => {
  it('can be neither removed, switched off, demoted nor made view-only; with a second one it can', async () => {
    const other = await openTestApi()
    try {
      const name = await createUser(other.storage)
      await createUser(other.storage, { is_active: 0 })
      await createUser(other.storage, { permissions: ['VIEW_ONLY'] })
      const token = await other.post('/login', undefined, { username: name, password: testPassword })
      const { user_sid } = token.body as { user_sid: string }
      const { service_provider_sid } = other.own
      for (const change of [{ is_active: false }, { is_view_only: true }, { service_provider_sid }])
        expectRefusal(
          await other.put(`/Users/${user_sid}`, other.adminKey, change),
          'last active administrator',
        )
      expectRefusal(await other.delete(`/Users/${user_sid}`, other.adminKey), 'last active administrator')
      await createUser(other.storage)
      expect((await other.delete(`/Users/${user_sid}`, other.adminKey)).status).toBe(204)
    } finally {
      await other.close()
    }
  })
})
