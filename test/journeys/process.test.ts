// The life of the process: first boot, a full disk, signals with a call up, and the remains of a killed process. The
// output of first boot is tested in start.test.ts.
import { spawnSync } from 'node:child_process'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { startApplication, type Application } from '../support/application.ts'
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
  type Platform,
  type PlatformOptions,
  type Tenant,
} from '../support/platform-process.ts'
import { createApi } from '../support/platform-api.ts'
import { freePorts } from '../support/ports.ts'
import type { ToolProcess } from '../support/processes.ts'
import type { Sipp } from '../support/sipp.ts'
import { isMissing } from '../support/tools.ts'
import { until } from '../support/wait.ts'

vi.setConfig({ testTimeout: 180_000 })

// One data directory for all cases, since a start takes most of their time: a platform that one case starts runs on as
// the platform of the next.
let dataDir: string
let running: Platform | undefined

beforeAll(async () => {
  dataDir = await mkdtemp(join(tmpdir(), 'switchhook-life-'))
})

afterAll(async () => {
  await running?.stop('SIGKILL')
  await rm(dataDir, { recursive: true, force: true })
})

const startNext = async (options: PlatformOptions = {}): Promise<Platform> =>
  (running = await startPlatform({ dataDir, ...options }))

const runningOne = async (): Promise<Platform> =>
  running?.process.isRunning === true ? running : await startNext()

describe('a first boot with secrets and bounds of the environment', () => {
  let platform: Platform
  beforeAll(async () => {
    platform = await startNext({ isFirstBoot: true, env: { MALLOC_ARENA_MAX: '3' } })
  })

  it.skipIf(process.platform !== 'linux')(
    'the process limits its memory before the first line runs, and keeps a limit of the operator',
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

  it('a first boot uses the password and the keys of the environment, and prints none of them', async () => {
    const { process: child } = platform
    await child.lines.next('the last line of the first boot', (line) => line.includes('account API key'))
    const account_sid = /^ {2}account {2,}(\S+)/m.exec(child.stdout)?.[1]
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

  it('a first boot prints the addresses of the API and of SIP', async () => {
    await platform.process.lines.next('the API address', (line) => line.includes(`:${platform.httpPort}`))
    await platform.process.lines.next('the SIP address', (line) => line.includes(`:${platform.sip.port}`))
  })
})

/** Limits the size of files: the system then refuses longer files, as a full disk does. */
function limitFiles({ pid }: Platform, size: number | 'unlimited'): void {
  const { status, stderr } = spawnSync('prlimit', ['--pid', String(pid), `--fsize=${size}:unlimited`], {
    encoding: 'utf8',
  })
  if (status !== 0) throw new Error(`prlimit failed: ${stderr}`)
}

describe.skipIf(process.platform !== 'linux')('/health', () => {
  it('/health is 503 with the reason while the disk is full, and 200 afterwards', async () => {
    const platform = await runningOne()
    const health = async (): Promise<{ status: number; body: unknown }> => {
      const response = await fetch(`http://127.0.0.1:${platform.httpPort}/health`)
      return { status: response.status, body: await response.json() }
    }
    try {
      expect(await health()).toEqual({ status: 200, body: { status: 'ok' } })
      limitFiles(platform, 1)
      const refused = await platform.api.call('POST', '/ServiceProviders', { name: 'not kept' })
      expect(refused.body).toMatchObject({ code: 'database_unavailable' })
      const failing = { status: 503, body: { status: 'unavailable', reason: 'database_unavailable' } }
      await until('the health to say so', async () => (await health()).status === 503)
      expect(await health()).toEqual(failing)
      expect((await platform.api.call('GET', '/ServiceProviders')).status).toBe(200)
      limitFiles(platform, 'unlimited')
      await until('it to recover', async () => (await health()).status === 200)
      await platform.api.must('POST', '/ServiceProviders', { name: 'kept' })
    } finally {
      limitFiles(platform, 'unlimited')
    }
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

  let belowNpm: { readonly child: ToolProcess; readonly api: Platform['api'] } | undefined
  afterAll(() => belowNpm?.child.stop('SIGKILL'))

  /** Starts the platform as npm does: below a shell that passes no signal on. */
  async function startBelowNpm(): Promise<NonNullable<typeof belowNpm>> {
    const ports = await freePorts(102)
    const child = spawnPlatform({
      dataDir,
      ports,
      within: ['sh', '-c', '"$@" & wait', 'sh'],
      env: { npm_lifecycle_event: 'start' },
    })
    belowNpm = { child, api: createApi(`http://127.0.0.1:${ports}/v1`, adminApiKey) }
    await child.lines.next('the platform to be ready', (line) => line.includes('Switchhook is ready.'))
    return belowNpm
  }

  it('SIGTERM lets the call finish, refuses new ones with 503, and then ends with 0', async () => {
    const platform = await runningOne()
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
    // The platform has ended, and its application was notified.
    const reported = application
      .to('/status')
      .filter(({ body }) => body['account_sid'] === tenant.account_sid)
    expect(reported.map(({ body }) => body['call_status'])).toContain('completed')

    const next = await startNext()
    const [record, ...others] = await recentCalls(next.api, tenant.account_sid, 1)
    expect(others).toEqual([])
    expect(record).toMatchObject({ answered: true, termination_reason: 'caller hungup' })
    expect(record?.terminated_at).toBeGreaterThan(signalledAt)
  })

  it('SIGKILL leaves exactly one record at the next start, with the reason', async () => {
    const platform = await runningOne()
    const { tenant, caller } = await callUp(platform, 'call')
    // An answer counts once it is committed with its notification; after an earlier kill the call would be unanswered.
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

  it('SIGINT hangs up, writes the record and ends with 0', async () => {
    await belowNpm?.child.stop('SIGKILL')
    const platform = await runningOne()
    const { tenant, caller } = await callUp(platform, 'call')
    expect((await platform.stop('SIGINT')).code).toBe(0)
    const { report } = await caller.finished
    expect(report).toBe('')
    const next = await startBelowNpm()
    const [record, ...others] = await recentCalls(next.api, tenant.account_sid, 1)
    expect(others).toEqual([])
    expect(record).toMatchObject({ answered: true, termination_reason: expect.stringMatching(/\w/) })
  })

  it('SIGTERM to npm, which does not pass it on, also ends the platform, and its start added no record', async () => {
    await running?.stop('SIGINT')
    const { child, api } = belowNpm?.child.isRunning === true ? belowNpm : await startBelowNpm()
    for (const { account_sid } of served) expect(await recentCalls(api, account_sid, 1)).toHaveLength(1)
    // Resolves when no process holds the output: both the shell and the platform have ended.
    await child.stop('SIGTERM', 45_000)
    expect(child.stdout).toContain('"stopping"')
  })
})
