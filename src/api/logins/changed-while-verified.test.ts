// Verifying a password takes a while, after a wait in a queue. Changes of the user in the meantime count.
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { openTestApi, type TestApi } from '../../../test/support/api.ts'
import { createUser, testPassword } from '../../../test/support/api-tenants.ts'
import type { ApiAnswer } from '../../../test/support/api-request.ts'
import { systemTenancy } from '../../contracts/caller.ts'
import type { Row } from '../../storage/storage.ts'

let api: TestApi
/** Runs when the password has been verified and is about to have its effect. */
let meanwhile: (() => Promise<unknown>) | undefined
beforeAll(async () => {
  api = await openTestApi({
    wrapStorage: (storage) => ({
      ...storage,
      boundTo(behalf) {
        const bound = storage.boundTo(behalf)
        return {
          ...bound,
          async transaction(...asked) {
            await meanwhile?.()
            return bound.transaction(...asked)
          },
        }
      },
    }),
  })
})
afterAll(() => api.close())

const rows = () => api.storage.for(systemTenancy)
const sessionsOf = (user_sid: string): Promise<number> => rows().user_sessions.count({ where: { user_sid } })

async function createPerson(): Promise<Row<'users'>> {
  const name = await createUser(api.storage)
  const [user] = await rows().users.list({ where: { name } })
  return user!
}

async function whileChanged(
  { user_sid }: Row<'users'>,
  changes: Partial<Row<'users'>>,
  ask: () => Promise<ApiAnswer>,
): Promise<ApiAnswer> {
  meanwhile = () => rows().users.update(user_sid, changes)
  const answer = await ask()
  meanwhile = undefined
  return answer
}

describe.each([
  ['/login', ({ name }: Row<'users'>, password: string) => ({ username: name, password })],
  ['/signin', ({ email }: Row<'users'>, password: string) => ({ email, password })],
])('POST %s', (path, bodyOf) => {
  // A hash of `password` at another cost than that of the platform, which a login replaces.
  const outdated = '$argon2id$v=19$m=65536,t=2,p=1$c29tZXNhbHQ$CTFhFdXPJO1aFaMaO6Mm5c8y7cJHAph8ArZWb2GRPPc'

  it.each<[string, Partial<Row<'users'>>]>([
    ['a new password', { hashed_password: 'new' }],
    ['none any more', { hashed_password: null }],
    ['no right to log in', { is_active: 0 }],
  ])('opens no session for a user who has got %s meanwhile, and changes nothing', async (_name, changes) => {
    const user = await createPerson()
    await rows().users.update(user.user_sid, { hashed_password: outdated })
    const ask = (): Promise<ApiAnswer> => api.post(path, undefined, bodyOf(user, 'password'))
    const answer = await whileChanged(user, changes, ask)
    expect([answer.status, answer.body]).toEqual([
      403,
      expect.objectContaining({ code: 'wrong_credentials' }),
    ])
    expect(await sessionsOf(user.user_sid)).toBe(0)
    expect(await rows().users.find(user.user_sid)).toMatchObject(changes)
  })
})

describe.each<[string, number, (token: string, user: Row<'users'>, body: object) => Promise<ApiAnswer>]>([
  ['POST /change-password', 400, (token, _user, body) => api.post('/change-password', token, body)],
  ['PUT /Users/{sid}', 403, (token, { user_sid }, body) => api.put(`/Users/${user_sid}`, token, body)],
])('%s', (_title, status, change) => {
  it('by the old password leaves a new one as it is that was given meanwhile', async () => {
    const user = await createPerson()
    const login = await api.post('/login', undefined, { username: user.name, password: testPassword })
    const { token } = login.body as { readonly token: string }
    const body = { old_password: testPassword, new_password: 'mine alone 7' }
    const changes = { hashed_password: 'new' }
    const answer = await whileChanged(user, changes, () => change(token, user, body))
    expect(answer.status, answer.text).toBe(status)
    expect(await rows().users.find(user.user_sid)).toMatchObject(changes)
    expect(await sessionsOf(user.user_sid)).toBe(1)
  })
})
