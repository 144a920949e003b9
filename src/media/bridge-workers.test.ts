// Sessions that hear each other over real sockets: in one worker, in two, and after one of those died. Phones speak
// in real time, so the tests measure what was said, not when.
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { Worker } from 'node:worker_threads'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { rms, slice, toneShare } from '../../test/support/audio.ts'
import { freePorts } from '../../test/support/ports.ts'
import { RtpPeer } from '../../test/support/rtp-peer.ts'
import { Inbox, until } from '../../test/support/wait.ts'
import { AudioRing, createRing } from '../lib/audio/audio-ring.ts'
import { silentLogger } from '../lib/log.ts'
import { createLaws } from './codecs/g711.ts'
import { createMedia } from './create-media.ts'
import type { Wiring } from './wiring.ts'
import type { Media, MediaEvent, MediaSession } from './media.ts'

const laws = createLaws()
let directory: string
let firstPort: number
let media: Media
let threads: Worker[]
const phones: Phone[] = []

/** A far end that sends a tone, one packet every 20 ms, until it is closed. */
class Phone {
  readonly peer: RtpPeer
  readonly session: MediaSession
  readonly events = new Inbox<MediaEvent>()
  readonly payloadType: 0 | 8
  readonly #closing = new AbortController()

  private constructor(peer: RtpPeer, session: MediaSession, payloadType: 0 | 8) {
    this.peer = peer
    this.session = session
    this.payloadType = payloadType
    session.onEvent((event) => this.events.push(event))
  }

  static async open({
    payloadType = 0 as 0 | 8,
    near = undefined as Phone | undefined,
  } = {}): Promise<Phone> {
    const peer = await RtpPeer.open()
    const session = await media.open(near === undefined ? {} : { near: near.session.id })
    const phone = new Phone(peer, session, payloadType)
    phones.push(phone)
    await session.answer(peer.offer({ payloads: `${payloadType} 101` }))
    return phone
  }

  /** The index of its worker: the workers have parts of the port range, in order. */
  get worker(): number {
    return this.session.port < firstPort + 20 ? 0 : 1
  }

  say(hz: number): void {
    void this.#say(hz)
  }

  hears(...others: readonly Phone[]): Promise<void> {
    const hears = others.map(({ session }) => ({
      id: session.id,
      from: { kind: 'session', id: session.id } as const,
    }))
    return this.session.wire({ hears })
  }

  /** Returns the share of this tone in its last 300 ms. */
  share(hz: number): number {
    const audio = this.peer.audio(this.payloadType === 0 ? 'PCMU' : 'PCMA', this.payloadType)
    const last = slice(audio, audio.samples.length / 8 - 300, audio.samples.length / 8)
    return rms(last) < 0.05 ? 0 : toneShare(last, hz)
  }

  async close(): Promise<void> {
    this.#closing.abort()
    await this.session.close()
    await this.peer.close()
  }

  async #say(hz: number): Promise<void> {
    const { encode } = laws[this.payloadType === 0 ? 'PCMU' : 'PCMA']
    const startMs = performance.now()
    for (let packet = 0; !this.#closing.signal.aborted; packet += 1) {
      const payload = Buffer.from(
        Uint8Array.from({ length: 160 }, (_, at) => {
          const sample = Math.round(8000 * Math.sin((2 * Math.PI * hz * (packet * 160 + at)) / 8000))
          return encode[sample & 0xffff] ?? 0
        }),
      )
      this.peer.send(this.session.port, { payloadType: this.payloadType, payload })
      await setTimeout(Math.max(0, startMs + (packet + 1) * 20 - performance.now()))
    }
  }
}

const inRoom = (rest: Partial<Wiring> = {}): Wiring => ({
  hears: [{ id: 'room', from: { kind: 'room', id: 'meeting' } }],
  speaksIn: { room: 'meeting' },
  ...rest,
})

