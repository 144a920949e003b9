// The whole product as a child process on free ports with its own data.
import { randomBytes } from 'node:crypto'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Application } from './application.ts'
import { createApi, type Api } from './platform-api.ts'
import { freePorts } from './ports.ts'
import { ToolProcess, type Exit } from './processes.ts'
import { setUpData } from './set-up-data.ts'
import { until } from './wait.ts'

const root = join(import.meta.dirname, '../..')

export const adminPassword = 'correct-horse-9'
export const adminApiKey = 'test-admin-key-0123456789abcdef'
/** The key of the default account. */
export const accountApiKey = 'test-account-key-0123456789abcdef'

/** Settings without rate limits, for tests that send more requests than a client may. */
export const unlimited = { SWITCHHOOK_RATE_LIMIT_PER_KEY: '0', SWITCHHOOK_RATE_LIMIT_PER_ADDRESS: '0' }

/** Returns settings of production, with secrets that no file shows. */
export function productionSettings(): Readonly<Record<string, string>> {
  return {
    NODE_ENV: 'production',
    SWITCHHOOK_ADMIN_PASSWORD: randomBytes(10).toString('hex'),
    SWITCHHOOK_ADMIN_API_KEY: randomBytes(32).toString('hex'),
    SWITCHHOOK_ACCOUNT_API_KEY: randomBytes(32).toString('hex'),
  }
}

export interface PlatformOptions {
  /** The data directory, for data that outlast a start; otherwise a temporary folder is made and removed. */
  readonly dataDir?: string
  readonly env?: Readonly<Record<string, string>>
  /** Leaves the three secrets out of the environment, so that first boot generates them. */
  readonly generateSecrets?: boolean
  /** Whether a new data directory is empty, as an operator's is; otherwise it is a copy of one that was set up. */
  readonly isFirstBoot?: boolean
  readonly core?: number
  /** Whether it keeps its ports when the test file has ended. */
  readonly outlastsFile?: boolean
}

export interface Platform {
  readonly pid: number
  readonly process: ToolProcess
  readonly httpPort: number
  readonly sip: { readonly address: string; readonly port: number }
  readonly dataDir: string
  /** The time from spawn to the first healthy response. */
  readonly startMs: number
  readonly api: Api
  stop(signal?: NodeJS.Signals): Promise<Exit>
  /** Stops it if it runs, and removes the data that it made. */
  remove(): Promise<void>
}

export interface SpawnOptions extends PlatformOptions {
  readonly dataDir: string
  /** The first of 102 ports: HTTP, SIP, and the range of RTP. */
  readonly ports: number
  /** The arguments of its command line. */
  readonly args?: readonly string[]
  /** The command that runs the program; it gets the program and its arguments as its own. */
  readonly within?: readonly string[]
  /** Whether it keeps its compiled code in its own data directory, as it does outside of tests. */
  readonly isCold?: boolean
}

/** Starts the process and does not wait until it is healthy: it may fail to start. */
export function spawnPlatform(options: SpawnOptions): ToolProcess {
  const { dataDir, ports } = options
  const secrets = {
    SWITCHHOOK_ADMIN_PASSWORD: adminPassword,
    SWITCHHOOK_ADMIN_API_KEY: adminApiKey,
    SWITCHHOOK_ACCOUNT_API_KEY: accountApiKey,
  }
  const pin = options.core === undefined ? [] : ['taskset', '-c', String(options.core)]
  const program = [process.execPath, join(root, 'src/main.ts'), ...(options.args ?? [])]
  const [command = '', ...args] = [...(options.within ?? []), ...pin, ...program]
  return new ToolProcess({
    command,
    args,
    cwd: root,
    env: {
      SWITCHHOOK_BIND: '127.0.0.1',
      SWITCHHOOK_PUBLIC_ADDRESS: '127.0.0.1',
      SWITCHHOOK_HTTP_PORT: String(ports),
      SWITCHHOOK_SIP_PORT: String(ports + 1),
      SWITCHHOOK_RTP_PORTS: `${ports + 2}-${ports + 101}`,
      SWITCHHOOK_BROWSER_PORT: '0',
      SWITCHHOOK_DATA_DIR: dataDir,
      SWITCHHOOK_DISK_RESERVE_MB: '1',
      // Stages name their phones' passwords for the reader.
      SWITCHHOOK_MIN_SIP_PASSWORD: '1',
      // On a slow machine the platform would sometimes ring first, which tests of the other states do not expect.
      SWITCHHOOK_RINGING: 'off',
      ...(options.isCold === true ? {} : codeCache()),
      ...(options.generateSecrets === true ? {} : secrets),
      ...options.env,
    },
  })
}

