// The main-thread cost of a queue of a thousand callers: joining, being taken and leaving, with their hooks and events.
import { loadCore } from './cores.ts'
import http from 'node:http'
import type { AddressInfo } from 'node:net'
import { provision, type Platform } from '../test/support/platform-process.ts'
import { startSipp } from '../test/support/sipp.ts'
import { until } from '../test/support/wait.ts'
import type { Figure } from './figure.ts'
import { startLoadedPlatform } from './loaded-platform.ts'
import { mainThreadCpuMs } from './proc.ts'

const maxCallers = 1000
const agents = 200
const spare = 50
const callsPerSecond = 40
const talkSeconds = 1200
const maxSetUpMs = 400_000
const maxMs = 2
const atOnce = 8

/** The answers of the hooks. All paths except `/pause` are those of a queue. */
const answers: Readonly<Record<string, readonly object[]>> = {
  '/call': [{ verb: 'answer' }, { verb: 'pause', length: talkSeconds }],
  '/pause': [{ verb: 'pause', length: talkSeconds }],
  '/enqueue': [
    { verb: 'enqueue', name: 'bench', waitHook: '/wait' },
    { verb: 'pause', length: talkSeconds },
  ],
  '/dequeue': [
    { verb: 'dequeue', name: 'bench', actionHook: '/taken' },
    { verb: 'pause', length: talkSeconds },
  ],
}

interface QueueEventBody {
  readonly event: 'join' | 'leave'
  readonly call_sid: string
}

interface Application {
  readonly origin: string
  /** The number of requests for each path. */
  readonly counts: Map<string, number>
  /** The calls that have left a queue, by call_sid. */
  readonly left: Set<string>
  close(): void
}

async function startApplication(): Promise<Application> {
  const counts = new Map<string, number>()
  const left = new Set<string>()
  const server = http.createServer((request, response) => {
    const path = request.url ?? ''
    counts.set(path, (counts.get(path) ?? 0) + 1)
    let body = ''
    request.on('data', (part: Buffer) => (body += part.toString()))
    request.on('end', () => {
      if (path === '/event') note(JSON.parse(body) as QueueEventBody)
      const json = { 'content-type': 'application/json' }
      response.writeHead(200, json).end(JSON.stringify(answers[path] ?? []))
    })
  })
  const note = ({ event, call_sid }: QueueEventBody): void => {
    if (event === 'leave') left.add(call_sid)
  }
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  return {
    origin: `http://127.0.0.1:${port}`,
    counts,
    left,
    close() {
      server.closeAllConnections()
      server.close()
    },
  }
}

interface Step {
  readonly sids: readonly string[]
  /** The path to which the calls are sent. */
  readonly path: string
  /** Reports whether all effects of the step have happened. */
  readonly isDone: () => boolean
}

/** Returns the main thread's time to send one call elsewhere, with all effects, without that for holding the calls. */
async function costOf({ pid, api }: Platform, url: (path: string) => string, step: Step): Promise<number> {
  const idle = await idleMsPerSecond(pid)
  const [at, used] = [performance.now(), mainThreadCpuMs(pid)]
  const left = [...step.sids]
  const send = async (): Promise<void> => {
    for (let sid = left.pop(); sid !== undefined; sid = left.pop())
      await api.must('PUT', `${url('')}/${sid}`, { call_hook: { url: url(step.path) } })
  }
  await Promise.all(Array.from({ length: atOnce }, send))
  await until(`all to be at ${step.path}`, step.isDone, { everyMs: 50, timeoutMs: 60_000 })
  const ms = performance.now() - at
  return (mainThreadCpuMs(pid) - used - (idle * ms) / 1000) / step.sids.length
}

async function idleMsPerSecond(pid: number): Promise<number> {
  const [at, used] = [performance.now(), mainThreadCpuMs(pid)]
  await new Promise((resolve) => setTimeout(resolve, 3000))
  return ((mainThreadCpuMs(pid) - used) * 1000) / (performance.now() - at)
}

