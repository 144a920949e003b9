// Failing starts and their messages to the operator; an interrupted first boot, its one-time output, and the next
// start.
import { createSocket } from 'node:dgram'
import { once } from 'node:events'
import { chmod, mkdir, mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { createServer, type Socket } from 'node:net'
import { platform as system, tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest'
import { createTestDatabase } from '../support/postgres-databases.ts'
import { healthy, spawnPlatform, type SpawnOptions } from '../support/platform-process.ts'
import { createApi } from '../support/platform-api.ts'
import { freePorts } from '../support/ports.ts'
import type { ToolProcess } from '../support/processes.ts'
import { hasCommand, isMissing } from '../support/tools.ts'
import { Inbox } from '../support/wait.ts'

// Most tests start the platform more than once.
vi.setConfig({ testTimeout: 180_000 })

let dataDir: string
let ports: number
let running: ToolProcess[] = []
let closers: (() => Promise<unknown>)[] = []

beforeEach(async () => {
  dataDir = await mkdtemp(join(tmpdir(), 'switchhook-start-'))
  ports = await freePorts(102)
})

afterEach(async () => {
  await Promise.all(running.map((child) => child.stop('SIGKILL')))
  for (const close of closers) await close()
  running = []
  closers = []
  await rm(dataDir, { recursive: true, force: true })
})

function start(options: Partial<SpawnOptions> = {}): ToolProcess {
  const child = spawnPlatform({ dataDir, ports, generateSecrets: true, ...options })
  running.push(child)
  return child
}

/** Returns the message of a failing start: one line, with neither a stack nor a log entry beside it. */
async function failureOf(child: ToolProcess): Promise<string> {
  const { code } = await child.exited
  expect(code, child.output).toBeGreaterThan(0)
  expect(child.output).not.toMatch(/^\s+at /m)
  expect(child.stdout).not.toMatch(/"level":[4-6]0/)
  expect(child.stderr.trimEnd().split('\n'), child.stderr).toHaveLength(1)
  return child.stderr.trimEnd()
}

async function occupyTcp(port: number): Promise<void> {
  const server = createServer((socket) => socket.destroy()).listen(port, '127.0.0.1')
  await once(server, 'listening')
  closers.push(async () => new Promise((resolve) => server.close(resolve)))
}

async function occupyUdp(port: number): Promise<void> {
  const socket = createSocket('udp4').bind(port, '127.0.0.1')
  await once(socket, 'listening')
  closers.push(async () => new Promise<void>((resolve) => socket.close(resolve)))
}

async function free(): Promise<void> {
  for (const close of closers) await close()
  closers = []
}

const obstacles = [
  {
    name: 'a busy HTTP port',
    occupy: (at: number) => occupyTcp(at),
    sentence: (at: number) => `TCP port ${at} of 127.0.0.1 is in use by another program: `,
    cure: 'set SWITCHHOOK_HTTP_PORT to a free port',
  },
  {
    name: 'a SIP port that is busy for TCP',
    occupy: (at: number) => occupyTcp(at + 1),
    sentence: (at: number) => `TCP port ${at + 1} of 127.0.0.1 is in use by another program: `,
    cure: 'set SWITCHHOOK_SIP_PORT to a free port',
  },
  {
    name: 'a SIP port that is busy for UDP',
    occupy: (at: number) => occupyUdp(at + 1),
    sentence: (at: number) => `UDP port ${at + 1} of 127.0.0.1 is in use by another program: `,
    cure: 'set SWITCHHOOK_SIP_PORT to a free port',
  },
  {
    name: 'a busy RTP range',
    occupy: (at: number) => occupyUdp(at + 3),
    env: (at: number) => ({ SWITCHHOOK_RTP_PORTS: `${at + 3}-${at + 4 + (at % 2)}` }),
    sentence: (_at: number) => `of 127.0.0.1 are in use by other programs: `,
    cure: 'set SWITCHHOOK_RTP_PORTS to a free range',
  },
]

type Row = Record<string, unknown>

interface Printed {
  readonly password: string
  readonly apiKey: string
  readonly account_sid: string
  readonly accountApiKey: string
}

/** Returns the values that a first boot printed on the terminal. */
async function printedBy(child: ToolProcess): Promise<Printed> {
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

/** Checks that an account's key has the rights of an account, in the default account only. */
async function staysInItsAccount(
  url: string,
  { apiKey, account_sid, accountApiKey }: Printed,
): Promise<void> {
  const admin = createApi(url, apiKey)
  const account = createApi(url, accountApiKey)
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

const modeOf = async (path: string): Promise<number> => (await stat(path)).mode & 0o777
const hasTerminal = system() === 'linux' && hasCommand('script')

// One data directory: its first boot fails repeatedly, and its platform then serves all further cases.
describe('a first boot', () => {
  let folder: string
  let own: string
  let ownPorts: number
  let platform: ToolProcess | undefined
  let next: ToolProcess | undefined
  const begin = (options: Partial<SpawnOptions> = {}): ToolProcess =>
    start({ dataDir: own, ports: ownPorts, ...options })
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'switchhook-first-boot-'))
    own = join(folder, 'made')
    // An odd port cannot begin a pair.
    do ownPorts = await freePorts(102)
    while (ownPorts % 2 === 0)
  })
  afterAll(async () => {
    await platform?.stop('SIGKILL')
    await next?.stop('SIGKILL')
    await rm(folder, { recursive: true, force: true })
  })
  const url = (): string => `http://127.0.0.1:${ownPorts}/v1`
  /** Starts a process that outlasts the test case. */
  const lasting = async (options: Partial<SpawnOptions>): Promise<ToolProcess> => {
    const child = begin(options)
    running = running.filter((one) => one !== child)
    await healthy(child, ownPorts)
    return child
  }
  /** Returns the platform that was started with the secrets it has shown. */
  const served = async (): Promise<ToolProcess> =>
    platform?.isRunning === true ? platform : (platform = await lasting({ isCold: true }))
  /** Returns the next start, at a terminal if there is one: `script` provides it and copies the program's output. */
  const servedNext = async (): Promise<ToolProcess> => {
    if (next?.isRunning === true) return next
    await platform?.stop('SIGINT', 45_000)
    await chmod(own, 0o755)
    const within = ['sh', '-c', 'exec script -qefc "$*" /dev/null', 'sh']
    return (next = await lasting(hasTerminal ? { within } : {}))
  }

  it.each(obstacles)(
    'a first boot fails over $name in one sentence that names the setting, and makes no secrets',
    async ({ occupy, env, sentence, cure }) => {
      await occupy(ownPorts)
      const failed = begin({ env: env?.(ownPorts) ?? {} })
      const line = await failureOf(failed)
      expect(line).toMatch(/^Switchhook cannot start: /)
      expect(line).toContain(sentence(ownPorts))
      expect(line).toContain(cure)
      expect(failed.output).not.toContain('First boot')
      await free()
    },
  )

  it.skipIf(system() !== 'linux')('a first boot that cannot show the secrets makes none', async () => {
    const full = begin({
      within: ['sh', '-c', 'exec "$@" >/dev/full', 'sh'],
      env: { SWITCHHOOK_LOG_LEVEL: 'silent' },
    })
    expect(await failureOf(full)).toMatch(/could not be written to standard output/)
  })

  it('a first boot after failed ones shows working secrets, one with the default account’s rights', async () => {
    const printed = await printedBy(await served())
    const { password, apiKey, accountApiKey } = printed
    expect(password.length).toBeGreaterThanOrEqual(12)
    for (const key of [apiKey, accountApiKey]) expect(key.length).toBeGreaterThanOrEqual(16)
    const api = createApi(url(), apiKey)
    expect(await api.must('GET', '/Accounts')).toHaveLength(1)
    expect((await api.call('GET', '/ServiceProviders')).status).toBe(200)
    expect((await api.call('POST', '/login', { username: 'admin', password }, null)).status).toBe(200)
    await staysInItsAccount(url(), printed)
  })

  it.skipIf(system() === 'win32')('a first boot makes the data directory for its owner only', async () => {
    await served()
    expect(await modeOf(own)).toBe(0o700)
  })

  it('without a terminal a first boot logs JSON, and its banner has the demo and the reference', async () => {
    const child = await served()
    const line = await child.lines.next('a line of the log', (text) => text.includes('http listening'))
    expect(JSON.parse(line)).toMatchObject({ level: 30, msg: 'http listening', port: ownPorts })
    await child.lines.next('the demo', (line) => line.includes('npm run demo'))
    const docs = /Docs +(\S+)/.exec(child.stdout)?.[1] ?? ''
    expect(docs).toBe(`http://127.0.0.1:${ownPorts}/docs`)
    expect((await fetch(docs)).headers.get('content-type')).toContain('text/html')
    const accept = 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8'
    const welcome = await fetch(`http://127.0.0.1:${ownPorts}/`, { headers: { accept } })
    expect(welcome.status).toBe(200)
    const page = await welcome.text()
    expect(page).toContain('href="/docs"')
    expect(page).toContain('npm run demo')
    for (const other of ['*/*', 'application/json', 'application/json, text/html;q=0.5'])
      expect(
        await (await fetch(`http://127.0.0.1:${ownPorts}/`, { headers: { accept: other } })).json(),
      ).toEqual({
        status: 'ok',
      })
  })

  it('the setting is named when another process uses the data directory', async () => {
    await served()
    const line = await failureOf(begin({ ports }))
    expect(line).toMatch(
      /Another process is running on the data directory .*: stop it first.*SWITCHHOOK_DATA_DIR/,
    )
  })

  it('the setting is named when the key is not that of the database', async () => {
    await (await served()).stop('SIGINT', 45_000)
    const line = await failureOf(begin({ env: { SWITCHHOOK_SECRET_KEY: '0123456789abcdef'.repeat(4) } }))
    expect(line).toMatch(/does not open the secrets of this database.*SWITCHHOOK_SECRET_KEY/)
  })

  it('a first boot shows its secrets once: the next start does not print them, and they still work', async () => {
    if (platform === undefined) await served()
    const { password, apiKey, accountApiKey } = await printedBy(platform!)
    const child = await servedNext()
    await child.lines.next('the addresses', (line) => line.includes('SIP'))
    for (const secret of [password, apiKey, accountApiKey]) expect(child.output).not.toContain(secret)
    expect(child.output).not.toMatch(/admin password|API key/)
    for (const key of [apiKey, accountApiKey])
      expect((await createApi(url(), key).call('GET', '/Accounts')).status).toBe(200)
  })

  it.skipIf(system() === 'win32')(
    'the next start restricts a data directory that was left too open',
    async () => {
      await servedNext()
      expect(await modeOf(own)).toBe(0o700)
    },
  )

  it.skipIf(!hasTerminal)('the start after a first boot logs readable lines at a terminal', async () => {
    const child = await servedNext()
    const line = await child.lines.next('a line of the log', (text) => text.includes('http listening'))
    expect(line.trimEnd()).toMatch(
      /^\d\d:\d\d:\d\d\.\d{3} info {2}http listening address=127\.0\.0\.1 port=\d+$/,
    )
    expect(child.stdout).not.toContain('{"')
    expect(child.stdout).toContain('From  this machine alone (it listens on 127.0.0.1)')
    const phones = await child.lines.next('the proxy of phones', (text) => text.includes('  Phone '))
    expect(phones.trimEnd()).toMatch(
      /^ {2}Phone outbound proxy sip:127\.0\.0\.1:\d+, for phones on this machine$/,
    )
  })
})

