// The contract between those that fetch, decode and play audio: the same file plays the same, however it arrives.
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises'
import type { ServerResponse } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createAudioFetcher } from '../../src/audio/create-audio-fetcher.ts'
import { systemClock, type Clock } from '../../src/lib/clock.ts'
import { silentLogger } from '../../src/lib/log.ts'
import { Clips } from '../../src/media/clips/clips.ts'
import { createLaws } from '../../src/media/codecs/g711.ts'
import { createAudioDecoder } from '../../src/media/files/audio-decoder.ts'
import { OggPackets } from '../../src/media/files/ogg-packets.ts'
import { createOutgoing } from '../../src/outgoing/create-outgoing.ts'
import { rms } from '../support/audio.ts'
import { serveLocally, type LocalServer } from '../support/local-http.ts'
import { until } from '../support/wait.ts'

const fixtures = join(import.meta.dirname, '../support/audio')
const laws = createLaws()
const rate = 16_000
const seconds = 6
let directory: string

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'audio-arrivals-'))
})
afterAll(() => rm(directory, { recursive: true, force: true }))

const chunk = (name: string, content: Buffer, { size = content.length, isPadded = true } = {}): Buffer => {
  const header = Buffer.alloc(8)
  header.write(name, 'latin1')
  header.writeUInt32LE(size, 4)
  return Buffer.concat([header, content, Buffer.alloc(isPadded ? content.length % 2 : 0)])
}

interface WavWish {
  readonly tag?: number
  readonly bits?: number
  readonly channels?: 1 | 2
  /** The size that the head states for the samples. */
  readonly size?: number
  readonly before?: Buffer
  readonly after?: Buffer
}

/** Writes one sample from -1 to 1. */
function put(into: Buffer, at: number, value: number, tag: number, bits: number): void {
  if (tag === 3) return void (bits === 32 ? into.writeFloatLE(value, at) : into.writeDoubleLE(value, at))
  if (tag === 7 || tag === 6)
    return void into.writeUInt8(
      (tag === 7 ? laws.PCMU : laws.PCMA).encode[Math.round(value * 32_767) & 0xffff] ?? 0,
      at,
    )
  if (bits === 8) return void into.writeUInt8(Math.round(127 * value) + 128, at)
  into.writeIntLE(Math.round(value * (2 ** (bits - 1) - 1)), at, bits / 8)
}

function wav({
  tag = 1,
  bits = 16,
  channels = 1,
  size,
  before = Buffer.alloc(0),
  after = Buffer.alloc(0),
}: WavWish = {}) {
  const width = bits / 8
  const data = Buffer.alloc(rate * seconds * channels * width)
  for (let at = 0; at < data.length / width; at += 1)
    put(data, at * width, 0.5 * Math.sin((2 * Math.PI * 440 * Math.floor(at / channels)) / rate), tag, bits)
  const format = Buffer.alloc(16)
  format.writeUInt16LE(tag, 0)
  format.writeUInt16LE(channels, 2)
  format.writeUInt32LE(rate, 4)
  format.writeUInt32LE(rate * channels * width, 8)
  format.writeUInt16LE(channels * width, 12)
  format.writeUInt16LE(bits, 14)
  const content = [
    chunk('fmt ', format),
    before,
    chunk('data', data, size === undefined ? {} : { size }),
    after,
  ]
  return chunk(
    'RIFF',
    Buffer.concat([Buffer.from('WAVE'), ...content]),
    size === undefined ? {} : { size: (size + 36) >>> 0 },
  )
}

const fixture = (name: string): Promise<Buffer> => readFile(join(fixtures, name))
const repeated = (one: Buffer, times: number): Buffer =>
  Buffer.concat(Array.from({ length: times }, () => one))
const mp3 = async (): Promise<Buffer> => repeated(await fixture('mono-16k.mp3'), 40)

/** Returns a longer Ogg file with the packets of a short one. */
async function longOgg(name: string): Promise<Buffer> {
  const [head, tags, ...packets] = [...new OggPackets().push(await fixture(name))]
  const page = (packet: Buffer, kind: number): Buffer => {
    const header = Buffer.alloc(27)
    header.write('OggS', 0, 'latin1')
    header[5] = kind
    const lacing = [
      ...Array.from({ length: Math.floor(packet.length / 255) }, () => 255),
      packet.length % 255,
    ]
    header[26] = lacing.length
    return Buffer.concat([header, Buffer.from(lacing), packet])
  }
  const sound = Array.from({ length: 20 }, () => packets).flat()
  return Buffer.concat([
    page(head ?? Buffer.alloc(0), 2),
    ...[tags ?? Buffer.alloc(0), ...sound].map((one) => page(one, 0)),
  ])
}

