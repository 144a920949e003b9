import { decodeJwt, SignJWT } from 'jose'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { covers } from '../../../test/support/covers.ts'
import { systemTenancy } from '../../contracts/caller.ts'
import { createFakeClock } from '../../../test/support/fake-clock.ts'
import { openTestApi, type TestApi } from '../../../test/support/api.ts'
import { createUser, testPassword, type TestUser } from '../../../test/support/api-tenants.ts'

let api: TestApi
const clock = createFakeClock()
beforeAll(async () => {
  api = await openTestApi({ clock })
})
afterAll(() => api.close())

const login = (username: unknown, password: unknown) => api.post('/login', undefined, { username, password })

const accountUser = (): TestUser => {
  const { account_sid, service_provider_sid } = api.own
  return { account_sid, service_provider_sid }
}

describe('POST /login', () => {
  it(
    'answers the token of an account user with everything a client reads from it',
    covers({
      section: 'Not shown',
      says: 'How a token is issued at login.',
      chosen: '`POST /login` with a user name and a password; the token is a JWT for 60 minutes.',
    }),
    async () => {
      const name = await createUser(api.storage, { ...accountUser(), permissions: ['VIEW_ONLY'] })
      const answer = await login(name, testPassword)
      expect(answer.status).toBe(200)
      const { token, ...facts } = answer.body as { token: string; user_sid: string }
      expect(facts).toEqual({
        user_sid: expect.any(String),
        scope: 'account',
        force_change: false,
        permissions: ['VIEW_ONLY'],
        service_provider_sid: api.own.service_provider_sid,
        service_provider_name: 'ours',
        account_sid: api.own.account_sid,
        account_name: 'own',
      })
      const claims = decodeJwt(token)
      expect(claims).toMatchObject({
        user_sid: facts.user_sid,
        name,
        scope: 'account',
        permissions: ['VIEW_ONLY'],
        is_view_only: true,
        account_sid: api.own.account_sid,
        service_provider_sid: api.own.service_provider_sid,
      })
      expect((claims.exp ?? 0) - (claims.iat ?? 0)).toBe(3600)
    },
  )

  it(
    'answers an administrator and a provider user with their scopes',
    covers({
      section: 'Fields: User',
      says: 'Without an account the user is one of the service provider; without both, an administrator.',
    }),
    async () => {
      const admin = await login(await createUser(api.storage), testPassword)
      expect(admin.body).toMatchObject({ scope: 'admin' })
      expect(admin.body).not.toHaveProperty('account_sid')
      const { service_provider_sid } = api.own
      const provider = await login(await createUser(api.storage, { service_provider_sid }), testPassword)
      expect(provider.body).toMatchObject({ scope: 'service_provider', service_provider_sid })
    },
  )

  it('answers one and the same 403 for a wrong password, an unknown and a disabled user', async () => {
    const name = await createUser(api.storage)
    const disabled = await createUser(api.storage, { is_active: 0 })
    const answers = await Promise.all([
      login(name, 'wrong'),
      login('unknown', testPassword),
      login(disabled, testPassword),
    ])
    for (const answer of answers) {
      expect(answer.status).toBe(403)
      expect(answer.body).toMatchObject({ msg: 'the user name or the password is wrong' })
    }
  })

  it.each([
    [{}, 'username and password are required'],
    [{ username: 'a' }, 'password is required'],
    [{ username: 5, password: 'a' }, 'username must be text'],
    [{ username: 'a', password: ['a'] }, 'password must be text'],
  ])('answers 400 naming the field for %j', async (body, msg) => {
    const answer = await api.post('/login', undefined, body)
    expect(answer.status).toBe(400)
    expect(answer.body).toMatchObject({ msg })
  })

  it('locks a user out for half an hour after six failures, also with the right password', async () => {
    const name = await createUser(api.storage)
    for (let count = 0; count < 6; count++) expect((await login(name, 'wrong')).status).toBe(403)
    const locked = await login(name, testPassword)
    expect(locked.status).toBe(403)
    expect(locked.body).toMatchObject({ code: 'locked_out' })
    clock.advance(1_800_000)
    expect((await login(name, testPassword)).status).toBe(200)
  })

  it('forgets failures after a success', async () => {
    const name = await createUser(api.storage)
    for (let round = 0; round < 2; round++) {
      for (let count = 0; count < 5; count++) await login(name, 'wrong')
      expect((await login(name, testPassword)).status).toBe(200)
    }
  })

  it('lets no more than six of many simultaneous guesses through', async () => {
    const name = await createUser(api.storage)
    const guesses = await Promise.all(Array.from({ length: 20 }, () => login(name, 'wrong')))
    const codes = guesses.map(({ body }) => (body as { code: string }).code)
    expect(codes.filter((code) => code === 'wrong_credentials')).toHaveLength(6)
  })
})

