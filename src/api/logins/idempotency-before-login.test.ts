import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { openTestApi, type TestApi } from '../../../test/support/api.ts'
import { createUser, testPassword } from '../../../test/support/api-tenants.ts'
import type { ApiAnswer } from '../../../test/support/api-request.ts'
import { until } from '../../../test/support/wait.ts'
import { createFakeClock } from '../../../test/support/fake-clock.ts'
import { systemTenancy } from '../../contracts/caller.ts'

let api: TestApi
const clock = createFakeClock(Date.UTC(2026, 10, 21))
beforeAll(async () => {
  api = await openTestApi({ clock })
})
afterAll(() => api.close())

type Server = Pick<TestApi, 'request'>
const post = (path: string, key: string, body: object, server: Server = api): Promise<ApiAnswer> =>
  server.request('POST', path, undefined, { body, headers: { 'idempotency-key': key } })
const rows = () => api.storage.for(systemTenancy)

async function userSid(name: string): Promise<string> {
  const [user] = await rows().users.list({ where: { name } })
  return user!.user_sid
}

const sessionsOf = async (name: string): Promise<number> =>
  rows().user_sessions.count({ where: { user_sid: await userSid(name) } })

interface Door {
  readonly path: string
  readonly bodyOf: (name: string, password?: string) => object
  /** The place of the token in the response. */
  readonly member: string
}

const doors: readonly Door[] = [
  {
    path: '/login',
    bodyOf: (username, password = testPassword) => ({ username, password }),
    member: 'token',
  },
  {
    path: '/signin',
    bodyOf: (name, password = testPassword) => ({ email: `${name}@example.com`, password }),
    member: 'jwt',
  },
]

describe.each(doors)('POST $path with an Idempotency-Key', ({ path, bodyOf, member }) => {
  it('that is sent again is answered with the token of the first, and opens no second session', async () => {
    const name = await createUser(api.storage)
    const first = await post(path, 'k1', bodyOf(name))
    const again = await post(path, 'k1', bodyOf(name))
    expect([first.status, again.status, again.text]).toEqual([200, 200, first.text])
    expect([first, again].map(({ headers }) => headers['idempotency-replayed'])).toEqual([undefined, 'true'])
    expect(await sessionsOf(name)).toBe(1)
    expect((await api.get('/Users/me', first.body[member])).status).toBe(200)
    // The token is kept sealed, the password not at all.
    const stored = await api.contents()
    for (const secret of [String(first.body[member]), testPassword]) expect(stored).not.toContain(secret)
  })

  it('reveals nothing to a client without the password, and counts the attempt', async () => {
    const name = await createUser(api.storage)
    expect((await post(path, 'k1', bodyOf(name))).status).toBe(200)
    for (let count = 0; count < 6; count++) {
      const guess = await post(path, 'k1', bodyOf(name, `guess ${count}`))
      expect([guess.status, guess.body]).toEqual([
        403,
        expect.objectContaining({ code: 'wrong_credentials' }),
      ])
    }
    // A locked-out user is refused with the right password too: the stored response is no way around it.
    const locked = await post(path, 'k1', bodyOf(name))
    expect(locked.body).toHaveProperty('code', 'locked_out')
    clock.advance(1_800_000)
  })

  it('is refused once the password is another one', async () => {
    const name = await createUser(api.storage)
    await post(path, 'k1', bodyOf(name))
    await rows().users.update(await userSid(name), { hashed_password: null })
    expect((await post(path, 'k1', bodyOf(name))).status).toBe(403)
  })

  it('does not meet the key of another user', async () => {
    const [ann, bob] = [await createUser(api.storage), await createUser(api.storage)]
    const first = await post(path, 'k1', bodyOf(ann))
    const other = await post(path, 'k1', bodyOf(bob))
    expect([other.status, other.headers['idempotency-replayed']]).toEqual([200, undefined])
    expect(other.body[member]).not.toBe(first.body[member])
  })

  it('is refused with 422 when the user has sent another request with the key', async () => {
    const name = await createUser(api.storage)
    await post(path, 'k1', bodyOf(name))
    const other = await post(path, 'k1', { ...bodyOf(name), more: 1 })
    expect([other.status, other.body]).toEqual([
      422,
      expect.objectContaining({ code: 'idempotency_key_reused' }),
    ])
  })

  it('that fails is tried again', async () => {
    const name = await createUser(api.storage)
    expect((await post(path, 'k1', bodyOf(name, 'wrong'))).status).toBe(403)
    expect((await post(path, 'k1', bodyOf(name))).status).toBe(200)
  })

  it('of two servers, many at once, opens one session', async () => {
    const name = await createUser(api.storage)
    const servers = [api, api.startAnother()]
    const sent = Array.from({ length: 6 }, (_, n) => post(path, 'k1', bodyOf(name), servers[n % 2]))
    const answers = await Promise.all(sent)
    const good = answers.filter(({ status }) => status === 200)
    expect(good.length).toBeGreaterThan(0)
    expect(new Set(good.map(({ text }) => text)).size).toBe(1)
    for (const { status } of answers) expect([200, 409]).toContain(status)
    expect(await sessionsOf(name)).toBe(1)
  })

  it.each(['', 'a b', 'x'.repeat(256)])('is refused with 400 for the key %j', async (key) => {
    const name = await createUser(api.storage)
    expect((await post(path, key, bodyOf(name))).status).toBe(400)
    expect(await sessionsOf(name)).toBe(0)
  })
})