/** Keeps the code that Node compiled for the whole test run (global-setup.ts) and not per start: it halves a start. */
export function codeCache(): Readonly<Record<string, string>> {
  const directory = process.env['SWITCHHOOK_TEST_CODE_CACHE']
  return directory === undefined ? {} : { NODE_COMPILE_CACHE: directory }
}

export async function startPlatform(options: PlatformOptions = {}): Promise<Platform> {
  const dataDir = options.dataDir ?? (await mkdtemp(join(tmpdir(), 'switchhook-data-')))
  if (!bootsFirst(options)) await setUpData(dataDir)
  const ports = await freePorts(102, options)
  const startedAt = performance.now()
  const child = spawnPlatform({ ...options, dataDir, ports })
  const host = options.env?.['SWITCHHOOK_BIND'] === '::1' ? '[::1]' : '127.0.0.1'
  await healthy(child, ports, host)
  const startMs = performance.now() - startedAt
  return {
    pid: child.pid,
    process: child,
    httpPort: ports,
    sip: { address: host === '[::1]' ? '::1' : host, port: ports + 1 },
    dataDir,
    startMs,
    api: createApi(`http://${host}:${ports}/v1`, options.env?.['SWITCHHOOK_ADMIN_API_KEY'] ?? adminApiKey),
    stop: (signal = 'SIGINT') => child.stop(signal, 45_000),
    async remove() {
      await child.stop('SIGINT', 45_000)
      if (options.dataDir === undefined) await rm(dataDir, { recursive: true, force: true })
    },
  }
}

export interface SharedPlatform extends Platform {
  /** The HTTPS port, with the certificate that it made for itself. */
  readonly httpsPort: number
}

let shared: Promise<SharedPlatform> | undefined

/**
 * Returns one platform for all files of this process that need only an account of their own. It runs until the run
 * ends. A start takes longer than most of the tests on it.
 */
export function sharedPlatform(): Promise<SharedPlatform> {
  shared ??= startShared()
  return shared
}

/** Starts it. Global-setup.ts ends it by its pid; if the run is killed, it exits with its parent, as below npm. */
async function startShared(): Promise<SharedPlatform> {
  const folder = process.env['SWITCHHOOK_TEST_FOLDER'] ?? tmpdir()
  const httpsPort = await freePorts(1, { outlastsFile: true })
  const platform = await startPlatform({
    dataDir: join(folder, `shared-${process.pid}`),
    env: {
      ...unlimited,
      npm_lifecycle_event: 'test',
      SWITCHHOOK_DRAIN_SECONDS: '0',
      SWITCHHOOK_MEDIA_WORKERS: '1',
      SWITCHHOOK_HTTPS_PORT: String(httpsPort),
    },
    outlastsFile: true,
  })
  await writeFile(join(folder, `${platform.pid}.shared`), '')
  const belongsToAll = (): never => {
    throw new Error('this platform belongs to other files too')
  }
  return { ...platform, httpsPort, stop: belongsToAll, remove: belongsToAll }
}

/** Settings that first boot reads, or that place data elsewhere. */
const settingsOfFirstBoot = [
  'SWITCHHOOK_DATABASE_URL',
  'SWITCHHOOK_SECRET_KEY',
  'SWITCHHOOK_ADMIN_PASSWORD',
  'SWITCHHOOK_ADMIN_API_KEY',
  'SWITCHHOOK_ACCOUNT_API_KEY',
]

const bootsFirst = ({ isFirstBoot, generateSecrets, env = {} }: PlatformOptions): boolean =>
  isFirstBoot === true || generateSecrets === true || settingsOfFirstBoot.some((name) => name in env)

