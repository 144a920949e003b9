// A media worker that dies or hangs under bridges or a conference: real threads and RTP, scripted signalling.
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Worker } from 'node:worker_threads'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { HoldUps } from '../../test/support/hold-ups.ts'
import { freePorts } from '../../test/support/ports.ts'
import { RtpVoice } from '../../test/support/rtp-voice.ts'
import { until } from '../../test/support/wait.ts'
import { account, phone } from '../../test/support/scripted-engine/scripted-facts.ts'
import {
  createScriptedEngine,
  type ScriptedEngine,
} from '../../test/support/scripted-engine/scripted-engine.ts'
import { settle } from '../../test/support/scripted-engine/turns.ts'
import type { ScriptedDialog } from '../../test/support/scripted-engine/scripted-dialog.ts'
import { sipRequest } from '../../test/support/scripted-engine/scripted-messages.ts'
import { silentLogger } from '../lib/log.ts'
import { createMedia } from '../media/create-media.ts'
import type { Media } from '../media/media.ts'
import { parseVerbs } from '../verbs/index.ts'

/** The longest time for which a party may hear dead air. */
const maxDeadAirMs = 3000
const portsOfWorker = 20

let directory: string
let firstPort: number
let media: Media
let engine: ScriptedEngine
let holdUps: HoldUps
const threads: Worker[] = []
const voices: RtpVoice[] = []

/** A worker like the real one that also runs in an endless loop when the test says so. */
const hanging = (entry: URL): string => `
  const { parentPort } = require('node:worker_threads')
  import(${JSON.stringify(entry.href)}).then(() =>
    parentPort.on('message', (message) => { while (message.at(0)?.request?.kind === 'hang'); }),
  )`

beforeEach(async () => {
  holdUps = new HoldUps()
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
      const entry = new URL('../media/worker/worker.ts', import.meta.url)
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
  holdUps.close()
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
  /** The worker that has its media. */
  readonly worker: number
}

/** Makes a caller ring and talk with Alice. Resolves when both hear each other. */
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
      const all: Talking[] = []
      const on = (worker: number): Talking[] => all.filter((one) => one.worker === worker)
      // A busy machine may make one of the workers lag, and calls go to the other meanwhile.
      await until('calls on both workers', async () => {
        all.push(await talk())
        return on(0).length >= 2 && on(1).length >= 1
      })
      const [lost, kept] = [on(0), on(1)]
      const atMs = performance.now()
      end(threads[0]!)
      const dialogs = lost.flatMap((one) => one.dialogs)
      await until('all its calls to be over', () => dialogs.every(({ sentBye }) => sentBye !== undefined))
      const lastHeardMs = Math.min(...lost.flatMap((one) => one.voices.map(({ heardMs = 0 }) => heardMs)))
      expect(holdUps.ranMs(lastHeardMs)).toBeLessThan(maxDeadAirMs)
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
      for (const voice of kept.flatMap((one) => one.voices)) {
        await until('the others to talk on', () => voice.countFrom(atMs).heard > 50)
        expect(voice.countFrom(atMs)).toMatchObject({ lost: 0, streams: 1 })
      }

      for (const { dialogs: both } of [...kept, again]) both[0].listener.ended(sipRequest('BYE'))
      await until('the records', () => engine.store.records.length >= 2 * (all.length + 1))
      await settle()
      const sids = engine.store.records.map(({ call_sid }) => call_sid)
      expect(new Set(sids).size).toBe(sids.length)
      const ended = engine.store.records.slice(0, 2 * lost.length)
      expect(new Set(ended.map(({ termination_reason }) => termination_reason))).toEqual(
        new Set(['failed: media server failure']),
      )
    },
  )
})

/** A call in the conference. */
interface InRoom {
  readonly voice: RtpVoice
  readonly dialog: ScriptedDialog
  readonly worker: number
}

