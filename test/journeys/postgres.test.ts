// The whole product on PostgreSQL: it keeps what it has taken, also when it is killed; a call leaves its record.
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { startApplication } from '../support/application.ts'
import type { Application } from '../support/application.ts'
import { createCaller } from '../support/caller.ts'
import { createTestDatabase } from '../support/postgres-databases.ts'
import type { TestDatabase } from '../support/postgres-databases.ts'
import { accountApiKey, provision, recentCalls, startPlatform } from '../support/platform-process.ts'
import type { Platform } from '../support/platform-process.ts'
import { isMissing } from '../support/tools.ts'

describe.skipIf(isMissing('postgres'))('the platform on PostgreSQL', () => {
  let database: TestDatabase
  let dataDir: string
  let application: Application
  const running: Platform[] = []

  // Two nodes for all cases, since a start is the dearest part of them.
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
    const platform = await startPlatform({ dataDir, env: { SWITCHHOOK_DATABASE_URL: database.url } })
    running.push(platform)
    return platform
  }

  const nodes = (): readonly [Platform, Platform] => running as unknown as readonly [Platform, Platform]

  it('is set up once by two nodes that start together on an empty database', async () => {
    for (const { api } of nodes()) {
      for (const path of ['/ServiceProviders', '/Accounts', '/Users', '/ApiKeys'])
        expect(await api.must('GET', path), path).toHaveLength(1)
      expect((await api.call('GET', '/Accounts', undefined, accountApiKey)).status).toBe(200)
    }
  })

  it.skipIf(isMissing('sipp'))('takes no call that one of its nodes sends to another one', async () => {
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

  it.skipIf(isMissing('sipp'))('answers a call and keeps its record', async () => {
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

  it('finds everything again after it was killed, and two nodes share it', async () => {
    const { sid } = await nodes()[0].api.must('POST', '/ServiceProviders', { name: 'kept' })
    await Promise.all(running.splice(0).map((platform) => platform.stop('SIGKILL')))
    const [second, third] = await Promise.all([start(), start()])
    expect(await second.api.must('GET', `/ServiceProviders/${String(sid)}`)).toMatchObject({ name: 'kept' })
    await second.api.must('PUT', `/ServiceProviders/${String(sid)}`, { name: 'changed' })
    expect(await third.api.must('GET', `/ServiceProviders/${String(sid)}`)).toMatchObject({ name: 'changed' })
    expect(await third.api.must('GET', '/AuditLog/verify')).toMatchObject({ intact: true })
  })
})