const apeTag = (bytes: number): Buffer => {
  const header = Buffer.alloc(32)
  header.write('APETAGEX', 'latin1')
  header.writeUInt32LE(2000, 8)
  header.writeUInt32LE(bytes, 12)
  return Buffer.concat([header, Buffer.alloc(bytes, 0x41)])
}

/** Files that play alike stand in one group. */
const groups: Readonly<Record<string, Readonly<Record<string, () => Buffer | Promise<Buffer>>>>> = {
  'WAV of 16 bit': {
    'with its size': () => wav(),
    'with size 0': () => wav({ size: 0 }),
    'with the largest size': () => wav({ size: 0xffff_ffff }),
    'with a size that cannot be true': () => wav({ size: 2_000_000_000 }),
    'with chunks before and after its samples': () =>
      wav({ before: chunk('LIST', Buffer.alloc(2001)), after: chunk('id3 ', Buffer.alloc(300)) }),
    'with an odd chunk that is not padded': () =>
      wav({ before: chunk('inst', Buffer.alloc(7), { isPadded: false }) }),
    'of two equal channels': () => wav({ channels: 2 }),
  },
  'WAV of 8 bit': { 'with its size': () => wav({ bits: 8 }), 'with size 0': () => wav({ bits: 8, size: 0 }) },
  'WAV of 24 bit': { 'with its size': () => wav({ bits: 24 }) },
  'WAV of 32 bit': { 'with its size': () => wav({ bits: 32, channels: 2 }) },
  'WAV of floating point': {
    'of 32 bit': () => wav({ tag: 3, bits: 32 }),
    'of 64 bit': () => wav({ tag: 3, bits: 64 }),
  },
  'WAV of mu-law': { 'with its size': () => wav({ tag: 7, bits: 8 }) },
  'WAV of A-law': { 'with its size': () => wav({ tag: 6, bits: 8 }) },
  MP3: {
    'that begins with a frame': mp3,
    'after zeros': async () => Buffer.concat([Buffer.alloc(1500), await mp3()]),
    'after a line end': async () => Buffer.concat([Buffer.from('\r\n'), await mp3()]),
    'after ones': async () => Buffer.concat([Buffer.alloc(8, 0xff), await mp3()]),
    'after an APE tag': async () => Buffer.concat([apeTag(48), await mp3()]),
    'after an APE tag with a picture': async () => Buffer.concat([apeTag(30_000), await mp3()]),
  },
  'MP3 with an ID3 tag': {
    'before its frames': async () => repeated(await fixture('stereo-44k-tagged.mp3'), 40),
  },
  Ogg: { 'of one channel': () => longOgg('mono.opus') },
  'Ogg of two channels': { 'with Opus': () => longOgg('stereo.opus') },
}

type Way = (response: ServerResponse, file: Buffer, lent: Promise<unknown>) => Promise<void>

const withLength = (response: ServerResponse, file: Buffer): void =>
  void response.writeHead(200, { 'content-length': file.length })

/** Sends the second half once the file has been lent. */
const inHalves: Way = async (response, file, lent) => {
  response.write(file.subarray(0, file.length / 2))
  await lent
  response.end(file.subarray(file.length / 2))
}

const ways: Readonly<Record<string, Way>> = {
  'at once, with its length': async (response, file) => {
    withLength(response, file)
    response.end(file)
  },
  'at once, without its length': async (response, file) => void response.writeHead(200).end(file),
  'behind redirects without a length of their own': async (response, file) => {
    const path = response.req.url ?? ''
    if (path === '/sound') response.writeHead(301, { location: 'moved/here' }).end()
    else if (path === '/moved/here')
      response.writeHead(307, { location: `http://${response.req.headers.host}/kept?signature=1` }).end()
    else response.writeHead(200, { 'content-length': file.length }).end(file)
  },
  'octet by octet at first': async (response, file) => {
    response.socket?.setNoDelay(true)
    for (let at = 0; at < 100; at += 1)
      await new Promise((sent) => response.write(file.subarray(at, at + 1), sent))
    response.end(file.subarray(100))
  },
  'slowly, with its length': async (response, file, lent) => {
    withLength(response, file)
    await inHalves(response, file, lent)
  },
  'slowly, without its length': async (response, file, lent) => {
    response.writeHead(200)
    await inHalves(response, file, lent)
  },
}