export async function measureQueue(): Promise<Figure[]> {
  const application = await startApplication()
  // Only the main thread is measured. Audio to the callers is sent on the other core, and the callers send none: the
  // audio of a thousand calls in both directions would take more than a core, and delay the main thread.
  const platform = await startLoadedPlatform({
    firstRtpPort: 44_000,
    lastRtpPort: 47_999,
    isPinned: false,
    env: { SWITCHHOOK_MEDIA_TIMEOUT_SECONDS: '0' },
  })
  try {
    const { origin, counts, left } = application
    const tenant = await provision(platform.api, { application: { url: (path) => `${origin}${path}` } })
    const { account_sid, realm, username, password, target } = tenant
    await platform.api.must('PUT', `/Accounts/${account_sid}`, {
      queue_event_hook: { url: `${origin}/event`, method: 'POST' },
    })
    const all = maxCallers + agents + spare
    const sipp = await startSipp({
      scenario: 'call-bye',
      target: platform.sip,
      username,
      password,
      calls: all,
      callsPerSecond,
      timeoutSeconds: talkSeconds,
      keepMessages: false,
      core: loadCore,
      echoes: false,
      values: { realm, username, target, talkMs: talkSeconds * 1000, byeHeader: '' },
    })
    try {
      const path = `/Accounts/${account_sid}/Calls`
      // A machine that is too slow for the audio of all calls refuses some; the calls that are up are measured.
      const areUp = async (): Promise<string[] | undefined> => {
        const calls = await platform.api.must<{ call_sid: string; call_status: string }[]>('GET', path)
        const { total } = await platform.api.must<{ total: number }>(
          'GET',
          `/Accounts/${account_sid}/RecentCalls?page=1&count=25`,
        )
        const isSettled = calls.length + total >= all
        return isSettled && calls.every(({ call_status }) => call_status === 'in-progress')
          ? calls.map(({ call_sid }) => call_sid)
          : undefined
      }
      const sids = await until('the calls to be up', areUp, { everyMs: 500, timeoutMs: maxSetUpMs })
      const url = (to: string): string => (to === '' ? path : `${origin}${to}`)
      const count = (of: string): number => counts.get(of) ?? 0
      const callers = Math.min(maxCallers, sids.length - agents)
      if (callers < agents) throw new Error(`only ${sids.length} of ${all} calls came up`)
      const [waiting, taking] = [sids.slice(0, callers), sids.slice(callers, callers + agents)]
      const run = (of: readonly string[], to: string, isDone: () => boolean): Promise<number> =>
        costOf(platform, url, { sids: of, path: to, isDone })
      const bare = await run(waiting, '/pause', () => count('/pause') >= callers)
      const joined = await run(
        waiting,
        '/enqueue',
        () => count('/wait') >= callers && count('/event') >= callers,
      )
      const taken = await run(
        taking,
        '/dequeue',
        () => count('/dequeue') >= agents && count('/event') >= callers + agents,
      )
      const rest = callers - agents
      const length = await lengthOf(platform, account_sid)
      if (length !== rest) throw new Error(`${length} wait, ${rest} should`)
      const still = waiting.filter((sid) => !left.has(sid))
      const gone = await run(
        still,
        '/pause',
        () => count('/pause') >= callers + rest && count('/event') >= callers + agents + rest,
      )
      const toFigure = (what: string, ms: number): Figure => ({
        what: `${what}, main-thread CPU`,
        target: `under ${maxMs} ms`,
        figure: `${Math.max(0, ms - bare).toFixed(2)} ms (${ms.toFixed(2)} ms with the command that asks for it, ${bare.toFixed(2)} ms without a queue)`,
        isMet: ms - bare < maxMs,
      })
      return [
        toFigure(`joining a queue of up to ${callers}, with its waitHook and its event`, joined),
        toFigure(`hand-over to an agent while ${rest} to ${callers} wait, with its event`, taken),
        toFigure(`leaving a queue of up to ${rest}, with its event`, gone),
      ]
    } finally {
      await sipp.stop()
    }
  } finally {
    await platform.remove()
    application.close()
  }
}

async function lengthOf({ api }: Platform, account_sid: string): Promise<number> {
  const queues = await api.must<{ length: string }[]>('GET', `/Accounts/${account_sid}/Queues`)
  return Number(queues[0]?.length ?? 0)
}
