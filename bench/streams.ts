// 200 calls whose audio goes to an audio server and back, beside 200 that play a file: how evenly all of them are
// heard, and the additional cost of a stream over a call that plays.
import http from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'
import { WebSocketServer } from 'ws'
import { tone, toWav } from '../test/support/audio.ts'
import {
  provision,
  startPlatform,
  unlimited,
  type Platform,
  type Tenant,
} from '../test/support/platform-process.ts'
import { startRecorder, type Pacing, type Recorder } from '../test/support/rtp-recorder.ts'
import type { DialogListener, Sip } from '../src/sip/sip.ts'
import type { Figure } from './figure.ts'
import { processCpuMs, threadsMs } from './proc.ts'
import { createCallerStack } from '../test/support/caller-stack.ts'

const each = 200
const settleMs = 4000
const workers = 2

interface AudioServer {
  readonly origin: string
  /** Binary frames that arrived. */
  readonly frames: number
  close(): void
}

/** Answers calls to `/play` with a long tone and calls to `/listen` with a stream; sends back all received audio. */
async function startServer(seconds: number): Promise<AudioServer> {
  const wav = toWav(tone(440, seconds * 1000))
  let frames = 0
  const server = http.createServer((request, response) => {
    request.resume()
    request.on('end', () => {
      if (request.url === '/tone.wav')
        return response.writeHead(200, { 'content-type': 'audio/wav' }).end(wav)
      const verbs =
        request.url === '/listen' ? [listen(origin)] : [{ verb: 'play', url: `${origin}/tone.wav` }]
      return response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(verbs))
    })
  })
  new WebSocketServer({ server, handleProtocols: () => 'audio.drachtio.org' }).on('connection', (socket) => {
    socket.on('message', (frame: Buffer, isBinary) => {
      if (!isBinary) return
      frames += 1
      socket.send(frame)
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  return {
    origin,
    get frames() {
      return frames
    },
    close() {
      server.closeAllConnections()
      server.close()
    },
  }
}

const listen = (origin: string): object => ({
  verb: 'listen',
  url: `${origin.replace('http', 'ws')}/audio`,
  bidirectionalAudio: { enabled: true, streaming: true, sampleRate: 8000 },
})

/** Returns the platform's RTP port for a call. A late worker refuses sessions, which is not measured here. */
async function call(sip: Sip, platform: Platform, tenant: Tenant, port: number): Promise<number> {
  for (let attempt = 0; attempt < 100; attempt += 1) {
    const result = await invite(sip, platform, tenant, port).outcome
    if (result.kind === 'answered') {
      result.dialog.listen(quiet)
      return Number(/^m=audio (\d+)/m.exec(Buffer.from(result.response.body).toString())?.[1])
    }

    await delay(200)
  }
  throw new Error('the calls do not come up')
}

const quiet: DialogListener = {
  ended: () => undefined,
  confirmed: () => undefined,
  failed: () => undefined,
  offered: () => Promise.resolve({ status: 488 }),
  requested: () => Promise.resolve({ status: 200 }),
}

function invite(sip: Sip, platform: Platform, { realm, username, password, target }: Tenant, port: number) {
  return sip.invite({
    uri: `sip:${target}`,
    from: `sip:${username}@${realm}`,
    to: `sip:${target}`,
    destination: { transport: 'udp', ...platform.sip },
    credentials: { username, password },
    body: {
      type: 'application/sdp',
      content: `v=0\r\no=- 1 1 IN IP4 127.0.0.1\r\ns=-\r\nc=IN IP4 127.0.0.1\r\nt=0 0\r\nm=audio ${port} RTP/AVP 0 101\r\na=rtpmap:101 telephone-event/8000\r\n`,
    },
  })
}

interface Run {
  readonly playing: Pacing
  readonly others: Pacing
  /** CPU of all threads of the platform, per call and second. */
  readonly cpuMs: number
  /** Frames that the audio server received in that time, over all streams. */
  readonly frames: number
  /** The time in each second that a media worker was ready to run without a processor: no packet is sent meanwhile. */
  readonly waitedMs: number
}

/** Runs 200 calls that play, and 200 of the given kind. */
async function run(kind: '/play' | '/listen', seconds: number): Promise<Run> {
  const server = await startServer(seconds + 120)
  // The target is for both cores, which the phones and the audio server share.
  const platform = await startPlatform({
    env: {
      SWITCHHOOK_LOG_LEVEL: 'warn',
      SWITCHHOOK_RTP_PORTS: '40000-41999',
      SWITCHHOOK_MEDIA_WORKERS: String(workers),
      SWITCHHOOK_ACCOUNT_SHARE: '100',
      ...unlimited,
    },
  })
  const sip = createCallerStack('bench')
  const recorders: Recorder[] = []
  try {
    await sip.start()
    for (const path of ['/play', kind]) {
      const tenant = await provision(platform.api, {
        application: { url: () => server.origin + path } as never,
      })
      const recorder = await startRecorder(each)
      recorders.push(recorder)
      const to: number[] = []
      for (const port of recorder.ports) to.push(await call(sip, platform, tenant, port))
      await recorder.talk(to)
    }
    await delay(settleMs)
    await Promise.all(recorders.map((recorder) => recorder.reset()))
    const waited = (): number => threadsMs(platform.pid, 'media-').waited / workers
    const [cpu, frames, waitedBefore] = [processCpuMs(platform.pid), server.frames, waited()]
    await delay(seconds * 1000)
    const cpuMs = (processCpuMs(platform.pid) - cpu) / seconds / (2 * each)
    const came = server.frames - frames
    const waitedMs = (waited() - waitedBefore) / seconds
    const [playing, others] = await Promise.all(recorders.map((recorder) => recorder.report()))
    if (playing === undefined || others === undefined) throw new Error('no phone was there to listen')
    return { playing, others, cpuMs, frames: came, waitedMs }
  } finally {
    for (const recorder of recorders) await recorder.close()
    await sip.stop()
    await platform.remove()
    server.close()
  }
}

export async function measureStreams(seconds = 20): Promise<Figure[]> {
  const alone = await run('/play', seconds)
  const beside = await run('/listen', seconds)
  const streamMs = 2 * (beside.cpuMs - alone.cpuMs)
  const due = each * 50 * seconds
  return [
    pacing(`${2 * each} calls that play, ${seconds} s`, alone.playing, '-'),
    pacing(`${each} calls that play beside ${each} streams`, beside.playing, '20 +/- 5 ms'),
    pacing(`${each} streams, what the audio server says`, beside.others, '20 +/- 5 ms'),
    {
      what: `${each} streams, frames that the audio server got`,
      target: '-',
      figure: `${beside.frames} of ${due}`,
    },
    {
      what: 'a media worker was ready and had no processor, in every second: with streams, without',
      target: '-',
      figure: `${beside.waitedMs.toFixed(0)} ms, ${alone.waitedMs.toFixed(0)} ms`,
    },
    {
      what: 'a call that plays: CPU of all threads in a second',
      target: '-',
      figure: `${alone.cpuMs.toFixed(2)} ms`,
    },
    {
      what: 'a stream in both directions: CPU more than that',
      target: 'at most 2 ms',
      figure: `${streamMs.toFixed(2)} ms`,
      isMet: streamMs <= 2,
    },
  ]
}

function pacing(what: string, { p1Ms, p50Ms, p99Ms, maxMs, lost, packets }: Pacing, target: string): Figure {
  const figure = `p99 ${p99Ms.toFixed(1)} ms (p1 ${p1Ms.toFixed(1)}, p50 ${p50Ms.toFixed(1)}, max ${maxMs.toFixed(1)}); ${lost} of ${packets} lost`
  return {
    what: `${what}: packet spacing`,
    target,
    figure,
    ...(target === '-' ? {} : { isMet: p99Ms <= 25 && p1Ms >= 15 }),
  }
}
