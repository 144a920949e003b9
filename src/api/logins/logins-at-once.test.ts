// Many passwords at the same moment, over real connections: which are accepted, which wait and which are refused.
import { Agent, fetch as undiciFetch } from 'undici'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { openTestApi, type TestApi } from '../../../test/support/api.ts'
import { createUser, testPassword } from '../../../test/support/api-tenants.ts'
import { createLogger } from '../../lib/log.ts'

const warnings: string[] = []
let api: TestApi
// Each request has a connection of its own.
const dispatcher = new Agent({ connections: 300 })
beforeAll(async () => {
  const log = createLogger('warn', { write: (line) => void warnings.push(line) })
  api = await openTestApi({ log })
  await api.http.start()
})
afterAll(async () => {
  await dispatcher.close()
  await api.close()
})

interface Answer {
  readonly status: number
  readonly code: string | undefined
  readonly retryAfter: string | null
}

async function post(path: string, body: object, token?: string): Promise<Answer> {
  const response = await undiciFetch(`http://127.0.0.1:${api.http.address.port}/v1${path}`, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
    },
    body: JSON.stringify(body),
    dispatcher,
  })
  const { code } = (await response.json()) as { code?: string }
  return { status: response.status, code, retryAfter: response.headers.get('retry-after') }
}

const logIn = (username: string, password: string): Promise<Answer> => post('/login', { username, password })

const atOnce = <R>(count: number, ask: (index: number) => Promise<R>): Promise<R[]> =>
  Promise.all(Array.from({ length: count }, (_, index) => ask(index)))

describe('at the same moment', () => {
  it('all of 20 correct logins of one user succeed, and no lock-out is reported', async () => {
    const name = await createUser(api.storage)
    const answers = await atOnce(20, () => logIn(name, testPassword))
    expect(answers.map(({ status }) => status)).toEqual(Array<number>(20).fill(200))
    expect(warnings).toEqual([])
  })

  it('no more than six of 100 guesses at one user are judged, by name and by address of mail together', async () => {
    const name = await createUser(api.storage)
    const answers = await atOnce(100, (index) =>
      index % 2 === 0
        ? logIn(name, `wrong ${index}`)
        : post('/signin', { email: `${name}@example.com`, password: `wrong ${index}` }),
    )
    const codes = answers.map(({ code }) => code)
    expect(codes.filter((code) => code === 'wrong_credentials')).toHaveLength(6)
    expect(codes.filter((code) => code === 'locked_out')).toHaveLength(94)
  })

  it('150 new users of one account hold up no login, and those refused for lack of room may come back soon', async () => {
    const admin = await createUser(api.storage)
    const settled: Answer[] = []
    const posts = atOnce(150, async (index) => {
      const user = { name: `bulk-${index}`, email: `bulk-${index}@example.com`, is_view_only: false }
      const rest = { is_active: 1, force_change: 0, initial_password: 'correct horse 1' }
      const { account_sid } = api.own
      const answer = await post('/Users', { ...user, ...rest, account_sid }, api.own.accountKey)
      settled.push(answer)
      return answer
    })
    // Once the first user is made, the queue of the account is full.
    await expect.poll(() => settled.filter(({ status }) => status === 200).length).toBeGreaterThan(0)
    expect((await logIn(admin, testPassword)).status).toBe(200)
    expect(settled.filter(({ status }) => status === 200).length).toBeLessThan(20)
    const answers = await posts
    const made = answers.filter(({ status }) => status === 200)
    const refused = answers.filter(({ status }) => status !== 200)
    expect(made.length).toBeGreaterThanOrEqual(50)
    expect(refused.length).toBeGreaterThan(0)
    for (const answer of refused) expect(answer).toEqual({ status: 503, code: 'overloaded', retryAfter: '2' })
    expect((await logIn(admin, testPassword)).status).toBe(200)
  })
})
