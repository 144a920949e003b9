// A main thread that gets more calls than it can take: how many it refuses, and how many BYEs of answered calls are
// repeated because they wait.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, readFile, readdir, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { provision, type Platform, type Tenant } from '../test/support/platform-process.ts'
import { freePorts } from '../test/support/ports.ts'
import { placeCalls } from './calls.ts'
import { loadCore } from './cores.ts'
import type { Figure } from './figure.ts'
import { startHookServer } from './hook-server.ts'
import { startLoadedPlatform } from './loaded-platform.ts'

const seconds = 15
const talkMs = 100
const scenario = join(import.meta.dirname, '../test/support/scenarios/call-bye.xml')

export async function measureOverload({ rates = [60, 100, 160] } = {}): Promise<Figure[]> {
  const hooks = await startHookServer()
  const platform = await startLoadedPlatform()
  try {
    const application = { url: (path: string) => `${hooks.origin}${path}` }
    const tenant = await provision(platform.api, { application, isBusy: true })
    await placeCalls(platform, tenant, { calls: 600, callsPerSecond: 60, talkMs })
    const figures: Figure[] = []
    for (const rate of rates) figures.push(await overloadedBy(rate, platform, tenant))
    return figures
  } finally {
    await platform.remove()
    hooks.close()
  }
}

async function overloadedBy(rate: number, platform: Platform, tenant: Tenant): Promise<Figure> {
  const folder = await mkdtemp(join(tmpdir(), 'switchhook-overload-'))
  try {
    await writeFile(join(folder, 'scenario.xml'), await filledScenario(tenant))
    const calls = rate * seconds
    const before = await mainThread(platform.pid)
    const ended = runSipp({ calls, rate, folder, platform, tenant })
    await delay(seconds * 1000)
    const after = await mainThread(platform.pid)
    await ended
    const { answered, repeated } = await countsIn(folder)
    const percent = (ms: number): string => `${(ms / (seconds * 10)).toFixed(0)} %`
    return {
      what: `${rate} calls/s for ${seconds} s: answered; repetitions of their BYEs`,
      target: 'none',
      figure: `${answered} of ${calls}; ${repeated} (the main thread ran ${percent(after.ran - before.ran)} of the time, and waited for the processor ${percent(after.waited - before.waited)})`,
      isMet: repeated === 0,
    }
  } finally {
    await rm(folder, { recursive: true })
  }
}

async function filledScenario({ realm, username, target }: Tenant): Promise<string> {
  const values = { realm, username, target, talkMs, byeHeader: '' }
  let text = await readFile(scenario, 'utf8')
  for (const [name, value] of Object.entries(values)) text = text.replaceAll(`{{${name}}}`, String(value))
  return text
}

interface SippRun {
  readonly calls: number
  readonly rate: number
  readonly folder: string
  readonly platform: Platform
  readonly tenant: Tenant
}

async function runSipp({ calls, rate, folder, platform, tenant }: SippRun): Promise<void> {
  const { address, port } = platform.sip
  const own = String(await freePorts(1))
  const load = ['-m', String(calls), '-r', String(rate), '-l', '20000', '-timeout', String(4 * seconds)]
  const user = ['-au', tenant.username, '-ap', tenant.password]
  const sipp = ['sipp', `${address}:${port}`, '-sf', 'scenario.xml', '-i', '127.0.0.1', '-p', own, '-nostdin']
  const counts = ['-trace_counts', '-fd', '1']
  const child = spawn('taskset', ['-c', String(loadCore), ...sipp, ...user, ...load, ...counts], {
    cwd: folder,
    stdio: 'ignore',
  })
  await once(child, 'exit')
}

/** Returns the counts of the messages at their places in the scenario, as sipp wrote them last. */
async function countsIn(folder: string): Promise<{ readonly answered: number; readonly repeated: number }> {
  const name = (await readdir(folder)).find((file) => file.includes('counts'))
  if (name === undefined) throw new Error('sipp has counted nothing')
  const lines = (await readFile(join(folder, name), 'utf8')).trim().split('\n')
  const names = lines[0]?.split(';') ?? []
  const last = lines.at(-1)?.split(';') ?? []
  const sum = (end: string): number =>
    names.reduce((total, column, index) => total + (column.endsWith(end) ? Number(last[index]) : 0), 0)
  return { answered: sum('_BYE_Sent'), repeated: sum('_BYE_Retrans') }
}

/** Returns how long the main thread ran, and how long it was ready without a processor, in ms. */
async function mainThread(pid: number): Promise<{ readonly ran: number; readonly waited: number }> {
  const [ran, waited] = (await readFile(`/proc/${pid}/task/${pid}/schedstat`, 'utf8')).split(' ')
  return { ran: Number(ran) / 1e6, waited: Number(waited) / 1e6 }
}
