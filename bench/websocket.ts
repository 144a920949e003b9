// Applications over WebSocket: the time from a command to its effect, with 200 sessions, and the cost of asking the
// application compared with HTTP.
import http from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'
import { WebSocketServer, type WebSocket } from 'ws'
import {
  provision,
  startPlatform,
  unlimited,
  type Platform,
  type Tenant,
} from '../test/support/platform-process.ts'
import type { DialogListener, Sip } from '../src/sip/sip.ts'
import { platformCore } from './cores.ts'
import type { Figure } from './figure.ts'
import { mainThreadCpuMs } from './proc.ts'
import { createCallerStack } from '../test/support/caller-stack.ts'

const sessions = 200
const commands = 1000
const targetMs = 40
const costSeconds = 8

interface Application {
  readonly server: http.Server
  readonly sockets: WebSocket[]
  readonly port: number
  /** Runs for each hook that is asked, over either transport. */
  onHook: (hook: string) => void
  asks: number
  /** Whether each answer makes the platform ask again. */
  isEndless: boolean
}

const again = [{ verb: 'redirect', actionHook: '/again' }]
const first = [{ verb: 'answer' }, { verb: 'pause', length: 3600 }]

async function startApplication(): Promise<Application> {
  const server = http.createServer((request, response) => {
    request.resume()
    request.on('end', () => {
      const path = request.url ?? ''
      const verbs = path === '/call' ? first : path === '/again' ? answer(path) : []
      response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(verbs))
    })
  })
  const answer = (hook: string): readonly object[] => {
    application.asks += 1
    application.onHook(hook)
    return application.isEndless ? again : []
  }
  const sockets: WebSocket[] = []
  new WebSocketServer({ server, handleProtocols: () => 'ws.jambonz.org' }).on('connection', (socket) => {
    sockets.push(socket)
    socket.on('message', (text: Buffer) => {
      const { type, msgid, hook } = JSON.parse(text.toString('utf8')) as Record<string, string>
      const ack = (data: readonly object[]): void => socket.send(JSON.stringify({ type: 'ack', msgid, data }))
      if (type === 'session:new') ack(first)
      else if (type === 'verb:hook' || type === 'session:redirect') ack(answer(hook ?? ''))
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  const application: Application = {
    server,
    sockets,
    port,
    onHook: () => undefined,
    asks: 0,
    isEndless: false,
  }
  return application
}

const offer = `v=0\r\no=- 1 1 IN IP4 127.0.0.1\r\ns=-\r\nc=IN IP4 127.0.0.1\r\nt=0 0\r\nm=audio 9000 RTP/AVP 0\r\n`

class Phones {
  onInfo: () => void = () => undefined
  readonly #sip: Sip = createCallerStack('bench')

  start(): Promise<void> {
    return this.#sip.start()
  }

  async call({ sip }: Platform, { realm, username, password, target }: Tenant): Promise<void> {
    const { outcome } = this.#sip.invite({
      uri: `sip:${target}`,
      from: `sip:${username}@${realm}`,
      to: `sip:${target}`,
      destination: { transport: 'udp', ...sip },
      credentials: { username, password },
      body: { type: 'application/sdp', content: offer },
    })
    const result = await outcome
    if (result.kind !== 'answered') throw new Error(`a call was ${result.kind}`)
    const listener: DialogListener = {
      ended: () => undefined,
      confirmed: () => undefined,
      failed: () => undefined,
      offered: () => Promise.resolve({ status: 488 }),
      requested: () => {
        this.onInfo()
        return Promise.resolve({ status: 200 })
      },
    }
    result.dialog.listen(listener)
  }

  stop(): Promise<void> {
    return this.#sip.stop()
  }
}

interface Stage {
  readonly platform: Platform
  readonly application: Application
  readonly phones: Phones
}

export async function measureWebSocket(): Promise<Figure[]> {
  const { information, ...latency } = await onStage('ws', async (stage) => ({
    infos: await latencies(stage, 'info'),
    hooks: await latencies(stage, 'hook'),
    information: await costOfAsk(stage),
  }))
  const overHttp = await onStage('http', costOfAsk)
  const name = `${sessions} sessions, ${commands} commands`
  const speed = (what: string, values: readonly number[]): Figure => {
    const p99 = percentile(values, 0.99)
    const figure = `p50 ${percentile(values, 0.5).toFixed(1)} ms, p99 ${p99.toFixed(1)} ms`
    return { what: `${what}, ${name}`, target: `p99 < ${targetMs} ms`, figure, isMet: p99 < targetMs }
  }
  const cost = (what: string, { ms, perSecond }: Cost): Figure => ({
    what: `${what}: main thread for each question`,
    target: 'for information',
    figure: `${ms.toFixed(2)} ms at ${perSecond.toFixed(0)} a second`,
  })
  return [
    speed('`sip:request` until the phone has the INFO', latency.infos),
    speed('`redirect` until the hook of its verb is asked', latency.hooks),
    cost('over WebSocket', information),
    cost('over HTTP', overHttp),
  ]
}

async function onStage<T>(scheme: 'ws' | 'http', work: (stage: Stage) => Promise<T>): Promise<T> {
  const application = await startApplication()
  const env = {
    SWITCHHOOK_LOG_LEVEL: 'warn',
    SWITCHHOOK_RTP_PORTS: '40000-40999',
    SWITCHHOOK_ACCOUNT_SHARE: '100',
    SWITCHHOOK_MEDIA_TIMEOUT_SECONDS: '0',
    ...unlimited,
  }
  const platform = await startPlatform({ core: platformCore, env })
  const phones = new Phones()
  try {
    const url = (path: string): string => `${scheme}://127.0.0.1:${application.port}${path}`
    const tenant = await provision(platform.api, { application: { url } as never })
    await phones.start()
    for (let count = 0; count < sessions; count++) await phones.call(platform, tenant)
    await delay(1000)
    return await work({ platform, application, phones })
  } finally {
    await phones.stop()
    await platform.remove()
    application.server.closeAllConnections()
    application.server.close()
  }
}

/** Sends one command after another, each when the one before it has had its effect, at most 200 a second. */
async function latencies({ application, phones }: Stage, effect: 'info' | 'hook'): Promise<number[]> {
  const values: number[] = []
  for (let count = 0; count < commands; count++) {
    const { promise, resolve } = Promise.withResolvers<void>()
    const socket = application.sockets[count % application.sockets.length]
    phones.onInfo = resolve
    application.onHook = () => resolve()
    const info = { method: 'INFO', content_type: 'text/plain', content: 'x' }
    const [command, data] = effect === 'info' ? ['sip:request', info] : ['redirect', [...again, ...first]]
    const begun = performance.now()
    socket?.send(JSON.stringify({ type: 'command', command, data }))
    await promise
    values.push(performance.now() - begun)
    await delay(2)
  }
  return values
}

interface Cost {
  readonly ms: number
  readonly perSecond: number
}

/** Measures while each call asks again and again, as fast as the platform allows a loop. */
async function costOfAsk({ platform, application }: Stage): Promise<Cost> {
  application.onHook = () => undefined
  application.isEndless = true
  if (application.sockets.length > 0)
    for (const socket of application.sockets)
      socket.send(JSON.stringify({ type: 'command', command: 'redirect', data: again }))
  else await redirectAll(platform, application)
  // The first questions come all at once.
  await delay(4000)
  const [cpu, asks] = [mainThreadCpuMs(platform.pid), application.asks]
  await delay(costSeconds * 1000)
  const asked = application.asks - asks
  return { ms: (mainThreadCpuMs(platform.pid) - cpu) / asked, perSecond: asked / costSeconds }
}

async function redirectAll({ api }: Platform, { port }: Application): Promise<void> {
  const call_hook = { url: `http://127.0.0.1:${port}/again`, method: 'POST' }
  for (const { account_sid } of await api.must<{ account_sid: string }[]>('GET', '/Accounts')) {
    const calls = await api.must<{ call_sid: string }[]>('GET', `/Accounts/${account_sid}/Calls`)
    for (const { call_sid } of calls)
      await api.must('PUT', `/Accounts/${account_sid}/Calls/${call_sid}`, { call_hook })
  }
}

function percentile(values: readonly number[], share: number): number {
  const sorted = [...values].sort((a, b) => a - b)
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? NaN
}
