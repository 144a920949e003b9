// The cost of a scanner beside good calls: main-thread CPU for its packets, and its effect on phones.
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { provision, startPlatform, type Platform, type Tenant } from '../test/support/platform-process.ts'
import { ToolProcess } from '../test/support/processes.ts'
import { startSipp, type SippResult } from '../test/support/sipp.ts'
import { until } from '../test/support/wait.ts'
import type { Figure } from './figure.ts'
import { answerAndPause, startHookServer } from './hook-server.ts'
import { lostDatagrams, mainThreadCpuMs, residentMb } from './proc.ts'
import type { ScannerOptions, ScannerResult } from './scanner-load.ts'

const platformCore = 0
const loadCore = 1
const liveCalls = 50
const callsPerSecond = 5
const perSecond = 4_000
const maxPercent = 10
// Each phone registers from its own address, which the platform has never seen.
const newPhones = 5
const slowestNewPhoneMs = 32_000

export async function measureScanner({ seconds = 15 } = {}): Promise<Figure[]> {
  const hooks = await startHookServer(answerAndPause(60))
  const platform = await startPlatform({
    core: platformCore,
    env: { SWITCHHOOK_LOG_LEVEL: 'warn', SWITCHHOOK_RTP_PORTS: '40000-40999' },
  })
  try {
    const application = { url: (path: string) => `${hooks.origin}${path}` }
    const tenant = await provision(platform.api, { application })
    const calls = Math.ceil(callsPerSecond * (6 * seconds + slowestNewPhoneMs / 1_000))
    const good = await startSipp(callsOf(platform, tenant, calls))
    const path = `/Accounts/${tenant.account_sid}/CallCount`
    await until(
      'the calls to be up',
      async () => (await platform.api.must<{ inbound: number }>('GET', path)).inbound >= liveCalls,
      { everyMs: 200 },
    )
    // The first scan compiles the code that a scan runs.
    await scan(platform, tenant, { seconds: 5, addresses: 8 })
    const alone = await cpuPercent(platform, () => delay(seconds * 1_000))
    const few = await beside(platform, tenant, { seconds, addresses: 8 })
    const many = await beside(platform, tenant, { seconds, addresses: 2_000 })
    // This runs right after the scan before, which has spent the burst of all strangers together. One address fewer,
    // so that the new phones have other addresses.
    const later = await beside(platform, tenant, { seconds, addresses: 1_999 })
    const memoryMb = residentMb(platform.pid)
    const result = await good.finished
    return [
      ...figuresOf('8 addresses', few, alone.percent),
      ...figuresOf('2,000 addresses, as forged ones would be', many, alone.percent),
      ...figuresOf('2,000 addresses, once their burst is spent', later, alone.percent),
      ...figuresOfCalls(calls, result),
      { what: 'resident memory after all', target: '-', figure: `${memoryMb.toFixed(0)} MB` },
    ]
  } finally {
    await platform.remove()
    hooks.close()
  }
}

function callsOf(platform: Platform, tenant: Tenant, calls: number): Parameters<typeof startSipp>[0] {
  const { realm, username, password, target } = tenant
  return {
    scenario: 'call-bye',
    target: platform.sip,
    username,
    password,
    calls,
    callsPerSecond,
    timeoutSeconds: calls / callsPerSecond + 60,
    keepMessages: false,
    core: loadCore,
    values: { realm, username, target, talkMs: (liveCalls / callsPerSecond + 1) * 1_000, byeHeader: '' },
  }
}

interface Beside extends ScannerResult {
  /** Packets that were dropped because the receive buffer was full. */
  readonly lost: number
  readonly percent: number
  readonly slowestPhoneMs: number
  readonly registered: number
}

async function cpuPercent<T>(
  platform: Platform,
  work: () => Promise<T>,
): Promise<{ percent: number; value: T }> {
  const [at, used] = [performance.now(), mainThreadCpuMs(platform.pid)]
  const value = await work()
  return { percent: ((mainThreadCpuMs(platform.pid) - used) * 100) / (performance.now() - at), value }
}