describe('a start', () => {
  it('a start refuses an argument, names the setting that is meant, and makes nothing', async () => {
    const fresh = join(dataDir, 'fresh')
    const child = start({ args: ['--port', '4000'], dataDir: fresh })
    expect(await failureOf(child)).toBe(
      'Switchhook has no argument --port: settings are variables of the environment, set SWITCHHOOK_HTTP_PORT.',
    )
    expect((await child.exited).code).toBe(64)
    await expect(stat(fresh)).rejects.toThrow('ENOENT')
  })

  it('a start refuses a variable that is not a setting, and names the nearest one', async () => {
    const child = start({ env: { SWITCHHOOK_HTTPPORT: '3000' } })
    const { code } = await child.exited
    expect(code).toBe(78)
    expect(child.stderr).toContain(
      'SWITCHHOOK_HTTPPORT is not a setting: the nearest one is SWITCHHOOK_HTTP_PORT',
    )
  })

  it.each([
    ['SWITCHHOOK_RTP_PORTS', '40001-40002', 'must hold an even port and the one after it'],
    ['SWITCHHOOK_SECRET_KEY', 'short', 'must be 64 hex digits'],
    ['SWITCHHOOK_SECRET_KEY', '0'.repeat(64), 'must be random, for example from openssl rand -hex 32'],
    ['SWITCHHOOK_DATABASE_URL', 'mysql://host/db', 'must be a postgres:// URL'],
    ['SWITCHHOOK_DATABASE_URL', 'postgres://host:port/db', 'must be a postgres:// URL'],
  ])('a start refuses %s=%s and names the setting and its rule', async (name, value, rule) => {
    const child = start({ env: { [name]: value } })
    expect((await child.exited).code).toBe(78)
    expect(child.stderr).toContain(`${name} ${rule}`)
  })

  it('a start names the setting of an address that the machine does not have', async () => {
    const line = await failureOf(start({ env: { SWITCHHOOK_BIND: '192.0.2.1' } }))
    expect(line).toMatch(/no address 192\.0\.2\.1: set SWITCHHOOK_BIND/)
  })

  it('a start names the setting of a data directory that cannot be written', async () => {
    const file = join(dataDir, 'file')
    await writeFile(file, '')
    const line = await failureOf(start({ dataDir: file }))
    expect(line).toContain(`The data directory ${file} cannot be written`)
    expect(line).toContain('SWITCHHOOK_DATA_DIR')
  })

  it('a start names the file if it is not a database', async () => {
    await writeFile(
      join(dataDir, 'switchhook.db'),
      'not a database, and long enough to be read as one'.repeat(50),
    )
    expect(await failureOf(start())).toMatch(/switchhook\.db is not a database.*SWITCHHOOK_DATA_DIR/)
  })

  it('a start that is stopped while it waits for a server reports why it failed, and nothing else', async () => {
    const sockets = new Inbox<Socket>()
    const server = createServer((socket) => sockets.push(socket.on('error', () => undefined)))
    await once(server.listen(ports + 14, '127.0.0.1'), 'listening')
    closers.push(async () => new Promise((resolve) => server.close(resolve)))
    const url = `postgres://ann@127.0.0.1:${ports + 14}/db`
    const child = start({ env: { SWITCHHOOK_DATABASE_URL: url } })
    const waited = await sockets.next('the start to ask', () => true)
    child.signal('SIGTERM')
    await child.lines.next('the signal', (line) => line.includes('"stopping"'))
    waited.destroy()
    expect(await failureOf(child)).toMatch(/PostgreSQL does not answer/)
  })

  it('a start names the setting when no PostgreSQL server responds', async () => {
    const url = `postgres://ann:s3cret-word@localhost:${ports + 14}/db`
    const line = await failureOf(start({ env: { SWITCHHOOK_DATABASE_URL: url } }))
    expect(line).toMatch(/PostgreSQL does not answer \(.*ECONNREFUSED.*\).*SWITCHHOOK_DATABASE_URL/)
    expect(line).not.toContain('s3cret-word')
  })
})