async function enter(): Promise<InRoom> {
  engine.hooks.on('/call', [{ verb: 'conference', name: 'team' }])
  const voice = await RtpVoice.open()
  voices.push(voice)
  const invite = engine.ring({ body: voice.offer() })
  const sdp = await until('the answer', () => invite.accepted?.body?.content)
  voice.talkTo(String(sdp))
  return { voice, dialog: invite.dialog!, worker: workerAt(voice.port) }
}

describe('a conference over two media workers', () => {
  it.each(ways)(
    'goes on in the other one when its own %s: who is left hears again within three seconds, each leg has one record',
    async (_way, end) => {
      const all: InRoom[] = []
      await until('two on each worker', async () => {
        all.push(await enter())
        return [0, 1].every((worker) => all.filter((one) => one.worker === worker).length >= 2)
      })
      for (const { voice } of all) await until('all to hear others', () => voice.heardMs !== undefined)
      const lost = all.filter(({ worker }) => worker === 0)
      const left = all.filter(({ worker }) => worker === 1)
      const atMs = performance.now()
      end(threads[0]!)
      await until('its calls to be over', () => lost.every(({ dialog }) => dialog.sentBye !== undefined))
      const overMs = performance.now()
      for (const { voice } of left)
        await until('who is left to hear the other one', () => (voice.heardMs ?? 0) > overMs)
      expect(holdUps.ranMs(atMs)).toBeLessThan(maxDeadAirMs)
      for (const { dialog } of lost)
        expect(dialog.sentBye?.find(({ name }) => name === 'x-reason')?.value).toBe('media server failure')
      expect(engine.calls.conferences(account.account_sid)[0]?.participants).toHaveLength(left.length)

      const again = await enter()
      await until('one who comes then to hear them', () => again.voice.heardMs !== undefined)
      for (const { dialog } of [...left, again]) dialog.listener.ended(sipRequest('BYE'))
      const legs = all.length + 1
      await until('the records', () => engine.store.records.length >= legs)
      await settle()
      const sids = engine.store.records.map(({ call_sid }) => call_sid)
      expect([sids.length, new Set(sids).size]).toEqual([legs, legs])
      expect(engine.calls.conferences(account.account_sid)).toEqual([])
    },
  )

  it('lets its members hear each other, and no other account', async () => {
    const [a, b] = [await enter(), await enter()]
    for (const { voice } of [a, b]) await until('both to hear each other', () => voice.heardMs !== undefined)
    engine.account = { ...account, account_sid: 'a0000000-0000-4000-8000-000000000002' }
    if (engine.application !== undefined)
      engine.application = { ...engine.application, account_sid: engine.account.account_sid }
    const stranger = await enter()
    const atMs = performance.now()
    for (const { voice } of [a, b])
      await until('the others to talk on', () => voice.countFrom(atMs).heard > 50)
    await until('the stranger to be sent as much', () => stranger.voice.countFrom(atMs).heard > 50)
    expect(stranger.voice.heardMs).toBeUndefined()
  })
})

describe('a conference in which many come and go', () => {
  it('is whole for those who stay, and leaves no media behind: sixty within some seconds', async () => {
    const stays = [await enter(), await enter()]
    for (const { voice } of stays) await until('both to hear each other', () => voice.heardMs !== undefined)
    const atMs = performance.now()
    let guests: InRoom[] = []
    for (let wave = 0; wave < 10; wave += 1) {
      const next = await Promise.all(Array.from({ length: 6 }, () => enter()))
      for (const { dialog } of guests) dialog.listener.ended(sipRequest('BYE'))
      guests = next
    }
    for (const { voice } of guests) await until('who has come last to hear them', () => voice.heardMs)
    const lastMs = performance.now()
    for (const { voice } of stays) {
      await until('who stays to hear them still', () => (voice.heardMs ?? 0) > lastMs)
      expect(voice.countFrom(atMs)).toMatchObject({ lost: 0, streams: 1 })
    }
    for (const { dialog } of [...stays, ...guests]) dialog.listener.ended(sipRequest('BYE'))
    await until('the records', () => engine.store.records.length === 62)
    await until('all media to be closed', () => media.openSessions === 0)
  })
})