async function start(workers: number): Promise<void> {
  threads = []
  media = createMedia({
    bind: '127.0.0.1',
    publicAddress: undefined,
    ports: { first: firstPort, last: firstPort + 39 },
    workers,
    limits: { mediaMs: 0, heldMs: 0 },
    scratchDir: join(directory, 'scratch'),
    log: silentLogger,
    createWorker: (setup, name) => {
      const thread = new Worker(new URL('./worker/worker.ts', import.meta.url), { workerData: setup, name })
      threads.push(thread)
      return thread
    },
  })
  await media.start()
}

beforeAll(async () => {
  const free = await freePorts(41)
  firstPort = free + (free % 2)
  directory = await mkdtemp(join(tmpdir(), 'bridge-'))
})

afterAll(async () => {
  await rm(directory, { recursive: true, force: true })
})

afterEach(async () => {
  await Promise.all(phones.splice(0).map((phone) => phone.close()))
  await media.stop()
})

describe('a session that is opened', () => {
  it('is in the worker of the one that it is near, and otherwise where there are the fewest', async () => {
    await start(2)
    const first = await Phone.open()
    const others = [await Phone.open({ near: first }), await Phone.open({ near: first })]
    expect(others.map(({ worker }) => worker)).toEqual([first.worker, first.worker])
    const far = await Phone.open()
    expect(far.worker).not.toBe(first.worker)
    expect((await Phone.open({ near: far })).worker).toBe(far.worker)
  })

  it('is elsewhere when that worker has no port left', async () => {
    await start(2)
    const first = await Phone.open()
    const near = await Promise.all(Array.from({ length: 12 }, () => Phone.open({ near: first })))
    expect(near.filter(({ worker }) => worker === first.worker)).toHaveLength(9)
    expect(near.filter(({ worker }) => worker !== first.worker)).toHaveLength(3)
  })
})

describe.each([1, 2])('two sessions in %i workers', (workers) => {
  it.each([
    [0, 0],
    [0, 8],
  ] as const)(
    'hear each other, with payload types %i and %i, and no longer when that is over',
    async (one, other) => {
      await start(workers)
      const caller = await Phone.open({ payloadType: one })
      const called = await Phone.open({ payloadType: other, ...(workers === 1 ? { near: caller } : {}) })
      expect(new Set([caller.worker, called.worker]).size).toBe(workers)
      caller.say(400)
      called.say(1000)
      await Promise.all([caller.hears(called), called.hears(caller)])
      await until('both to be heard', () => caller.share(1000) > 0.9 && called.share(400) > 0.9)
      await caller.session.wire({ hears: [] })
      await until('silence', () => caller.share(1000) === 0)
      await until('the other to be heard still', () => called.share(400) > 0.9)
    },
  )

  it('are given to another thread in two channels, and hear what it says', async () => {
    await start(workers)
    const [caller, called] = [await Phone.open(), await Phone.open()]
    caller.say(400)
    called.say(1000)
    const [given, said] = [createRing({ samples: 320, frames: 50 }), createRing({ samples: 160 })]
    const far = { id: 'far', from: { kind: 'session', id: called.session.id } } as const
    const thread = { id: 'thread', from: { kind: 'ring', ring: said } } as const
    await called.hears(caller)
    await caller.session.wire({ hears: [far, thread], taps: [{ id: 'tap', of: 'stereo', ring: given }] })
    const reader = new AudioRing(given.memory)
    const frame = new Int16Array(320)
    const shares = (): number[] => {
      while (reader.length > 1) reader.read(frame)
      return [400, 1000].map((hz, channel) => {
        const samples = Float64Array.from(frame.filter((_, at) => at % 2 === channel))
        return toneShare({ sampleRate: 8000, samples }, hz)
      })
    }
    await until('both to be given', () => shares().every((share) => share > 0.9))
    const writer = new AudioRing(said.memory)
    let written = 0
    await until('the thread to be heard', () => {
      // Writes on a clock of its own, as long as there is room.
      for (; writer.length < 3; written += 1)
        writer.write(
          Int16Array.from(
            { length: 160 },
            (_, at) => 16_000 * Math.sin((Math.PI * (written * 160 + at)) / 8),
          ),
        )
      return caller.share(500) > 0.5
    })
    await caller.session.wire({ hears: [far] })
    await until('the taps to end', () => {
      const before = reader.length
      while (reader.read(frame) !== undefined);
      return before === 0
    })
    await until('the other alone to be heard', () => caller.share(1000) > 0.9)
  })

  it('pass keys on', async () => {
    await start(workers)
    const [caller, called] = [await Phone.open(), await Phone.open()]
    await Promise.all([caller.hears(called), called.hears(caller)])
    caller.say(400)
    await until('the caller to be heard', () => called.share(400) > 0.9)
    caller.peer.press(caller.session.port, 7, 5)
    await until('the end of the key', () =>
      called.peer.heard.items.some(
        ({ payloadType, payload }) => payloadType === 101 && ((payload[1] ?? 0) & 0x80) > 0,
      ),
    )
    const keys = called.peer.heard.items.filter(({ payloadType }) => payloadType === 101)
    expect(new Set(keys.map(({ payload }) => payload[0]))).toEqual(new Set([7]))
    await caller.events.next('the key', ({ type }) => type === 'digit')
  })

  it('meet in a room with a third, who hears both; one who is muted is not heard', async () => {
    await start(workers)
    const [a, b, c] = [await Phone.open(), await Phone.open({ payloadType: 8 }), await Phone.open()]
    a.say(400)
    b.say(1000)
    for (const phone of [a, b, c]) await phone.session.wire(inRoom())
    await until('each to hear the others', () => {
      const [first, second] = [c.share(400), c.share(1000)]
      return a.share(1000) > 0.8 && b.share(400) > 0.8 && first > 0.2 && second > 0.2
    })
    expect(a.share(400)).toBeLessThan(0.1)
    await a.session.wire(inRoom({ isMuted: true }))
    await until('the third to hear one', () => c.share(1000) > 0.9)
    await a.session.wire(inRoom())
    await until('the third to hear both', () => c.share(400) > 0.2 && c.share(1000) > 0.2)
  })
})

