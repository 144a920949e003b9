// The life of the process: first boot, signals with a call up, and what a killed process leaves behind.
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest'
import { startApplication } from '../support/application.ts'
import type { Application } from '../support/application.ts'
import { createCaller } from '../support/caller.ts'
import { openRawPhone, rawRequest } from '../support/phone.ts'
import {
  accountApiKey,
  adminApiKey,
  adminPassword,
  provision,
  recentCalls,
  spawnPlatform,
  startPlatform,
} from '../support/platform-process.ts'
import { createApi } from '../support/platform-api.ts'
import type { Platform, PlatformOptions, Tenant } from '../support/platform-process.ts'
import { freePorts } from '../support/ports.ts'
import type { Sipp } from '../support/sipp.ts'
import { isMissing } from '../support/tools.ts'
import { until } from '../support/wait.ts'

// Most cases start the platform, and what one leaves running is where the next one begins.
vi.setConfig({ testTimeout: 180_000 })

let dataDir: string
let running: Platform[] = []

beforeEach(async () => {
  dataDir = await mkdtemp(join(tmpdir(), 'switchhook-life-'))
})

afterEach(async () => {
  await Promise.all(running.map((platform) => platform.stop('SIGKILL')))
  running = []
  await rm(dataDir, { recursive: true, force: true })
})

async function start(options: PlatformOptions = {}): Promise<Platform> {
  const platform = await startPlatform({ dataDir, ...options })
  running.push(platform)
  return platform
}

type Row = Record<string, unknown>

const apiOf = ({ httpPort }: Platform): string => `http://127.0.0.1:${httpPort}/v1`

/** What stands on the terminal after a first boot. */
async function printedBy({ process: child }: Platform) {
  await child.lines.next('the last line of the first boot', (line) => line.includes('account API key'))
  const shown = (name: string): string =>
    new RegExp(`^  ${name} {2,}(\\S+)`, 'm').exec(child.stdout)?.[1] ?? ''
  return {
    password: shown('admin password'),
    apiKey: shown('admin API key'),
    account_sid: shown('account'),
    accountApiKey: shown('account API key'),
  }
}

/** What an account may, in the default account and nowhere else. */
async function staysInItsAccount(
  platform: Platform,
  { apiKey, account_sid, accountApiKey }: Record<'apiKey' | 'account_sid' | 'accountApiKey', string>,
): Promise<void> {
  const admin = createApi(apiOf(platform), apiKey)
  const account = createApi(apiOf(platform), accountApiKey)
  const [provider, ...otherProviders] = await admin.must<Row[]>('GET', '/ServiceProviders')
  expect([provider?.['name'], otherProviders]).toEqual(['default service provider', []])
  const service_provider_sid = provider?.['service_provider_sid']
  const other = await admin.must('POST', '/Accounts', { name: 'another', service_provider_sid })
  const hook = { url: 'https://app.example.com/call' }
  const application = { name: 'mine', call_hook: hook, call_status_hook: hook }
  const theirs = await admin.must('POST', '/Applications', { ...application, account_sid: other['sid'] })

  expect(await account.must('GET', '/Accounts')).toEqual([
    expect.objectContaining({ account_sid, service_provider_sid, name: 'default account' }),
  ])
  expect(await account.must('GET', `/Accounts/${account_sid}/WebhookSecret`)).toEqual({
    webhook_secret: expect.stringMatching(/^wh_secret_[\w-]{22}$/),
  })
  const mine = await account.must('POST', '/Applications', { ...application, account_sid })
  expect(await account.must('GET', '/Applications')).toEqual([
    expect.objectContaining({ application_sid: mine['sid'], account_sid }),
  ])

  for (const [method, path, body] of [
    ['GET', `/Accounts/${String(other['sid'])}`],
    ['PUT', `/Accounts/${String(other['sid'])}`, { name: 'taken' }],
    ['GET', `/Accounts/${String(other['sid'])}/WebhookSecret`],
    ['GET', `/Accounts/${String(other['sid'])}/RecentCalls?page=1&count=25`],
    ['GET', `/Applications/${String(theirs['sid'])}`],
    ['DELETE', `/Applications/${String(theirs['sid'])}`],
    ['POST', '/Accounts', { name: 'a third', service_provider_sid }],
    ['POST', '/ServiceProviders', { name: 'a second' }],
  ] as const)
    expect([403, 404], `${method} ${path}`).toContain((await account.call(method, path, body)).status)
  expect(await admin.must('GET', '/Accounts')).toHaveLength(2)
  expect(await admin.must('GET', `/Accounts/${String(other['sid'])}`)).toMatchObject({ name: 'another' })
  expect(await admin.must('GET', `/Applications/${String(theirs['sid'])}`)).toMatchObject({ name: 'mine' })
}