async function scan(
  platform: Platform,
  { realm }: Tenant,
  { seconds, addresses }: Pick<ScannerOptions, 'seconds' | 'addresses'>,
): Promise<ScannerResult> {
  const options: ScannerOptions = { port: platform.sip.port, realm, perSecond, seconds, addresses }
  const script = join(import.meta.dirname, 'scanner-load.ts')
  const args = ['-c', String(loadCore), process.execPath, script, JSON.stringify(options)]
  const child = new ToolProcess({ command: 'taskset', args })
  const { code } = await child.exited
  if (code !== 0) throw new Error(`the scanner ended with ${code}: ${child.stderr}`)
  return JSON.parse(child.stdout) as ScannerResult
}

async function beside(
  platform: Platform,
  tenant: Tenant,
  load: Pick<ScannerOptions, 'seconds' | 'addresses'>,
): Promise<Beside> {
  const lostBefore = lostDatagrams(platform.sip.port)
  const scanning = cpuPercent(platform, () => scan(platform, tenant, load))
  const phones = await Promise.all(
    Array.from({ length: newPhones }, (_, index) =>
      registerNew(platform, tenant, `127.2.${load.addresses & 255}.${index + 1}`),
    ),
  )
  const { percent, value } = await scanning
  const arrived = phones.filter((ms) => ms !== undefined)
  const lost = lostDatagrams(platform.sip.port) - lostBefore
  return { ...value, lost, percent, registered: arrived.length, slowestPhoneMs: Math.max(0, ...arrived) }
}

/** Returns the time that an unknown phone takes to register, or undefined if it fails in three attempts. */
async function registerNew(platform: Platform, tenant: Tenant, source: string): Promise<number | undefined> {
  const begunAt = performance.now()
  for (let attempt = 1; attempt <= 3; attempt += 1)
    if (await registers(platform, tenant, source)) return performance.now() - begunAt
  return undefined
}

async function registers(
  platform: Platform,
  { realm, username, password }: Tenant,
  source: string,
): Promise<boolean> {
  const sipp = await startSipp({
    scenario: 'register',
    target: platform.sip,
    source,
    username,
    password,
    core: loadCore,
    timeoutSeconds: 2 * Math.ceil(slowestNewPhoneMs / 1_000),
    values: { realm, username, expires: 60, status: 200 },
  })
  return (await sipp.finished).code === 0
}

function figuresOf(from: string, beside: Beside, alone: number): Figure[] {
  const { sent, answered, lost, seconds, percent, registered, slowestPhoneMs } = beside
  const rate = sent / seconds
  // Packets that the kernel dropped while the process had no core cost nothing, and must not make the rest look cheap.
  const microseconds = ((percent - alone) * 10_000 * seconds) / (sent - lost)
  const atRate = (microseconds * perSecond) / 10_000
  const shares = `${share(answered, sent)} answered, ${share(lost, sent)} lost in the kernel`
  return [
    {
      what: `a scanner from ${from}: main-thread CPU at ${perSecond} packets/s`,
      target: `at most ${maxPercent} % of a core`,
      figure: `${atRate.toFixed(1)} % (${microseconds.toFixed(0)} us a packet, ${rate.toFixed(0)}/s sent, ${shares}; the calls alone ${alone.toFixed(1)} %)`,
      isMet: atRate <= maxPercent,
    },
    {
      what: `phones never seen before that register beside it`,
      target: `${newPhones}`,
      figure: `${registered}, the slowest in ${(slowestPhoneMs / 1_000).toFixed(1)} s`,
      isMet: registered === newPhones,
    },
  ]
}

function share(part: number, whole: number): string {
  return `${((part * 100) / whole).toFixed(0)} %`
}

function figuresOfCalls(calls: number, { successful, retransmissions, report }: SippResult): Figure[] {
  const reasons = new Set([...report.matchAll(/^X-Reason: (.*?)\r?$/gm)].map(([, reason]) => `; "${reason}"`))
  const why = [...reasons].join('')
  return [
    {
      what: 'calls of a phone beside all that failed or were refused',
      target: '0',
      figure: `${calls - successful} of ${calls}, ${retransmissions} retransmissions${why}`,
      isMet: successful === calls,
    },
  ]
}