describe('keys that are sent', () => {
  it('are pressed at the far end, one after the other', async () => {
    await start(1)
    const phone = await Phone.open()
    await phone.session.sendKeys('4#', { durationMs: 80 })
    await phone.peer.caughtUp()
    const keys = phone.peer.heard.items.filter(({ payloadType }) => payloadType === 101)
    const ends = keys.filter(({ payload }) => ((payload[1] ?? 0) & 0x80) > 0)
    expect(ends.map(({ payload }) => [payload[0], payload.readUInt16BE(2)])).toEqual([
      ...Array<number[]>(3).fill([4, 640]),
      ...Array<number[]>(3).fill([11, 640]),
    ])
  })

  it('are refused where the far end takes none', async () => {
    await start(1)
    const peer = await RtpPeer.open()
    const session = await media.open()
    await session.answer(peer.offer({ payloads: '0' }))
    await expect(session.sendKeys('1')).rejects.toMatchObject({ code: 'media_not_acceptable' })
    await session.close()
    await peer.close()
  })
})

describe('when a worker dies', () => {
  it('those who heard its sessions hear silence, and its room goes on without them', async () => {
    await start(2)
    const [a, b] = [await Phone.open(), await Phone.open()]
    const c = await Phone.open({ near: b })
    a.say(400)
    b.say(1000)
    // The room is in the worker that will die.
    for (const phone of [a, b, c]) await phone.session.wire(inRoom())
    await until('all to be heard', () => c.share(400) > 0.2 && c.share(1000) > 0.2)
    const dying = threads[a.worker]
    await dying?.terminate()
    await a.events.next('its loss', ({ type }) => type === 'lost')
    await until('the others to meet again', () => c.share(1000) > 0.9)
    await b.hears(a)
    await until('silence of the one that is gone', () => b.share(400) === 0)
  })
})
