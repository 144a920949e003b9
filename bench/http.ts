// The CPU of an authenticated read, compared with a bare node:http server that returns the same bytes on the same core.
import { join } from 'node:path'
import { startApplication } from '../test/support/application.ts'
import { adminApiKey, provision, startPlatform, unlimited } from '../test/support/platform-process.ts'
import { freePorts } from '../test/support/ports.ts'
import { ToolProcess } from '../test/support/processes.ts'
import { median, type Figure } from './figure.ts'
import { mainThreadCpuMs, processCpuMs } from './proc.ts'

interface Round {
  readonly perSecond: number
  readonly mainCpuMs: number
  readonly processCpuMs: number
  readonly refused: number
}

const serverCore = 0
const loadCore = 1
const rounds = 3

export async function measureHttp({ seconds = 4 } = {}): Promise<Figure[]> {
  const application = await startApplication()
  const platform = await startPlatform({
    core: serverCore,
    env: { SWITCHHOOK_LOG_LEVEL: 'warn', ...unlimited },
  })
  let bare: ToolProcess | undefined
  try {
    const { account_sid } = await provision(platform.api, { application })
    const path = `/v1/Accounts/${account_sid}`
    const sample = await platform.api.call('GET', `/Accounts/${account_sid}`)
    const headers = Object.fromEntries(
      [...sample.headers].filter(([name]) => !['connection', 'date', 'keep-alive'].includes(name)),
    )
    const port = await freePorts(1)
    bare = pinned('http-bare.ts', [JSON.stringify({ port, headers, body: sample.text })], serverCore)
    await bare.lines.next('the bare server', (line) => line === 'ready')

    // Each gets a warm-up; then they alternate, so that a busy moment of the machine affects both.
    await load(platform.pid, platform.httpPort, path, 2)
    await load(bare.pid, port, path, 2)
    const ours: Round[] = []
    const theirs: Round[] = []
    for (let round = 0; round < rounds; round += 1) {
      ours.push(await load(platform.pid, platform.httpPort, path, seconds))
      theirs.push(await load(bare.pid, port, path, seconds))
    }
    return figures(ours, theirs)
  } finally {
    await bare?.stop()
    await platform.remove()
    await application.close()
  }
}

function figures(ours: readonly Round[], theirs: readonly Round[]): Figure[] {
  const cpuMs = median(ours.map((round) => round.mainCpuMs))
  const allCpuMs = median(ours.map((round) => round.processCpuMs))
  const ratio = median(ours.map((round, index) => round.perSecond / (theirs[index]?.perSecond ?? NaN)))
  const refused = ours.reduce((sum, round) => sum + round.refused, 0)
  return [
    {
      what: 'GET /Accounts/{sid}, main-thread CPU',
      target: 'at most 0.07 ms',
      figure: `${cpuMs.toFixed(3)} ms (${allCpuMs.toFixed(3)} ms all threads)`,
      isMet: cpuMs <= 0.07,
    },
    {
      what: 'GET /Accounts/{sid}, against bare node:http',
      target: 'at least 0.40',
      figure: `${ratio.toFixed(2)} (${median(ours.map((round) => round.perSecond)).toFixed(0)} of ${median(theirs.map((round) => round.perSecond)).toFixed(0)} requests/s)`,
      isMet: ratio >= 0.4,
    },
    {
      what: 'GET /Accounts/{sid}, answers other than 200',
      target: '0',
      figure: String(refused),
      isMet: refused === 0,
    },
  ]
}

/** Sends GETs over eight connections, as many as the core can serve. */
export async function load(pid: number, port: number, path: string, seconds: number): Promise<Round> {
  const before = { main: mainThreadCpuMs(pid), all: processCpuMs(pid) }
  const generator = pinned(
    'http-load.ts',
    [String(port), path, adminApiKey, String(seconds), '8', '4'],
    loadCore,
  )
  const { code } = await generator.exited
  const after = { main: mainThreadCpuMs(pid), all: processCpuMs(pid) }
  if (code !== 0) throw new Error(`the load generator ended with ${code}: ${generator.output}`)
  const { completed, refused, elapsedMs } = JSON.parse(generator.stdout) as {
    completed: number
    refused: number
    elapsedMs: number
  }
  return {
    perSecond: completed / (elapsedMs / 1000),
    mainCpuMs: (after.main - before.main) / completed,
    processCpuMs: (after.all - before.all) / completed,
    refused,
  }
}

function pinned(script: string, args: readonly string[], core: number): ToolProcess {
  const command = [String(core), process.execPath, join(import.meta.dirname, script), ...args]
  return new ToolProcess({ command: 'taskset', args: ['-c', ...command] })
}