/** Resolves when the platform is healthy. `host` has the form that it has in a URL. */
export async function healthy(child: ToolProcess, port: number, host = '127.0.0.1'): Promise<void> {
  const ended = (): Error => new Error(`the platform ended before it was healthy\n${child.output}`)
  const look = async (): Promise<boolean> => {
    if (!child.isRunning) throw ended()
    const answer = await fetch(`http://${host}:${port}/health`).catch(() => undefined)
    return answer?.status === 200
  }
  try {
    // It writes a line when it is ready; polling it meanwhile would slow its start.
    await Promise.race([
      child.lines.next('the platform to be ready', (line) => line.includes('Switchhook is ready.')),
      child.exited.then(() => Promise.reject(ended())),
    ])
    await until('the platform to be healthy', look)
  } catch (error) {
    await child.stop('SIGKILL')
    throw new Error(`${String(error)}\n${child.output}`)
  }
}

export interface Tenant {
  readonly account_sid: string
  readonly application_sid: string
  readonly client_sid: string
  readonly realm: string
  readonly username: string
  readonly password: string
  /** The address that a phone dials to reach the application. */
  readonly target: string
}

export interface TenantOptions {
  readonly application: Pick<Application, 'url'>
  readonly realm?: string
  readonly username?: string
  readonly password?: string
  /** Added to the application's record. */
  readonly fields?: Readonly<Record<string, unknown>>
  /** Whether it may make more calls than a busy office does. */
  readonly isBusy?: boolean
}

let tenants = 0

const noLimits = { calls_per_second: 0, calls_per_minute: 0, concurrent_calls: 0, minutes_per_day: 0 }

/** Creates an account with a realm, an application with hooks /call and /status, and a SIP client, by the REST API. */
export async function provision(api: Api, options: TenantOptions): Promise<Tenant> {
  tenants += 1
  const realm = options.realm ?? `t${tenants}-${process.pid}.example.test`
  const username = options.username ?? 'alice'
  const password = options.password ?? 'sip-secret-1'
  const [provider] = await api.must<{ service_provider_sid: string }[]>('GET', '/ServiceProviders')
  const account = await api.must<{ sid: string }>('POST', '/Accounts', {
    name: `tenant ${tenants}`,
    service_provider_sid: provider?.service_provider_sid,
    sip_realm: realm,
  })
  if (options.isBusy === true) await api.must('PUT', `/Accounts/${account.sid}/CallDefence`, noLimits)
  const application = await api.must<{ sid: string }>('POST', '/Applications', {
    name: 'first call',
    account_sid: account.sid,
    call_hook: { url: options.application.url('/call'), method: 'POST' },
    call_status_hook: { url: options.application.url('/status'), method: 'POST' },
    ...options.fields,
  })
  const client = await api.must<{ sid: string }>('POST', '/Clients', {
    account_sid: account.sid,
    username,
    password,
  })
  return {
    account_sid: account.sid,
    application_sid: application.sid,
    client_sid: client.sid,
    realm,
    username,
    password,
    target: `app-${application.sid}@${realm}`,
  }
}

export interface RecentCallRecord {
  readonly call_sid: string
  readonly sip_call_id: string
  readonly from: string
  readonly to: string
  readonly answered: boolean
  readonly sip_status: number
  readonly duration: number
  readonly attempted_at: number
  readonly answered_at?: number | null
  readonly terminated_at: number
  readonly direction: string
  readonly termination_reason: string
  readonly parent_call_sid?: string
  readonly attempts?: readonly { readonly outcome: string; readonly cause: string }[]
}

/** Returns the recent calls of an account once there are `count` of them. */
export async function recentCalls(api: Api, account_sid: string, count: number): Promise<RecentCallRecord[]> {
  const path = `/Accounts/${account_sid}/RecentCalls?page=1&count=200`
  return await until(`${count} recent calls`, async () => {
    const page = await api.must<{ total: number; data: RecentCallRecord[] }>('GET', path)
    return page.total >= count ? page.data : undefined
  })
}

export async function journalOf(api: Api, account_sid: string, call_sid: string): Promise<JournalEntry[]> {
  const body = await api.must('GET', `/Accounts/${account_sid}/RecentCalls/${call_sid}/journal`)
  const events = Array.isArray(body) ? body : (body as { events?: unknown })['events']
  if (!Array.isArray(events)) throw new Error('the journal carries no events')
  return events as JournalEntry[]
}

export interface JournalEntry {
  readonly seq: number
  readonly at: number
  readonly type: string
  readonly [fact: string]: unknown
}