/** Every look at this clock finds the patience with a short file at its end. */
function impatient(): Clock {
  let looks = 0
  return { ...systemClock, monotonic: () => systemClock.monotonic() + 1000 * looks++ }
}

/** Returns the frames of each of two playbacks: while the file arrives, and from the cache. */
async function played(file: Buffer, way: Way, isSlow: boolean): Promise<readonly Buffer[]> {
  const lent = Promise.withResolvers<void>()
  let server: LocalServer | undefined
  const clock = isSlow ? impatient() : systemClock
  const outgoing = createOutgoing({ allow: ['127.0.0.0/8'], log: silentLogger })
  const decoder = createAudioDecoder({ clock: systemClock })
  const cacheDir = await mkdtemp(join(directory, 'cache-'))
  const fetcher = createAudioFetcher({
    ...{ outgoing, cacheDir, clock, log: silentLogger },
    decode: (job, options) => decoder.decode(job, options),
  })
  try {
    server = await serveLocally((_, response) => void way(response, file, lent.promise))
    const url = `${server.url}/sound`
    const first = await fetcher.fetch(url, {})
    lent.resolve()
    const fresh = await framesOf(first.path)
    const second = await fetcher.fetch(url, {})
    const again = await framesOf(second.path)
    first.release()
    second.release()
    return [fresh, again]
  } finally {
    await fetcher.stop()
    await decoder.stop()
    await outgoing.close()
    await server?.close()
  }
}

async function framesOf(path: string): Promise<Buffer> {
  const scratch = await mkdtemp(join(directory, 'frames-'))
  const clips = new Clips({
    laws,
    directory: scratch,
    maxMemoryBytes: 0,
    maxDiskBytes: 1e9,
    maxIdleDiskBytes: 1e9,
  })
  try {
    const clip = await clips.acquire(path, 'wide')
    await until('the whole clip', () => clip.isWhole)
    if (clip.failure !== undefined) throw clip.failure
    const [name = ''] = await readdir(scratch)
    const frames = await readFile(join(scratch, name))
    return frames.subarray(0, clip.totalFrames * clip.form.frameBytes)
  } finally {
    await clips.close()
  }
}

function soundOf(frames: Buffer): { readonly loudness: number; readonly seconds: number } {
  const samples = new Int16Array(Uint8Array.from(frames).buffer)
  const audio = { sampleRate: rate, samples: Float64Array.from(samples, (sample) => sample / 32_768) }
  return { loudness: rms(audio), seconds: samples.length / rate }
}

describe.each(Object.entries(groups))('%s', (_, group) => {
  const wanted = async () => {
    const [make] = Object.values(group)
    const [way] = Object.values(ways)
    if (make === undefined || way === undefined) throw new Error('nothing to play')
    const [frames = Buffer.alloc(0)] = await played(await make(), way, false)
    return frames
  }
  let reference: Promise<Buffer> | undefined

  it.each(Object.entries(group).map(([name, make], index) => [name, make, index] as const))(
    'plays the same %s, however it arrives',
    async (__, make, index) => {
      const expected = await (reference ??= wanted())
      expect(soundOf(expected).loudness).toBeGreaterThan(0.05)
      expect(soundOf(expected).seconds).toBeGreaterThan(5)
      const file = await make()
      // Other files of the group differ in their beginning only.
      for (const [name, way] of Object.entries(ways).filter(
        ([one]) => index === 0 || one.includes('without'),
      ))
        for (const frames of await played(file, way, name.startsWith('slowly')))
          expect(frames.equals(expected), `${name}: ${frames.length} octets of ${expected.length}`).toBe(true)
    },
    120_000,
  )
})

const redirect =
  (location: string, status = 302): Way =>
  async (response) =>
    void response.writeHead(status, { location }).end()

it('a redirect without end is refused with its status', async () => {
  await expect(played(wav(), redirect('/other'), false)).rejects.toMatchObject({
    code: 'audio_not_found',
    message: expect.stringContaining('302'),
  })
})

it('a redirect leads nowhere that the URL itself may not name', async () => {
  await expect(played(wav(), redirect('http://169.254.169.254/latest'), false)).rejects.toMatchObject({
    code: 'hook_refused_address',
  })
  await expect(played(wav(), redirect('file:///etc/passwd'), false)).rejects.toMatchObject({
    code: 'audio_not_found',
  })
})