describe('first boot', () => {
  it('prints generated secrets once, among them a key that does what an account may in the default account and nowhere else, and a second start prints none', async () => {
    const first = await start({ generateSecrets: true })
    const { password, apiKey, account_sid, accountApiKey } = await printedBy(first)
    expect(password.length).toBeGreaterThanOrEqual(12)
    for (const key of [apiKey, accountApiKey]) expect(key.length).toBeGreaterThanOrEqual(16)
    expect((await first.api.call('GET', '/ServiceProviders', undefined, apiKey)).status).toBe(200)
    const login = { username: 'admin', password }
    expect((await first.api.call('POST', '/login', login, null)).status).toBe(200)
    await staysInItsAccount(first, { apiKey, account_sid, accountApiKey })
    expect((await first.stop('SIGINT')).code).toBe(0)

    const second = await start({ generateSecrets: true })
    await second.process.lines.next('the addresses', (line) => line.includes('SIP'))
    for (const secret of [password, apiKey, accountApiKey])
      expect(second.process.output).not.toContain(secret)
    expect(second.process.output).not.toMatch(/admin password|API key/)
    for (const key of [apiKey, accountApiKey])
      expect((await second.api.call('GET', '/Accounts', undefined, key)).status).toBe(200)
  })

  it('stops with the name and the rule of a wrong setting', async () => {
    const failing = startPlatform({ dataDir, env: { SWITCHHOOK_SIP_PORT: 'five thousand' } })
    await expect(failing).rejects.toThrow(/SWITCHHOOK_SIP_PORT must be a port number/)
  })
})

describe('a first boot with secrets and bounds of the environment', () => {
  let platform: Platform
  beforeAll(async () => {
    platform = await startPlatform({ isFirstBoot: true, env: { MALLOC_ARENA_MAX: '3' } })
  })
  afterAll(() => platform.remove())

  it.skipIf(process.platform !== 'linux')(
    'bounds its memory before the first line runs, and what the operator has set stays',
    async () => {
      const { pid } = platform
      const read = async (name: string): Promise<string[]> =>
        (await readFile(`/proc/${pid}/${name}`, 'utf8')).split('\0')
      const bounds = (await read('cmdline')).filter((argument) =>
        argument.startsWith('--max-semi-space-size='),
      )
      expect(bounds).toEqual(['--max-semi-space-size=4'])
      expect(await read('environ')).toEqual(
        expect.arrayContaining(['MALLOC_ARENA_MAX=3', 'MALLOC_MMAP_THRESHOLD_=1048576']),
      )
    },
  )

  it('honours the password and the keys of the environment, and prints none of them', async () => {
    const { account_sid } = await printedBy(platform)
    for (const secret of [adminPassword, adminApiKey, accountApiKey])
      expect(platform.process.output).not.toContain(secret)
    expect((await platform.api.call('GET', '/ServiceProviders', undefined, adminApiKey)).status).toBe(200)
    const login = { username: 'admin', password: adminPassword }
    expect((await platform.api.call('POST', '/login', login, null)).status).toBe(200)
    const accounts = await platform.api.call('GET', '/Accounts', undefined, accountApiKey)
    expect(accounts.body).toEqual([expect.objectContaining({ account_sid })])
    for (const wrong of [`${adminApiKey}x`, `${accountApiKey}x`])
      expect((await platform.api.call('GET', '/Accounts', undefined, wrong)).status).toBe(401)
  })

  it('names the API and the SIP address on the terminal', async () => {
    await platform.process.lines.next('the API address', (line) => line.includes(`:${platform.httpPort}`))
    await platform.process.lines.next('the SIP address', (line) => line.includes(`:${platform.sip.port}`))
  })
})

