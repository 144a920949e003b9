// A media worker that dies, or hangs, with bridges on it: real threads and real RTP, under calls whose signalling is scripted.
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Worker } from 'node:worker_threads'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { freePorts } from '../../test/support/ports.ts'
import { RtpVoice } from '../../test/support/rtp-voice.ts'
import { until } from '../../test/support/wait.ts'
import { createScriptedEngine, phone, settle } from '../../test/support/scripted-engine/scripted-engine.ts'
import type { ScriptedEngine } from '../../test/support/scripted-engine/scripted-engine.ts'
import type { ScriptedDialog } from '../../test/support/scripted-engine/scripted-sip.ts'
import { sipRequest } from '../../test/support/scripted-engine/scripted-sip.ts'
import { silentLogger } from '../lib/log.ts'
import { createMedia } from '../media/create-media.ts'
import type { Media } from '../media/media.ts'
import { parseVerbs } from './index.ts'

/** No one hears dead air for longer. */
const maxDeadAirMs = 3000
const portsOfWorker = 20

let directory: string
let firstPort: number
let media: Media
let engine: ScriptedEngine
const threads: Worker[] = []
const voices: RtpVoice[] = []

/** As the worker is, and besides it runs in a circle when the test says so. */
const hanging = (entry: URL): string => `
  const { parentPort } = require('node:worker_threads')
  import(${JSON.stringify(entry.href)}).then(() =>
    parentPort.on('message', (message) => { while (message.at(0)?.request?.kind === 'hang'); }),
  )`

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'lost-worker-'))
  const free = await freePorts(2 * portsOfWorker + 1)
  firstPort = free + (free % 2)
  media = createMedia({
    bind: '127.0.0.1',
    publicAddress: undefined,
    ports: { first: firstPort, last: firstPort + 2 * portsOfWorker - 1 },
    workers: 2,
    limits: { mediaMs: 60_000, heldMs: 60_000 },
    scratchDir: join(directory, 'scratch'),
    log: silentLogger,
    createWorker: (setup) => {
      const entry = new URL('../media/worker.ts', import.meta.url)
      const thread = new Worker(hanging(entry), { eval: true, workerData: setup })
      threads.push(thread)
      return thread
    },
  })
  await media.start()
  engine = createScriptedEngine(parseVerbs, { media })
  const remote = { transport: 'udp', address: '127.0.0.1', port: 5090 } as const
  engine.phones.set('alice@example.com', [{ ...phone, remote }])
  engine.hooks.on('/call', [{ verb: 'dial', target: [{ type: 'user', name: 'alice' }] }])
})

afterEach(async () => {
  await engine.calls.stop()
  await media.stop()
  await Promise.all(voices.splice(0).map((voice) => voice.close()))
  await rm(directory, { recursive: true })
  threads.length = 0
})

const workerAt = (port = 0): number => Math.floor((port - firstPort) / portsOfWorker)

interface Talking {
  readonly voices: readonly [RtpVoice, RtpVoice]
  readonly dialogs: readonly [ScriptedDialog, ScriptedDialog]
  /** The worker that its media are in. */
  readonly worker: number
}

/** Rings, is connected with Alice, and both hear each other. */
async function talk(): Promise<Talking> {
  const [a, b] = [await RtpVoice.open(), await RtpVoice.open()]
  voices.push(a, b)
  const before = engine.sent.length
  const caller = engine.ring({ body: a.offer() })
  const called = await until('the INVITE to Alice', () => engine.sent[before])
  b.talkTo(String(called.options.body?.content))
  called.answer(b.offer())
  const sdp = await until('the answer', () => caller.accepted?.body?.content)
  a.talkTo(String(sdp))
  await until('both to hear each other', () => a.heardMs !== undefined && b.heardMs !== undefined)
  const worker = workerAt(a.port)
  expect(workerAt(b.port)).toBe(worker)
  return { voices: [a, b], dialogs: [caller.dialog!, called.dialog], worker }
}

const ways: readonly [string, (thread: Worker) => unknown][] = [
  ['dies', (thread) => thread.terminate()],
  ['hangs', (thread) => thread.postMessage([{ id: -1, request: { kind: 'hang' } }])],
]

describe('a media worker with bridges on it', () => {
  it.each(ways)(
    'that %s: its calls end within three seconds with one record a leg, others go on undisturbed, and new calls are taken',
    async (_way, end) => {
      const lost = [await talk()]
      const kept = await talk()
      lost.push(await talk())
      expect([lost[0]!.worker, kept.worker, lost[1]!.worker]).toEqual([0, 1, 0])
      const atMs = performance.now()
      end(threads[0]!)
      const dialogs = lost.flatMap((one) => one.dialogs)
      await until('all its calls to be over', () => dialogs.every(({ sentBye }) => sentBye !== undefined))
      const lastHeardMs = Math.min(...lost.flatMap((one) => one.voices.map(({ heardMs = 0 }) => heardMs)))
      expect(performance.now() - lastHeardMs).toBeLessThan(maxDeadAirMs)
      expect(dialogs.map(({ sentBye }) => sentBye?.find(({ name }) => name === 'x-reason')?.value)).toContain(
        'media server failure',
      )

      await until('a new worker', async () => {
        const session = await media.open()
        await session.close()
        return workerAt(session.port) === 0
      })
      const again = await talk()
      expect([again.worker, threads.length]).toEqual([0, 3])
      for (const voice of kept.voices) {
        await until('the others to talk on', () => voice.countFrom(atMs).heard > 50)
        expect(voice.countFrom(atMs)).toMatchObject({ lost: 0, streams: 1 })
      }

      for (const { dialogs: both } of [kept, again]) both[0].listener.ended(sipRequest('BYE'))
      await until('the records', () => engine.store.records.length >= 2 * (lost.length + 2))
      await settle()
      const sids = engine.store.records.map(({ call_sid }) => call_sid)
      expect(new Set(sids).size).toBe(sids.length)
      const reasons = engine.store.records.slice(0, 4).map(({ termination_reason }) => termination_reason)
      expect(reasons).toEqual(Array<string>(4).fill('failed: media server failure'))
    },
  )
})