describe.skipIf(isMissing('postgres'))('a start on PostgreSQL', () => {
  it('a start names the setting when the PostgreSQL password is wrong', async () => {
    const database = await createTestDatabase()
    closers.push(() => database.remove())
    // A separate role: the server of the run requests a password only from this one.
    const role = `ann_${Date.now()}`
    await database.query(`create role ${role} login password 'right'`)
    const rules = join(database.folder, 'data', 'pg_hba.conf')
    await writeFile(rules, `local all ${role} scram-sha-256\n${await readFile(rules, 'utf8')}`)
    await database.query('select pg_reload_conf()')
    const url = database.url.replace('postgres@', `${role}:s3cret-word@`)
    const line = await failureOf(start({ env: { SWITCHHOOK_DATABASE_URL: url } }))
    expect(line).toMatch(
      /PostgreSQL refuses the user or the password: correct them in SWITCHHOOK_DATABASE_URL/,
    )
    expect(line).not.toContain('s3cret-word')
  })

  it('a start names the setting when there is no such database', async () => {
    const database = await createTestDatabase()
    closers.push(() => database.remove())
    const url = database.url.replace(database.name, 'missing')
    const line = await failureOf(start({ env: { SWITCHHOOK_DATABASE_URL: url } }))
    expect(line).toMatch(/PostgreSQL has no such database: .*SWITCHHOOK_DATABASE_URL/)
  })
})

describe.skipIf(system() === 'win32')('the data directory', () => {
  it('a data directory with files of others is left as it is, and the log says so', async () => {
    const shared = join(dataDir, 'shared')
    await mkdir(shared)
    await chmod(shared, 0o755)
    await writeFile(join(shared, 'theirs.txt'), '')
    const child = start({ dataDir: shared })
    await healthy(child, ports)
    expect(await modeOf(shared)).toBe(0o755)
    expect(child.stdout).toMatch(/"level":40.*chmod 700.*SWITCHHOOK_DATA_DIR/)
  })
})
