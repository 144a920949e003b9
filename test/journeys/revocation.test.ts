// Two nodes on one PostgreSQL, as processes: what one of them revokes, the other refuses within a second.
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createTestDatabase } from '../support/postgres-databases.ts'
import type { TestDatabase } from '../support/postgres-databases.ts'
import { startPlatform, unlimited } from '../support/platform-process.ts'
import type { Platform } from '../support/platform-process.ts'
import { isMissing } from '../support/tools.ts'

const withinMs = 1000

describe.skipIf(isMissing('postgres'))('on another node', () => {
  let database: TestDatabase
  let folder: string
  let here: Platform
  let there: Platform
  let made = 0

  beforeAll(async () => {
    database = await createTestDatabase()
    folder = await mkdtemp(join(tmpdir(), 'switchhook-revocation-'))
    const start = (name: string) =>
      startPlatform({
        dataDir: join(folder, name),
        env: {
          ...unlimited,
          SWITCHHOOK_DATABASE_URL: database.url,
          SWITCHHOOK_SECRET_KEY: '5e'.repeat(32),
        },
      })
    here = await start('here')
    there = await start('there')
  })
  afterAll(async () => {
    await Promise.all([here.stop('SIGKILL'), there.stop('SIGKILL')])
    await database.remove()
    await rm(folder, { recursive: true })
  })

  const status = async (token: string): Promise<number> =>
    (await there.api.call('GET', '/Accounts', undefined, token)).status

  /** Asks the other node all the time: what it remembers is fresh when the right ends. */
  async function refusedAfter(token: string, revoke: () => Promise<unknown>): Promise<void> {
    expect(await status(token)).toBe(200)
    let revokedAt = Number.POSITIVE_INFINITY
    const revoking = revoke().then(() => {
      revokedAt = performance.now()
    })
    let answer = 200
    for (;;) {
      const askedAt = performance.now()
      answer = await status(token)
      if (askedAt - revokedAt >= withinMs) break
    }
    await revoking
    expect([401, 403]).toContain(answer)
  }

  interface Owner {
    readonly account_sid: string
    readonly service_provider_sid: string
  }

  async function makeAccount(): Promise<Owner> {
    const [provider] = await here.api.must<{ service_provider_sid: string }[]>('GET', '/ServiceProviders')
    const service_provider_sid = provider?.service_provider_sid ?? ''
    const name = `account ${++made}`
    const { sid } = await here.api.must<{ sid: string }>('POST', '/Accounts', { name, service_provider_sid })
    return { account_sid: sid, service_provider_sid }
  }

  async function makeKey({ account_sid }: Owner): Promise<{ sid: string; token: string }> {
    return here.api.must<{ sid: string; token: string }>('POST', '/ApiKeys', { account_sid })
  }

  async function makeUser({ account_sid, service_provider_sid }: Owner) {
    const name = `user${++made}`
    const initial_password = 'correct-horse-9'
    const email = `${name}@example.com`
    const { user_sid } = await here.api.must<{ user_sid: string }>('POST', '/Users', {
      name,
      email,
      initial_password,
      is_active: true,
      is_view_only: false,
      force_change: false,
      account_sid,
      service_provider_sid,
    })
    const login = { username: name, password: initial_password }
    const { token } = await here.api.must<{ token: string }>('POST', '/login', login)
    return { user_sid, token, name, email, initial_password }
  }

  it('a removed API key is refused within a second', async () => {
    const { sid, token } = await makeKey(await makeAccount())
    await refusedAfter(token, () => here.api.must('DELETE', `/ApiKeys/${sid}`))
  })

  it('the key of an account that is switched off is refused within a second', async () => {
    const owner = await makeAccount()
    const { token } = await makeKey(owner)
    await refusedAfter(token, () =>
      here.api.must('PUT', `/Accounts/${owner.account_sid}`, { is_active: false }),
    )
  })

  it('the key of an account that is removed is refused within a second', async () => {
    const owner = await makeAccount()
    const { token } = await makeKey(owner)
    await refusedAfter(token, () => here.api.must('DELETE', `/Accounts/${owner.account_sid}`))
  })

  it('a user who is switched off is refused within a second', async () => {
    const { user_sid, token } = await makeUser(await makeAccount())
    await refusedAfter(token, () => here.api.must('PUT', `/Users/${user_sid}`, { is_active: false }))
  })

  it('a user who is removed is refused within a second', async () => {
    const { user_sid, token } = await makeUser(await makeAccount())
    await refusedAfter(token, () => here.api.must('DELETE', `/Users/${user_sid}`))
  })

  it('a session that has been logged out is refused within a second', async () => {
    const { token } = await makeUser(await makeAccount())
    await refusedAfter(token, () => here.api.call('POST', '/logout', undefined, token))
  })
})