describe('a login token', () => {
  it('gives the rights of its user', async () => {
    const token = await api.logIn(accountUser())
    const answer = await api.get('/Accounts', token)
    expect((answer.body as { account_sid: string }[]).map(({ account_sid }) => account_sid)).toEqual([
      api.own.account_sid,
    ])
    expect((await api.get(`/Accounts/${api.sibling.account_sid}`, token)).status).toBe(403)
  })

  it('is refused after logout, which other sessions of the user survive', async () => {
    const name = await createUser(api.storage)
    const [one, other] = await Promise.all([login(name, testPassword), login(name, testPassword)])
    const token = (one.body as { token: string }).token
    expect((await api.get('/Accounts', token)).status).toBe(200)
    const answer = await api.post('/logout', token)
    expect(answer.status).toBe(204)
    expect(answer.text).toBe('')
    expect((await api.get('/Accounts', token)).status).toBe(401)
    expect((await api.get('/Accounts', (other.body as { token: string }).token)).status).toBe(200)
  })

  it('is refused 60 minutes after the login', async () => {
    const token = await api.logIn()
    clock.advance(3_599_000)
    expect((await api.get('/Accounts', token)).status).toBe(200)
    clock.advance(1000)
    const refused = await api.get('/Accounts', token)
    expect(refused.status).toBe(401)
    expect(refused.body).toMatchObject({ msg: 'the token has expired' })
  })

  it('is refused on the next request once its account is switched off or removed', async () => {
    const made = await api.post('/Accounts', api.own.providerKey, { name: 'short-lived' })
    const { sid: account_sid } = made.body as { sid: string }
    const { service_provider_sid } = api.own
    const token = await api.logIn({ account_sid, service_provider_sid })
    expect((await api.get('/Accounts', token)).status).toBe(200)
    await api.put(`/Accounts/${account_sid}`, api.own.providerKey, { is_active: 0 })
    expect((await api.get('/Accounts', token)).status).toBe(403)
    await api.put(`/Accounts/${account_sid}`, api.own.providerKey, { is_active: 1 })
    expect((await api.get('/Accounts', token)).status).toBe(200)
    await api.delete(`/Accounts/${account_sid}`, api.own.providerKey)
    expect((await api.get('/Accounts', token)).status).toBe(401)
  })

  it('is refused soon after its user was removed behind the API’s back', async () => {
    const token = await api.logIn()
    const { user_sid } = decodeJwt(token) as { user_sid: string }
    expect((await api.get('/Accounts', token)).status).toBe(200)
    await api.storage.for(systemTenancy).users.remove(user_sid)
    clock.advance(10_000)
    expect((await api.get('/Accounts', token)).status).toBe(401)
  })

  it('is refused when another key signed it, or none did', async () => {
    const claims = decodeJwt(await api.logIn())
    const forged = await new SignJWT(claims)
      .setProtectedHeader({ alg: 'HS256' })
      .sign(new TextEncoder().encode('x'.repeat(32)))
    const unsigned = `${Buffer.from('{"alg":"none"}').toString('base64url')}.${forged.split('.')[1]}.`
    for (const token of [forged, unsigned]) expect((await api.get('/Accounts', token)).status).toBe(401)
  })

  it(
    'lets a view-only user read and log out, and nothing else',
    covers({ section: 'Fields: User', says: 'A view-only user cannot make changes.' }),
    async () => {
      const token = await api.logIn({ ...accountUser(), permissions: ['VIEW_ONLY'] })
      expect((await api.get('/Accounts', token)).status).toBe(200)
      for (const refused of [
        await api.post('/Webhooks', token, { url: 'https://a.example.com' }),
        await api.put(`/Accounts/${api.own.account_sid}`, token, {}),
        await api.delete(`/Accounts/${api.own.account_sid}`, token),
      ]) {
        expect(refused.status).toBe(403)
        expect(refused.body).toMatchObject({ msg: 'a view-only user cannot make changes' })
      }
      expect((await api.post('/logout', token)).status).toBe(204)
    },
  )
})

describe('POST /logout', () => {
  it('answers 403 to an API key and 401 without a token', async () => {
    expect((await api.post('/logout', api.adminKey)).status).toBe(403)
    expect((await api.post('/logout', undefined)).status).toBe(401)
  })
})
