// Streams over real sockets, in their thread: the audio that a server gets and sends, and servers that behave badly.
import { Worker } from 'node:worker_threads'
import { afterAll, afterEach, describe, expect, it } from 'vitest'
import { toneShare, toWav, tone } from '../../test/support/audio.ts'
import {
  serveAudio,
  type AudioServer,
  type AudioServerOptions,
  type ServedStream,
} from '../../test/support/audio-server.ts'
import { createFakeClock } from '../../test/support/fake-clock.ts'
import { Inbox, until } from '../../test/support/wait.ts'
import { actingFor } from '../lib/acting-for.ts'
import { AudioRing, createRing } from '../lib/audio/audio-ring.ts'
import type { Clock } from '../lib/clock.ts'
import { silentLogger } from '../lib/log.ts'
import { createStreams } from './create-streams.ts'
import type { HearingLimits } from './hearing.ts'
import { pingEveryMs } from './thread-watch.ts'
import type { AudioStream, StreamEnd, StreamEvent, StreamOrder } from '../contracts/audio-stream.ts'

const loopback = ['127.0.0.0/8', '::1/128']
const threads: Worker[] = []
/** Most tests share a thread, which takes a second to start. */
const common = streamsWith(loopback)
let platform = common
const cleanUps: (() => Promise<void> | void)[] = []

/** The program of a thread of streams that hangs when it is sent a text. */
const program = `
  import('${new URL('./thread.ts', import.meta.url).href}').then(() => {
    require('node:worker_threads').parentPort.on('message', (message) => {
      while (typeof message === 'string');
    })
  })`

function streamsWith(
  allow: readonly string[],
  sharePercent = 100,
  limits: Partial<HearingLimits> = {},
  clock?: Clock,
) {
  return createStreams({
    ...(clock === undefined ? {} : { clock }),
    allow,
    limits,
    nameServers: undefined,
    log: silentLogger,
    sharePercent,
    createThread: (workerData) => {
      const thread = new Worker(program, { eval: true, workerData })
      threads.push(thread)
      return thread
    },
  })
}

afterEach(async () => {
  for (const cleanUp of cleanUps.splice(0).reverse()) await cleanUp()
  if (platform !== common) await platform.stop()
  platform = common
})
afterAll(() => common.stop())

async function server(options?: AudioServerOptions): Promise<AudioServer> {
  const served = await serveAudio(options)
  cleanUps.push(() => served.close())
  return served
}

/** A call that sends a tone all the time, and hears the stream. */
class Call {
  readonly events = new Inbox<StreamEvent>()
  readonly stream: AudioStream
  readonly heard: number[] = []
  readonly #given: AudioRing
  readonly #says: AudioRing
  readonly #into = new Int16Array(160)
  #frameMs: number
  #frames = 0
  /** The time that the frames so far last. */
  #saidMs = 0
  #timer: NodeJS.Timeout | undefined

  constructor(
    url: string,
    order: Partial<Omit<StreamOrder, 'says'>> & {
      readonly streamedRate?: number
      /** Less than 20 to fill the network quickly. */
      readonly frameMs?: number
    } = {},
  ) {
    const { streamedRate, channels = 1, frameMs = 20, ...rest } = order
    this.#frameMs = frameMs
    const given = createRing({ samples: 160 * channels, frames: 150 })
    const ring = createRing({ samples: 160 })
    this.#given = new AudioRing(given.memory)
    this.#says = new AudioRing(ring.memory)
    this.stream = platform.open(
      {
        url,
        headers: {},
        hello: '{"callSid":"c"}',
        given,
        channels,
        rate: 8000,
        says: { ring, streamedRate },
        ...rest,
      },
      (event) => this.events.push(event),
    )
  }