describe.skipIf(isMissing('sipp'))('with a call up', () => {
  let application: Application

  beforeAll(async () => {
    application = await startApplication()
    application.on('/status', { status: 200 })
    application.on('/call', {
      json: [{ verb: 'say', text: 'This goes on until the caller ends it.', loop: 'forever' }],
    })
  })

  afterAll(() => application?.close())

  async function callUp(platform: Platform, scenario: string): Promise<{ tenant: Tenant; caller: Sipp }> {
    const tenant = await provision(platform.api, { application })
    served.push(tenant)
    const phone = createCaller(platform, tenant)
    const caller = await phone.start(scenario, tenant.target, { talkMs: 6000 })
    await phone.answered()
    return { tenant, caller }
  }

  const served: Tenant[] = []
  // One data directory for all: what a case finds at its next start runs on as the platform of the one after it.
  let places: string
  let running: Platform | undefined
  const startNext = async (): Promise<Platform> => (running = await startPlatform({ dataDir: places }))
  beforeAll(async () => {
    places = await mkdtemp(join(tmpdir(), 'switchhook-calls-'))
  })
  afterAll(async () => {
    await running?.stop('SIGKILL')
    await rm(places, { recursive: true, force: true })
  })

  it('SIGTERM lets the call finish, refuses new ones with 503, and then ends with 0', async () => {
    const platform = running?.process.isRunning === true ? running : await startNext()
    const { tenant, caller } = await callUp(platform, 'call-bye')
    const signalledAt = Date.now()
    platform.process.signal('SIGTERM')
    const phone = await openRawPhone(platform.sip)
    await until('new calls to be refused', async () => {
      await phone.send(rawRequest('INVITE', `sip:${tenant.target}`, phone))
      return phone.received.items.some(({ start: line }) => line.startsWith('SIP/2.0 503'))
    })
    await phone.close()
    const { code, report } = await caller.finished
    expect(report).toBe('')
    expect(code).toBe(0)
    expect((await platform.process.exited).code).toBe(0)

    const next = await startNext()
    const [record, ...others] = await recentCalls(next.api, tenant.account_sid, 1)
    expect(others).toEqual([])
    expect(record).toMatchObject({ answered: true, termination_reason: 'caller hungup' })
    expect(record?.terminated_at).toBeGreaterThan(signalledAt)
  })

  it('SIGINT hangs up, writes the record and ends with 0', async () => {
    const platform = running?.process.isRunning === true ? running : await startNext()
    const { tenant, caller } = await callUp(platform, 'call')
    expect((await platform.stop('SIGINT')).code).toBe(0)
    const { report } = await caller.finished
    expect(report).toBe('')
    const next = await startNext()
    const [record, ...others] = await recentCalls(next.api, tenant.account_sid, 1)
    expect(others).toEqual([])
    expect(record).toMatchObject({ answered: true, termination_reason: expect.stringMatching(/\w/) })
  })

  it('SIGKILL leaves exactly one record at the next start, which says so', async () => {
    const platform = running?.process.isRunning === true ? running : await startNext()
    const { tenant, caller } = await callUp(platform, 'call')
    // The answer counts once it is committed, with the notification of it; a kill before that leaves an unanswered call.
    await application.requests.next(
      'the answer to be reported',
      ({ body }) => body['account_sid'] === tenant.account_sid && body['call_status'] === 'in-progress',
    )
    await platform.stop('SIGKILL')
    await caller.stop()
    const next = await startNext()
    const [record, ...others] = await recentCalls(next.api, tenant.account_sid, 1)
    expect(others).toEqual([])
    expect(record).toMatchObject({ answered: true, direction: 'inbound' })
    expect(record?.termination_reason).not.toMatch(/^(caller|called party) hungup$|^$/)
    expect(await next.api.must('GET', `/Accounts/${tenant.account_sid}/Calls`)).toEqual([])
  })

  it('SIGTERM to npm, which does not pass it on, ends the platform too, and a further start adds no record', async () => {
    await running?.stop('SIGINT')
    running = undefined
    const ports = await freePorts(102)
    const child = spawnPlatform({
      dataDir: places,
      ports,
      within: ['sh', '-c', '"$@" & wait', 'sh'],
      env: { npm_lifecycle_event: 'start' },
    })
    await child.lines.next('the platform to be ready', (line) => line.includes('Switchhook is ready.'))
    const api = createApi(`http://127.0.0.1:${ports}/v1`, adminApiKey)
    for (const { account_sid } of served) expect(await recentCalls(api, account_sid, 1)).toHaveLength(1)
    // Resolves once nothing holds the output any more: the shell has ended, and so has the platform.
    await child.stop('SIGTERM', 45_000)
    expect(child.stdout).toContain('"stopping"')
  })
})