async function mailedLink(name: string, key: string): Promise<string> {
  const before = api.mails.length
  expect((await post('/forgot-password', key, { email: `${name}@example.com` })).status).toBe(204)
  await until('the mail', () => api.mails.length > before)
  return /\/reset-password\/([\w-]+)/.exec(api.mails.at(-1)!.text)![1]!
}

describe('POST /signin by a mailed link, with an Idempotency-Key', () => {
  it('is answered again although the link has been used', async () => {
    const name = await createUser(api.storage)
    const link = await mailedLink(name, 'm1')
    const first = await post('/signin', 'k1', { link })
    const again = await post('/signin', 'k1', { link })
    expect([first.status, again.status, again.text]).toEqual([200, 200, first.text])
    expect((await post('/signin', 'k2', { link })).status).toBe(403)
    expect(await sessionsOf(name)).toBe(1)
  })
})

describe('POST /forgot-password with an Idempotency-Key', () => {
  it('that is sent again mails once, also by way of another server', async () => {
    const name = await createUser(api.storage)
    await mailedLink(name, 'again')
    const mails = api.mails.length
    for (const server of [api, api.startAnother()]) {
      const { status, headers } = await post(
        '/forgot-password',
        'again',
        { email: `${name}@example.com` },
        server,
      )
      expect([status, headers['idempotency-replayed']]).toEqual([204, 'true'])
    }
    // Requests are served in their order: another mail of the first one would have come before this one.
    await mailedLink(await createUser(api.storage), 'later')
    expect(api.mails).toHaveLength(mails + 1)
  })

  it('is refused with 422 for another mailbox', async () => {
    await post('/forgot-password', 'taken', { email: 'ann@example.com' })
    const other = await post('/forgot-password', 'taken', { email: 'bob@example.com' })
    expect([other.status, other.body]).toEqual([
      422,
      expect.objectContaining({ code: 'idempotency_key_reused' }),
    ])
  })

  it('does not meet the key of another address', async () => {
    const { statusCode, headers } = await api.http.inject({
      method: 'POST',
      url: '/v1/forgot-password',
      remoteAddress: '192.0.2.7',
      headers: { 'idempotency-key': 'taken' },
      payload: { email: 'carol@example.com' },
    })
    expect([statusCode, headers['idempotency-replayed']]).toEqual([204, undefined])
  })
})
