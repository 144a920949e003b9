// Two nodes on one PostgreSQL: the cost of a call for each of them, how soon a change of one reaches the other, and
// how soon a survivor closes the calls of a killed node.
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { provision, startPlatform, type Platform, type Tenant } from '../test/support/platform-process.ts'
import type { Api } from '../test/support/platform-api.ts'
import { runOn, startPostgres } from '../test/support/postgres-server.ts'
import { startSipp, type Sipp, type SippResult } from '../test/support/sipp.ts'
import { until } from '../test/support/wait.ts'
import type { Figure } from './figure.ts'
import { startHookServer } from './hook-server.ts'
import { mainThreadCpuMs } from './proc.ts'

const callsPerSecond = 10
const warmUpCalls = 100
const revocations = 20
const orphans = 20

export async function measureNodes({ seconds = 20 } = {}): Promise<Figure[]> {
  const hooks = await startHookServer()
  const postgres = await startPostgres()
  const folder = await mkdtemp(join(tmpdir(), 'switchhook-bench-'))
  const running: Platform[] = []
  try {
    await runOn(postgres.url('postgres'), 'create database nodes')
    const start = async (name: string): Promise<Platform> => {
      const platform = await startPlatform({
        dataDir: join(folder, name),
        env: {
          SWITCHHOOK_DATABASE_URL: postgres.url('nodes'),
          SWITCHHOOK_SECRET_KEY: '0123456789abcdef'.repeat(4),
          SWITCHHOOK_LOG_LEVEL: 'warn',
        },
      })
      running.push(platform)
      return platform
    }
    const [a, b] = [await start('a'), await start('b')]
    const application = { url: (path: string) => `${hooks.origin}${path}` }
    const tenant = await provision(a.api, { application })
    await Promise.all([a, b].map((node) => place(node, tenant, warmUpCalls)))
    const calls = seconds * callsPerSecond
    const before = [a, b].map(({ pid }) => mainThreadCpuMs(pid))
    const results = await Promise.all([a, b].map((node) => place(node, tenant, calls)))
    const cpu = [a, b].map(({ pid }, index) => (mainThreadCpuMs(pid) - (before[index] ?? 0)) / calls)
    const recorded = await settled(a.api, tenant, 2 * (warmUpCalls + calls))
    const heardMs = await timeRevocations(a.api, b.api, tenant)
    const closedMs = await timeClosing(a, b, tenant)
    return figures({ calls, results, cpu, recorded: recorded - 2 * warmUpCalls, heardMs, closedMs })
  } finally {
    await Promise.all(running.map((platform) => platform.stop('SIGKILL')))
    await postgres.stop()
    await rm(folder, { recursive: true, force: true })
    hooks.close()
  }
}

async function place(platform: Platform, tenant: Tenant, calls: number): Promise<SippResult> {
  const sipp = await startCalls(platform, tenant, calls, 100)
  return await sipp.finished
}

function startCalls(
  platform: Platform,
  { realm, username, password, target }: Tenant,
  calls: number,
  talkMs: number,
): Promise<Sipp> {
  return startSipp({
    scenario: 'call-bye',
    target: platform.sip,
    username,
    password,
    calls,
    callsPerSecond,
    timeoutSeconds: Math.ceil(calls / callsPerSecond + talkMs / 1000) + 60,
    keepMessages: false,
    values: { realm, username, target, talkMs, byeHeader: '' },
  })
}

async function settled(api: Api, { account_sid }: Tenant, expected: number): Promise<number> {
  const path = `/Accounts/${account_sid}/RecentCalls?page=1&count=1`
  const total = async (): Promise<number> => (await api.must<{ total: number }>('GET', path)).total
  await until('the records', async () => (await total()) >= expected, { timeoutMs: 60_000 }).catch(
    () => undefined,
  )
  return await total()
}

/** Measures how long a key that one node has removed is still accepted by the other, which has just used it. */
async function timeRevocations(a: Api, b: Api, { account_sid }: Tenant): Promise<readonly number[]> {
  const path = `/Accounts/${account_sid}`
  const times: number[] = []
  for (let round = 0; round < revocations; round += 1) {
    const key = await a.must<{ token: string; api_key_sid: string }>('POST', '/ApiKeys', { account_sid })
    await until(
      'the key to be good',
      async () => (await b.call('GET', path, undefined, key.token)).status === 200,
    )
    await a.must('DELETE', `/ApiKeys/${key.api_key_sid}`)
    const removedAt = performance.now()
    const isRefused = async (): Promise<boolean> =>
      (await b.call('GET', path, undefined, key.token)).status === 401
    await until('the key to be refused', isRefused, { everyMs: 5 })
    times.push(performance.now() - removedAt)
  }
  return times.toSorted((one, other) => one - other)
}

async function timeClosing(a: Platform, b: Platform, tenant: Tenant): Promise<number> {
  const before = await settled(b.api, tenant, 0)
  const talking = await startCalls(a, tenant, orphans, 300_000)
  const path = `/Accounts/${tenant.account_sid}/Calls?callStatus=in-progress`
  await until('the calls to be answered', async () => {
    const answered = await a.api.must<readonly object[]>('GET', path)
    return answered.length === orphans
  })
  // The events of the last call are committed by then.
  await delay(1_000)
  await a.stop('SIGKILL')
  const killedAt = performance.now()
  await until('their records', async () => (await settled(b.api, tenant, 0)) === before + orphans, {
    timeoutMs: 60_000,
    everyMs: 100,
  })
  const closedMs = performance.now() - killedAt
  await talking.stop()
  return closedMs
}

interface Outcome {
  readonly calls: number
  readonly results: readonly SippResult[]
  readonly cpu: readonly number[]
  readonly recorded: number
  readonly heardMs: readonly number[]
  readonly closedMs: number
}

function figures({ calls, results, cpu, recorded, heardMs, closedMs }: Outcome): Figure[] {
  const failed = results.reduce((sum, { successful }) => sum + calls - successful, 0)
  const [median = 0, longest = 0] = [heardMs[heardMs.length >> 1], heardMs.at(-1)]
  return [
    {
      what: `inbound call on PostgreSQL, main-thread CPU of each node (${callsPerSecond} calls/s at each)`,
      target: '-',
      figure: cpu.map((ms) => `${ms.toFixed(2)} ms`).join(' and '),
    },
    { what: 'failed calls', target: '0', figure: `${failed} of ${2 * calls}`, isMet: failed === 0 },
    {
      what: 'records, one of each call',
      target: String(2 * calls),
      figure: String(recorded),
      isMet: recorded === 2 * calls,
    },
    {
      what: 'a key removed at one node is refused by the other',
      target: 'within 1000 ms',
      figure: `${median.toFixed(0)} ms, ${longest.toFixed(0)} ms at most, of ${heardMs.length}`,
      isMet: longest <= 1000,
    },
    {
      what: `${orphans} calls of a killed node are closed by the other`,
      target: 'within 30 s',
      figure: `${(closedMs / 1000).toFixed(1)} s`,
      isMet: closedMs <= 30_000,
    },
  ]
}
