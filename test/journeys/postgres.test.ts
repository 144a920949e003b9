// The whole product on PostgreSQL as two nodes: they keep accepted data, also when they are killed; a call leaves its
// record; and a right that one node revokes is refused by the other within a second.
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { startApplication, type Application } from '../support/application.ts'
import { createCaller } from '../support/caller.ts'
import { createTestDatabase, type TestDatabase } from '../support/postgres-databases.ts'
import {
  accountApiKey,
  provision,
  recentCalls,
  startPlatform,
  unlimited,
  type Platform,
} from '../support/platform-process.ts'
import { isMissing } from '../support/tools.ts'

const withinMs = 1000

describe.skipIf(isMissing('postgres'))('the platform on PostgreSQL', () => {
  let database: TestDatabase
  let dataDir: string
  let application: Application
  const running: Platform[] = []

  // Two nodes for all cases, since a start takes most of their time.
  beforeAll(async () => {
    database = await createTestDatabase()
    dataDir = await mkdtemp(join(tmpdir(), 'switchhook-postgres-'))
    application = await startApplication()
    application.on('/status', { status: 200 })
    await Promise.all([start(), start()])
  })
  afterAll(async () => {
    await Promise.all(running.splice(0).map((platform) => platform.stop('SIGKILL')))
    await application?.close()
    await database?.remove()
    await rm(dataDir, { recursive: true, force: true })
  })

  async function start(): Promise<Platform> {
    const platform = await startPlatform({
      dataDir,
      env: { ...unlimited, SWITCHHOOK_DATABASE_URL: database.url },
    })
    running.push(platform)
    return platform
  }

  const nodes = (): readonly [Platform, Platform] => running as unknown as readonly [Platform, Platform]

  it('two nodes that start together on an empty database set it up once', async () => {
    for (const { api } of nodes()) {
      for (const path of ['/ServiceProviders', '/Accounts', '/Users', '/ApiKeys'])
        expect(await api.must('GET', path), path).toHaveLength(1)
      expect((await api.call('GET', '/Accounts', undefined, accountApiKey)).status).toBe(200)
    }
  })

  it.skipIf(isMissing('sipp'))('a node does not accept a call that another node sends it', async () => {
    application.on('/dialled', { json: [{ verb: 'hangup' }] })
    const [platform, other] = nodes()
    const before = application.to('/call').length
    const tenant = await provision(platform.api, { application })
    const { username, password, realm } = tenant
    const target = {
      type: 'sip',
      sipUri: `sip:app-${tenant.application_sid}@127.0.0.1:${other.sip.port}`,
      auth: { username, password },
      from: { user: username, host: realm },
    }
    application.on('/call', {
      json: [{ verb: 'answer' }, { verb: 'dial', target: [target], actionHook: '/dialled' }],
    })
    const call = await createCaller(platform, tenant).start('call', tenant.target, { talkMs: 3000 })
    const { body } = await application.requests.next('the end of the dial', ({ path }) => path === '/dialled')
    expect(body).toMatchObject({ dial_call_status: 'failed', dial_sip_status: 482 })
    expect(application.to('/call')).toHaveLength(before + 1)
    await call.finished.catch(() => undefined)
  })

  it.skipIf(isMissing('sipp'))('a node answers a call and keeps its record', async () => {
    application.on('/call', { json: [{ verb: 'answer' }, { verb: 'pause', length: 1 }, { verb: 'hangup' }] })
    const [platform] = nodes()
    const tenant = await provision(platform.api, { application })
    const caller = createCaller(platform, tenant)
    const call = await caller.start('call', tenant.target, { talkMs: 3000 })
    await caller.answered()
    await call.finished
    const [record, ...others] = await recentCalls(platform.api, tenant.account_sid, 1)
    expect(others).toEqual([])
    expect(record).toMatchObject({ answered: true, direction: 'inbound', sip_status: 200 })
  })

  describe('on another node', () => {
    const here = (): Platform => nodes()[0]
    const there = (): Platform => nodes()[1]
    let made = 0

    const status = async (token: string): Promise<number> =>
      (await there().api.call('GET', '/Accounts', undefined, token)).status

    /** Polls the other node, so that its cache is fresh when the right ends, and checks that it refuses in time. */
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
        await setTimeout(10)
      }
      await revoking
      expect([401, 403]).toContain(answer)
    }

    interface Owner {
      readonly account_sid: string
      readonly service_provider_sid: string
    }

    async function makeAccount(): Promise<Owner> {
      const [provider] = await here().api.must<{ service_provider_sid: string }[]>('GET', '/ServiceProviders')
      const service_provider_sid = provider?.service_provider_sid ?? ''
      const name = `account ${++made}`
      const { sid } = await here().api.must<{ sid: string }>('POST', '/Accounts', {
        name,
        service_provider_sid,
      })
      return { account_sid: sid, service_provider_sid }
    }

    async function makeKey({ account_sid }: Owner): Promise<{ sid: string; token: string }> {
      return here().api.must<{ sid: string; token: string }>('POST', '/ApiKeys', { account_sid })
    }

    async function makeUser({ account_sid, service_provider_sid }: Owner) {
      const name = `user${++made}`
      const initial_password = 'correct-horse-9'
      const email = `${name}@example.com`
      const { user_sid } = await here().api.must<{ user_sid: string }>('POST', '/Users', {
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
      const { token } = await here().api.must<{ token: string }>('POST', '/login', login)
      return { user_sid, token, name, email, initial_password }
    }

    it.concurrent('a removed API key is refused within a second', async () => {
      const { sid, token } = await makeKey(await makeAccount())
      await refusedAfter(token, () => here().api.must('DELETE', `/ApiKeys/${sid}`))
    })

    it.concurrent('the key of an account that is switched off is refused within a second', async () => {
      const owner = await makeAccount()
      const { token } = await makeKey(owner)
      await refusedAfter(token, () =>
        here().api.must('PUT', `/Accounts/${owner.account_sid}`, { is_active: false }),
      )
    })

    it.concurrent('the key of an account that is removed is refused within a second', async () => {
      const owner = await makeAccount()
      const { token } = await makeKey(owner)
      await refusedAfter(token, () => here().api.must('DELETE', `/Accounts/${owner.account_sid}`))
    })

    it.concurrent('a user who is switched off is refused within a second', async () => {
      const { user_sid, token } = await makeUser(await makeAccount())
      await refusedAfter(token, () => here().api.must('PUT', `/Users/${user_sid}`, { is_active: false }))
    })

    it.concurrent('a user who is removed is refused within a second', async () => {
      const { user_sid, token } = await makeUser(await makeAccount())
      await refusedAfter(token, () => here().api.must('DELETE', `/Users/${user_sid}`))
    })

    it.concurrent('a session that has been logged out is refused within a second', async () => {
      const { token } = await makeUser(await makeAccount())
      await refusedAfter(token, () => here().api.call('POST', '/logout', undefined, token))
    })
  })

  it('two nodes share their data, and find all of it again after both were killed', async () => {
    const [first, other] = nodes()
    const { sid } = await first.api.must('POST', '/ServiceProviders', { name: 'kept' })
    const path = `/ServiceProviders/${String(sid)}`
    expect(await other.api.must('GET', path)).toMatchObject({ name: 'kept' })
    await other.api.must('PUT', path, { name: 'changed' })
    expect(await first.api.must('GET', path)).toMatchObject({ name: 'changed' })
    await Promise.all(running.splice(0).map((platform) => platform.stop('SIGKILL')))
    const next = await start()
    expect(await next.api.must('GET', path)).toMatchObject({ name: 'changed' })
    expect(await next.api.must('GET', '/AuditLog/verify')).toMatchObject({ intact: true })
  })
})
