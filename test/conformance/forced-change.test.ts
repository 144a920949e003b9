// A user who must change the password first, against every declared route, over a real socket: all other requests are
// refused. The test fails for a route that is open to such users and not named here.
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { ApiRoute } from '../../src/api/define/route.ts'
import { apiRoutes } from '../../src/api/index.ts'
import { systemTenancy } from '../../src/contracts/caller.ts'
import { createUser, testPassword, type TestUser } from '../support/api-tenants.ts'
import { marks, openWorld, seedEverything, type HttpAnswer, type World } from './api/world.ts'

const title = ({ method, path }: ApiRoute): string => `${method} ${path}`

const openRoutes = [
  'GET /PasswordSettings',
  'GET /Users/me',
  'GET /Users/{UserSid}',
  'POST /change-password',
  'POST /logout',
  'PUT /Users/{UserSid}',
]
const closedRoutes = apiRoutes.filter(
  (route) => route.access !== 'public' && !openRoutes.includes(title(route)),
)

let world: World
/** One user of each level. */
let users: readonly Forced[]
beforeAll(async () => {
  world = await openWorld()
  await seedEverything(world)
  users = await Promise.all(owners().map(logInForced))
})
afterAll(() => world.close())

const owners = (): readonly TestUser[] => {
  const { account_sid, service_provider_sid } = world.api.own
  return [{}, { service_provider_sid }, { service_provider_sid, account_sid }]
}

interface Forced {
  readonly user_sid: string
  readonly name: string
  readonly send: (method: string, path: string, body?: unknown) => Promise<HttpAnswer>
}

async function logInForced(owner: TestUser): Promise<Forced> {
  const name = await createUser(world.api.storage, { ...owner, force_change: 1 })
  const answer = await world.send('POST', '/login', { body: { username: name, password: testPassword } })
  expect(answer.body).toMatchObject({ force_change: true })
  const { token, user_sid } = answer.body as { token: string; user_sid: string }
  const authorization = `Bearer ${token}`
  return { user_sid, name, send: (method, path, body) => world.send(method, path, { authorization, body }) }
}

const refusal = { status: 403, body: expect.objectContaining({ code: 'password_change_required' }) }

describe('before the password is changed', () => {
  it('these routes are open, and no others', () => {
    const declared = apiRoutes.filter(({ openToForcedChange }) => openToForcedChange === true)
    expect(declared.map(title).sort()).toEqual(openRoutes)
  })

  it.each(closedRoutes.map((route) => [title(route), route] as const))(
    '%s is refused to users of every level, and changes nothing',
    async (_title, route) => {
      const { input } = world
      const tenant = world.tenant('own')
      const path = (await input.path(route, tenant)) + (await input.query(route, tenant))
      const body = route.body === undefined ? undefined : await input.body(route, tenant)
      const before = await marks(world.api)
      for (const { send } of users) expect(await send(route.method, path, body)).toMatchObject(refusal)
      expect(await marks(world.api)).toEqual(before)
    },
  )

  it('before the change a user reads only its own record, without the secrets of its account', async () => {
    const user = await logInForced(owners()[2] ?? {})
    const other = await logInForced(owners()[2] ?? {})
    expect(await user.send('GET', `/Users/${user.user_sid}`)).toMatchObject({ status: 200 })
    expect(await user.send('GET', `/Users/${other.user_sid}`)).toMatchObject(refusal)
    const me = await user.send('GET', '/Users/me')
    expect(me).toMatchObject({ status: 200, body: { user: { user_sid: user.user_sid, force_change: true } } })
    expect(Object.values((me.body as { account: object }).account).filter((value) => value !== null)).toEqual(
      [],
    )
    expect(await user.send('GET', '/PasswordSettings')).toMatchObject({ status: 200 })
  })

  it('before the change a user changes only its own password', async () => {
    const user = await logInForced({})
    const other = await logInForced({})
    const passwords = { old_password: testPassword, new_password: 'brand new 1' }
    for (const [user_sid, body] of [
      [user.user_sid, { force_change: 0 }],
      [user.user_sid, { ...passwords, force_change: 0 }],
      [user.user_sid, { name: 'another' }],
      [other.user_sid, passwords],
      [other.user_sid, { initial_password: 'brand new 1' }],
    ] as const)
      expect(await user.send('PUT', `/Users/${user_sid}`, body)).toMatchObject(refusal)
    const [row] = await world.api.storage.for(systemTenancy).users.list({ where: { name: user.name } })
    expect(row).toMatchObject({ force_change: 1 })
  })
})

describe('after the change', () => {
  it('by PUT /Users/{UserSid} the same session may do everything', async () => {
    const user = await logInForced({})
    const passwords = { old_password: testPassword, new_password: 'brand new 1' }
    expect(await user.send('PUT', `/Users/${user.user_sid}`, passwords)).toMatchObject({ status: 204 })
    expect(await user.send('GET', '/Accounts')).toMatchObject({ status: 200 })
  })

  it('by POST /change-password the next login may do everything', async () => {
    const user = await logInForced({})
    const passwords = { old_password: testPassword, new_password: 'brand new 1' }
    expect(await user.send('POST', '/change-password', passwords)).toMatchObject({ status: 204 })
    const login = { username: user.name, password: passwords.new_password }
    const { body } = await world.send('POST', '/login', { body: login })
    const { token, force_change } = body as { token: string; force_change: boolean }
    expect(force_change).toBe(false)
    const answer = await world.send('GET', '/Accounts', { authorization: `Bearer ${token}` })
    expect(answer.status).toBe(200)
  })

  it('a user may also log out instead', async () => {
    const user = await logInForced({})
    expect(await user.send('POST', '/logout')).toMatchObject({ status: 204 })
    expect(await user.send('GET', '/PasswordSettings')).toMatchObject({ status: 401 })
  })
})