  /** Sends a tone in each channel, a frame of 20 ms on each beat. */
  talk(...tones: readonly number[]): this {
    // A second of whole tones: they are computed once, so that a busy machine keeps up.
    const second = Array.from({ length: 50 }, (_, frame) =>
      Int16Array.from({ length: 160 * tones.length }, (__, index) => {
        const at = frame * 160 + Math.floor(index / tones.length)
        return Math.round(8000 * Math.sin((2 * Math.PI * (tones[index % tones.length] ?? 0) * at) / 8000))
      }),
    )
    const startMs = performance.now()
    this.#timer = setInterval(() => {
      for (; this.#saidMs < performance.now() - startMs; this.#frames += 1, this.#saidMs += this.#frameMs) {
        this.#given.write(second[this.#frames % 50]!)
        if (this.#says.read(this.#into) !== undefined) this.heard.push(...this.#into)
      }
    }, 10)
    cleanUps.push(() => clearInterval(this.#timer))
    return this
  }

  /** Sends frames at another pace from now on. */
  pace(frameMs: number): void {
    this.#frameMs = frameMs
  }

  /** The frames that it has said until now. */
  get said(): number {
    return this.#frames
  }

  async ended(): Promise<StreamEnd> {
    const event = await this.events.next('the end', ({ type }) => type === 'ended')
    if (event.type !== 'ended') throw new Error('it is')
    return event.end
  }
}

const opened = (call: Call): Promise<StreamEvent> =>
  call.events.next('the socket', ({ type }) => type === 'opened')
const first = (served: AudioServer): Promise<ServedStream> => served.streams.next('the stream', () => true)
const lastShare = (samples: Float64Array, rate: number, hz: number): number =>
  toneShare({ sampleRate: rate, samples: samples.slice(-rate / 2) }, hz)
const rawTone = (hz: number, ms: number, rate = 8000): Buffer =>
  toWav(tone(hz, ms, { sampleRate: rate })).subarray(44)
const heardShare = (call: Call, hz: number, ms = 300): number =>
  toneShare(
    { sampleRate: 8000, samples: Float64Array.from(call.heard.slice(-ms * 8), (sample) => sample / 32_768) },
    hz,
  )

describe('what a server is sent', () => {
  it.each([8000, 16_000, 44_100, 48_000, 64_000])(
    'is what is said, at %i Hz, after the first frame',
    async (rate) => {
      const served = await server()
      const call = new Call(served.url, { rate }).talk(440)
      const stream = await first(served)
      expect(await stream.texts.next('the first frame', () => true)).toEqual({ callSid: 'c' })
      await until('a second of it', () => stream.samples().length > rate)
      expect(lastShare(stream.samples(), rate, 440)).toBeGreaterThan(0.99)
      call.stream.close()
      expect(await stream.closed).toBe(1000)
      const end = await call.ended()
      expect(end).toMatchObject({ by: 'closed' })
      expect(end.figures.sent_frames).toBeGreaterThan(45)
    },
  )

  it.each([8000, 24_000])('has both sides in two channels, at %i Hz', async (rate) => {
    const served = await server()
    new Call(served.url, { rate, channels: 2 }).talk(440, 1000)
    const stream = await first(served)
    await until('a second of it', () => stream.samples(2).length > rate)
    expect(lastShare(stream.samples(2, 0), rate, 440)).toBeGreaterThan(0.99)
    expect(lastShare(stream.samples(2, 1), rate, 1000)).toBeGreaterThan(0.99)
  })

  it('begins with the first word, however long the thread and the server take to open', async () => {
    // The first stream of a platform starts the thread.
    platform = streamsWith(loopback)
    const opening = Promise.withResolvers<void>()
    const served = await server({ opens: opening.promise })
    const call = new Call(served.url).talk(440)
    await until('two seconds of speech', () => call.said >= 100)
    opening.resolve()
    const stream = await first(served)
    await until('all of it', () => stream.samples().length >= 160 * 100)
    const expected = (at: number): number => (8000 / 32_768) * Math.sin((2 * Math.PI * 440 * at) / 8000)
    const heard = stream.samples()
    for (let at = 0; at < 160 * 100; at += 1) expect(heard[at]).toBeCloseTo(expected(at), 3)
    expect(await stream.texts.next('the first frame', () => true)).toEqual({ callSid: 'c' })
    call.stream.close()
    expect((await call.ended()).figures.lost_frames).toBe(0)
    // It stops with this test, and the common thread is the last one again.
    threads.pop()
  })

  it('is nothing while it is paused, and zeros while it is silent', async () => {
    const served = await server()
    const call = new Call(served.url).talk(440)
    const stream = await first(served)
    await until('some of it', () => stream.binary.length > 10)
    call.stream.setMode('silent')
    await until('zeros', () => stream.binary.at(-1)?.every((octet) => octet === 0))
    call.stream.setMode('paused')
    // Frames on their way may still come.
    let before = -1
    await until('nothing', () => before === (before = stream.binary.length), { everyMs: 200 })
    call.stream.setMode('on')
    await until('sound', () => stream.binary.at(-1)?.some((octet) => octet !== 0))
  })

  it('carries texts and headers, with both subprotocols offered', async () => {
    const served = await server()
    const call = new Call(served.url, { headers: { authorization: 'Basic abc' } })
    const { request, texts } = await first(served)
    expect(request.headers).toMatchObject({
      authorization: 'Basic abc',
      'sec-websocket-protocol': 'audio.drachtio.org,audio.jambonz.org',
    })
    expect(request.headers['sec-websocket-extensions']).toBeUndefined()
    await opened(call)
    call.stream.send('{"event":"dtmf","dtmf":"2","duration":"1600"}')
    expect(await texts.next('the key', (text) => 'event' in text)).toEqual({
      event: 'dtmf',
      dtmf: '2',
      duration: '1600',
    })
  })

  it.each(['audio.drachtio.org', 'audio.jambonz.org', false] as const)(
    'goes to one that picks %s',
    async (picks) => {
      const served = await server({ picks })
      await opened(new Call(served.url))
    },
  )
})

describe('what a server says', () => {
  it.each([8000, 16_000, 48_000])('is heard as it comes, at %i Hz', async (rate) => {
    const served = await server()
    const call = new Call(served.url, { streamedRate: rate }).talk(0)
    const { socket } = await first(served)
    const sound = rawTone(700, 2000, rate)
    // The audio is cut anywhere, also within a sample.
    for (let at = 0; at < sound.length; at += 1001) socket.send(sound.subarray(at, at + 1001))
    await until('a second of it', () => call.heard.length > 9600)
    expect(heardShare(call, 700)).toBeGreaterThan(0.99)
  })

  it('is a clip, raw or as a WAV file, and its end is reported', async () => {
    const served = await server()
    const call = new Call(served.url).talk(0)
    const stream = await first(served)
    const audioContent = rawTone(700, 500, 16_000).toString('base64')
    stream.say({
      type: 'playAudio',
      data: { audioContent, audioContentType: 'raw', sampleRate: 16_000, id: 'one' },
    })
    expect(await stream.texts.next('its end', ({ type }) => type === 'playDone')).toEqual({
      type: 'playDone',
      data: { id: 'one', playbackSeconds: 0, playbackMilliseconds: 500 },
    })
    const wav = toWav(tone(900, 500, { sampleRate: 24_000 })).toString('base64')
    stream.say({ type: 'playAudio', data: { audioContent: wav, audioContentType: 'wav', id: 'two' } })
    await until('the second to be heard', () => heardShare(call, 900) > 0.99)
    await stream.texts.next('its end', ({ data }) => (data as { id?: string } | undefined)?.id === 'two')
  })

  it('waits for what sounds when it is queued, ends it when it is not, and is silent when it is killed', async () => {
    const served = await server()
    const call = new Call(served.url).talk(0)
    const stream = await first(served)
    // The clips outlast the test. Much longer ones would wait, as a server may send only this much in a second.
    const clip = (id: string, hz: number, queuePlay?: boolean): void =>
      stream.say({
        type: 'playAudio',
        data: {
          audioContent: rawTone(hz, 8000).toString('base64'),
          audioContentType: 'raw',
          id,
          queuePlay,
        },
      })
    clip('a', 500)
    clip('b', 600, true)
    await until('the first', () => heardShare(call, 500) > 0.99)
    clip('c', 900)
    await until('the third', () => heardShare(call, 900) > 0.99)
    const ended = stream.texts.items.flatMap((text) => (text['type'] === 'playDone' ? [text['data']] : []))
    expect(ended).toMatchObject([{ id: 'a' }, { id: 'b', playbackMilliseconds: 0 }])
    stream.say({ type: 'killAudio' })
    await stream.texts.next('the end', ({ data }) => (data as { id?: string } | undefined)?.id === 'c')
    const length = call.heard.length
    // The ring is still heard to its end, and no more of the clip, which lasts eight seconds.
    let before = -1
    await until('silence', () => before === (before = call.heard.length), { everyMs: 300 })
    expect(call.heard.length - length).toBeLessThan(4 * 8000)
    for (let count = 0; count < 12; count += 1) clip(`q${count}`, 400, true)
    const event = await call.events.next('the refusal', ({ type }) => type === 'misunderstood')
    expect(event).toMatchObject({ because: '10 clips wait, which is the maximum' })
  })

  it('has marks, which are reported when they are reached, or cleared', async () => {
    const served = await server()
    new Call(served.url, { streamedRate: 8000 }).talk(0)
    const stream = await first(served)
    const mark = (name: string): void => stream.say({ type: 'mark', data: { name } })
    mark('before')
    stream.socket.send(rawTone(500, 400))
    mark('after')
    const told = (): unknown[] =>
      stream.texts.items.flatMap((text) => (text['type'] === 'mark' ? [text['data']] : []))
    await until('both', () => told().length === 2)
    expect(told()).toEqual([
      { name: 'before', event: 'playout' },
      { name: 'after', event: 'playout' },
    ])
    stream.socket.send(rawTone(500, 60_000))
    mark('never')
    stream.say({ type: 'clearMarks' })
    await until('the third', () => told().length === 3)
    expect(told()[2]).toEqual({ name: 'never', event: 'cleared' })
  })

  it('ends the stream when it says so', async () => {
    const served = await server()
    const call = new Call(served.url)
    const stream = await first(served)
    stream.say({ type: 'disconnect' })
    expect(await call.ended()).toMatchObject({ by: 'disconnect' })
    expect(await stream.closed).toBe(1000)
  })

  it('may come faster than it is heard: the server has to wait, and nothing is lost', async () => {
    const served = await server()
    const call = new Call(served.url, { streamedRate: 64_000 }).talk(0)
    const { socket } = await first(served)
    await opened(call)
    // Sends half an hour of audio in a moment.
    const minute = rawTone(500, 60_000, 64_000)
    const socketBytes = (): number => socket.bufferedAmount
    for (let count = 0; count < 30; count += 1)
      for (let at = 0; at < minute.length; at += 64_000) socket.send(minute.subarray(at, at + 64_000))
    let before = -1
    await until('it to wait', () => before === (before = socketBytes()) && before > 0, { everyMs: 300 })
    // Only two minutes, and what the network holds, were accepted.
    expect(socketBytes()).toBeGreaterThan(20 * minute.length)
    await until(
      'it to be heard all the while',
      () => call.heard.length > 16_000 && heardShare(call, 500) > 0.99,
    )
  })
})

describe('a server that', () => {
  it.each([
    [
      'refuses',
      { refuse: () => ({ status: 403 }) },
      'the audio server answered the WebSocket handshake with status 403',
    ],
    [
      'sends us inside',
      { refuse: () => ({ status: 302, location: 'ws://10.0.0.1/' }) },
      /may not be reached/,
    ],
    [
      'closes at once',
      { onStream: ({ socket }: ServedStream) => socket.close(1011, 'no') },
      /closed the socket with 1011 \(no\)/,
    ],
    ['breaks off', { onStream: ({ socket }: ServedStream) => socket.terminate() }, /broke/],
    [
      'sends more than is taken',
      { onStream: ({ socket }: ServedStream) => socket.send(Buffer.alloc(5_000_000)) },
      /longer than accepted/,
    ],
  ] as const)(
    '%s is reported as a failure, and nothing else of the thread is',
    async (_what, options, because) => {
      const [bad, good] = [await server(options as AudioServerOptions), await server()]
      const other = new Call(good.url).talk(440)
      await opened(other)
      const end = await new Call(bad.url).ended()
      expect(end.by).toBe('failed')
      expect(end.because).toMatch(because)
      const { binary } = await first(good)
      const before = binary.length
      await until('the other to go on', () => binary.length > before + 10)
      expect(threads.at(-1)?.threadId).toBeGreaterThan(0)
    },
  )

  it('closes with 1000 has ended it', async () => {
    const served = await server()
    const call = new Call(served.url)
    ;(await first(served)).socket.close(1000)
    expect(await call.ended()).toMatchObject({
      by: 'server',
      because: 'the audio server closed the socket with 1000',
    })
  })

  it.each([
    ['no JSON', '{"type":', 'a text frame must be a JSON object'],
    ['JSON that is no object', '[1]', 'a text frame must be a JSON object'],
    [
      'a type that is not known',
      '{"type":"dance"}',
      'a text frame must have a type that is known, and not "dance"',
    ],
    [
      'a type that is no text, however deep',
      `{"type":${'['.repeat(20)}${']'.repeat(20)}}`,
      'a text frame must have a type that is known, and not object',
    ],
    [
      'what is nested too deep',
      `{"type":${'['.repeat(20_000)}${']'.repeat(20_000)}}`,
      'a text frame must be a JSON object, nested 32 levels deep at most',
    ],
    ['a mark without a name', '{"type":"mark"}', 'mark needs data.name, a text of 1 to 256 characters'],
    [
      'a clip without sound',
      '{"type":"playAudio","data":{}}',
      'playAudio needs data.audioContent, base64 as a text',
    ],
    [
      'a rate of no telephone',
      '{"type":"playAudio","data":{"audioContent":"AA==","sampleRate":1}}',
      'playAudio takes a sampleRate of 8000 to 64000',
    ],
    [
      'a file that is none',
      '{"type":"playAudio","data":{"audioContent":"AA==","audioContentType":"wav"}}',
      /a WAV file of one channel/,
    ],
  ])('sends %s is reported once, and goes on', async (_what, text, because) => {
    const served = await server()
    const call = new Call(served.url).talk(440)
    const { socket, binary } = await first(served)
    socket.send(text)
    socket.send(text)
    socket.send('{"type":"transcription"}')
    const event = await call.events.next('the fact', ({ type }) => type === 'misunderstood')
    if (event.type === 'misunderstood') expect(event.because).toMatch(because)
    await until('it to go on', () => binary.length > 20)
    expect(call.events.items.filter(({ type }) => type === 'misunderstood')).toHaveLength(1)
  })

  it.each([
    ['texts', '{"type":"nope"}'],
    ['pieces of a sample', Buffer.alloc(2)],
  ])(
    'sends %s without end has to wait, and is left; the others are heard meanwhile',
    async (_what, message) => {
      platform = streamsWith(loopback, 100, { atOnce: 100_000, maxIdle: 500 })
      const flood = ({ socket }: ServedStream): void => {
        for (let count = 0; count < 20_000; count += 1) socket.send(message)
      }
      const [bad, good] = [await server({ onStream: flood }), await server()]
      const other = new Call(good.url, { streamedRate: 8000 }).talk(440)
      await opened(other)
      const stream = await first(good)
      const end = new Call(bad.url, { streamedRate: 8000 }).ended()
      stream.say({ type: 'mark', data: { name: 'here' } })
      await stream.texts.next('the mark', ({ type }) => type === 'mark')
      expect(await end).toMatchObject({
        by: 'failed',
        because: 'the audio server sent more messages than are read',
      })
      expect(await (await first(bad)).closed).toBe(1008)
      const before = stream.binary.length
      await until('the other to go on', () => stream.binary.length > before + 10)
    },
  )

  it('changes the rate with each clip has to wait: each rate takes the time of all streams', async () => {
    const { url } = await server({
      onStream: ({ socket }) => {
        let rate = 50_000
        const play = (): void => {
          rate += 1
          const data = { audioContent: 'AAAA', sampleRate: rate, queuePlay: true }
          socket.send(JSON.stringify({ type: 'playAudio', data }))
        }
        for (let count = 0; count < 10; count += 1) play()
        socket.on('message', (message: Buffer) => {
          if (!message.includes('playDone')) return
          done += 1
          play()
        })
      },
    })
    let done = 0
    platform = streamsWith(loopback, 100, { atOnce: 1024 * 1024 })
    const call = new Call(url).talk(0)
    await opened(call)
    const beganMs = performance.now()
    await until('some, after two seconds', () => done > 2 && performance.now() - beganMs >= 2000)
    expect(done).toBeLessThan((performance.now() - beganMs) / 100)
  })

  it('sends long texts that are no clip is not understood, and one that is a clip is', async () => {
    const served = await server()
    const call = new Call(served.url).talk(0)
    const stream = await first(served)
    const audioContent = rawTone(700, 5000).toString('base64')
    const clip = JSON.stringify({ type: 'playAudio', data: { id: 'one', audioContent, sampleRate: 8000 } })
    // Some libraries write it this way.
    stream.socket.send(clip.replaceAll('/', '\\/').replaceAll('+', '\\u002B'))
    await until('it to be heard', () => heardShare(call, 700) > 0.99)
    stream.socket.send(`{"type":"json","data":[${'[],'.repeat(30_000)}[]]}`)
    const event = await call.events.next('the fact', ({ type }) => type === 'misunderstood')
    expect(event).toMatchObject({
      because: 'a text frame must be a JSON object, of at most 65536 characters beside audioContent',
    })
  })

  it('is at an address that may not be reached is never asked', async () => {
    const served = await server()
    platform = streamsWith([])
    expect(await new Call(served.url).ended()).toMatchObject({
      by: 'failed',
      because: expect.stringMatching(/may not be reached/),
    })
    expect(served.streams.items).toEqual([])
  })

  it('does not read loses frames alone; where that begins and ends is reported, with how many', async () => {
    const [slow, good] = [await server(), await server()]
    const [stalled, other] = [
      new Call(slow.url, { rate: 64_000, channels: 2, frameMs: 1 }).talk(440, 440),
      new Call(good.url).talk(440),
    ]
    const stream = await first(slow)
    stream.socket.pause()
    await opened(other)
    await stalled.events.next('the stall', ({ type }) => type === 'stalled')
    // Its frames have filled the network. At their pace a busy machine would do nothing else.
    stalled.pace(20)
    const { binary } = await first(good)
    const before = binary.length
    await until('the other to go on', () => binary.length >= before + 100)
    stream.socket.resume()
    const event = await stalled.events.next('the end of it', ({ type }) => type === 'recovered')
    expect(event.type === 'recovered' && event.lost_frames).toBeGreaterThan(0)
    stalled.stream.close()
    expect((await stalled.ended()).figures.lost_frames).toBeGreaterThan(0)
    other.stream.close()
    // The server lost none. A machine under load loses few.
    const { sent_frames, lost_frames } = (await other.ended()).figures
    expect(lost_frames).toBeLessThan(sent_frames / 10)
  })
})

describe('the thread', () => {
  it('that dies ends its streams with that reason, and the next stream has another', async () => {
    platform = streamsWith(loopback)
    const served = await server()
    const call = new Call(served.url)
    await opened(call)
    await threads.at(-1)?.terminate()
    expect(await call.ended()).toMatchObject({ by: 'lost', because: 'the thread of the stream ended' })
    // Later messages of the owner are ignored.
    call.stream.send('{}')
    call.stream.close()
    await opened(new Call(served.url))
  })

  it('that hangs is ended, and its streams with that reason; the next stream has another', async () => {
    const clock = createFakeClock()
    platform = streamsWith(loopback, 100, {}, clock)
    const served = await server()
    const call = new Call(served.url)
    await opened(call)
    const hung = threads.at(-1)
    const gone = new Promise((resolve) => hung?.once('exit', resolve))
    // A thread that responds lives, however long its streams are open.
    for (let round = 0; round < 12; round += 1) {
      const answered = new Promise((resolve) => hung?.once('message', resolve))
      clock.advance(pingEveryMs)
      await answered
    }
    hung?.postMessage('hang')
    clock.advance(60_000)
    expect(await call.ended()).toMatchObject({
      by: 'lost',
      because: 'the thread of the stream hung, and was ended',
    })
    await gone
    await opened(new Call(served.url))
    expect(threads.at(-1)).not.toBe(hung)
  })

  it('carries a bounded number of streams, of which no account may have all', async () => {
    const served = await server()
    platform = streamsWith(loopback, 50)
    const open = (): Call => actingFor('greedy', () => new Call(served.url))
    for (let count = 0; count < 200; count += 1) open()
    expect(open).toThrow(expect.objectContaining({ code: 'account_share' }))
    const other = actingFor('modest', () => new Call(served.url))
    await opened(other)
  })

  it('carries fewer streams of a higher rate and of two channels, as they cost more', async () => {
    const served = await server()
    platform = streamsWith(loopback, 50)
    const open = (): Call => actingFor('greedy', () => new Call(served.url, { rate: 64_000, channels: 2 }))
    for (let count = 0; count < 24; count += 1) open()
    expect(open).toThrow(expect.objectContaining({ code: 'account_share' }))
  })

  it('gives the place of a stream back where the system has no thread for it', async () => {
    let isRefused = true
    platform = createStreams({
      ...{ allow: loopback, nameServers: undefined, log: silentLogger },
      createThread(workerData) {
        if (isRefused) throw new Error('EAGAIN')
        return new Worker(program, { eval: true, workerData })
      },
    })
    const served = await server()
    const open = (): Call => actingFor('one', () => new Call(served.url))
    for (let count = 0; count < 400; count += 1) expect(open).toThrow('EAGAIN')
    isRefused = false
    await opened(open())
  })

  it('is gone when the platform stops, and the sockets with it', async () => {
    platform = streamsWith(loopback)
    const served = await server()
    await opened(new Call(served.url))
    const { closed } = await first(served)
    await platform.stop()
    expect(await closed).toBe(1006)
    expect(threads.at(-1)?.threadId).toBe(-1)
    await platform.stop()
  })
})
