import { appendFile, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { durationMs, fromWav, rms, slice, toneShare } from '../../../test/support/audio.ts'
import { mountVolume } from '../../../test/support/small-volume.ts'
import { until } from '../../../test/support/wait.ts'
import { systemClock } from '../../lib/clock.ts'
import { createFakeClock } from '../../../test/support/fake-clock.ts'
import { markAsGrowing, markAsWhole } from '../../lib/growing-file.ts'
import { createAudioDecoder, createDecoderThread } from './audio-decoder.ts'

/** One second of 16-bit samples at 16 kHz. */
const secondBytes = 32_000
const fixtures = join(import.meta.dirname, '../../../test/support/audio')
let directory: string
let made = 0
let stop: () => Promise<void> = () => Promise.resolve()

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'decoder-'))
})
afterEach(() => stop())
afterAll(() => rm(directory, { recursive: true }))

function decoderWith(clock = systemClock) {
  const decoder = createAudioDecoder({ clock })
  stop = () => decoder.stop()
  return decoder
}

const target = (): string => join(directory, `${(made += 1)}.wav`)

async function fileOf(bytes: Buffer): Promise<string> {
  const path = join(directory, `${(made += 1)}.in`)
  await writeFile(path, bytes)
  return path
}

/** Returns a page of an Ogg file. Its checksum is not verified here. */
function page(packets: readonly Buffer[]): Buffer {
  const header = Buffer.alloc(27)
  header.write('OggS', 0, 'latin1')
  header[26] = packets.length
  return Buffer.concat([header, Buffer.from(packets.map(({ length }) => length)), ...packets])
}

const head = Buffer.from([...Buffer.from('OpusHead'), 1, 1, 0, 0, 0x80, 0xbb, 0, 0, 0, 0, 0])

describe('a system that has no thread left', () => {
  it('refuses a file when it comes or when it is its turn, and no later one', async () => {
    let isFull = false
    const decoder = createAudioDecoder({
      clock: systemClock,
      createThread(job) {
        if (isFull) throw new Error('ERR_WORKER_INIT_FAILED: EAGAIN')
        return createDecoderThread(job)
      },
    })
    stop = () => decoder.stop()
    const decode = () =>
      decoder.decode({ kind: 'mp3', source: join(fixtures, 'mono-16k.mp3'), target: target() })
    const first = decode()
    // The account has one turn at a time.
    const waiting = decode()
    isFull = true
    expect(await first).toBeGreaterThan(0)
    await expect(waiting).rejects.toThrow('EAGAIN')
    await expect(decode()).rejects.toThrow('EAGAIN')
    isFull = false
    expect(await decode()).toBeGreaterThan(0)
  })
})

describe('the audio decoder', () => {
  it.each([
    ['mp3', 'mono-16k.mp3'],
    ['mp3', 'stereo-44k-tagged.mp3'],
    ['ogg-opus', 'mono.opus'],
    ['ogg-opus', 'stereo.opus'],
  ] as const)('makes a WAV file of %s: %s', async (kind, name) => {
    const path = target()
    const bytes = await decoderWith().decode({ kind, source: join(fixtures, name), target: path })
    const file = await readFile(path)
    expect(file.length).toBe(bytes)
    const audio = fromWav(file)
    expect(audio.sampleRate).toBe(16_000)
    // Encoders fill the last frame up.
    expect(durationMs(audio)).toBeGreaterThanOrEqual(490)
    expect(durationMs(audio)).toBeLessThan(620)
    const middle = slice(audio, 150, 400)
    expect(toneShare(middle, 440)).toBeGreaterThan(0.98)
    expect(rms(middle)).toBeCloseTo(0.3535, 1)
  })

  it('refuses a small file that decodes to hours', async () => {
    // Two frames of 60 ms without content: 120 ms in two octets.
    const pages = Array.from({ length: 250 }, () => page(Array<Buffer>(250).fill(Buffer.from([0x1b, 2]))))
    const bomb = Buffer.concat([page([head]), page([Buffer.from('OpusTags')]), ...pages])
    expect(bomb.length).toBeLessThan(200_000)
    const source = await fileOf(bomb)
    await expect(decoderWith().decode({ kind: 'ogg-opus', source, target: target() })).rejects.toMatchObject({
      code: 'audio_not_supported',
      message: 'the audio is longer than 2 hours',
    })
  })

  it('ends what does not come to an end, and decodes the next file', async () => {
    const clock = createFakeClock()
    const decoder = decoderWith(clock)
    const frame = (await readFile(join(fixtures, 'mono-16k.mp3'))).subarray(0, 1000)
    const noise = Buffer.from(
      Array.from({ length: 60_000 }, (_, index) => (index * 7919 + (index >> 3)) & 0xff),
    )
    const source = await fileOf(Buffer.concat([frame, noise, frame, noise]))
    let outcome: unknown
    decoder.decode({ kind: 'mp3', source, target: target() }).then(
      (bytes) => (outcome = bytes),
      (error: unknown) => (outcome = error),
    )
    await until('its end', () => {
      clock.advance(1000)
      return outcome !== undefined
    })
    const next = decoderWith().decode({
      kind: 'ogg-opus',
      source: join(fixtures, 'mono.opus'),
      target: target(),
    })
    expect(await next).toBeGreaterThan(8000)
  })

  it('lets a file be heard while its source grows, and decodes another one of the account meanwhile', async () => {
    const half = await readFile(join(fixtures, 'mono-16k.mp3'))
    const source = await fileOf(Buffer.concat(Array<Buffer>(40).fill(half)))
    await markAsGrowing(source)
    const decoder = decoderWith()
    const head = Promise.withResolvers<void>()
    const long = target()
    const decoding = decoder.decode({ kind: 'mp3', source, target: long }, { onHead: head.resolve })
    await head.promise
    expect((await readFile(long)).length).toBeGreaterThan(5 * secondBytes)
    const short = { kind: 'mp3', source: join(fixtures, 'mono-16k.mp3'), target: target() } as const
    expect(await decoder.decode(short)).toBeGreaterThan(7000)
    await appendFile(source, Buffer.concat(Array<Buffer>(20).fill(half)))
    await markAsWhole(source)
    // Each copy is half a second, plus some milliseconds that an encoder adds.
    const seconds = (await decoding) / secondBytes
    expect(seconds).toBeGreaterThan(30)
    expect(seconds).toBeLessThan(37)
    expect(durationMs(fromWav(await readFile(long)))).toBeCloseTo(seconds * 1000, -2)
  })

  it.each([
    ['mp3', 'not an MP3 file at all'],
    ['ogg-opus', 'OggS'],
  ] as const)('refuses a file that is not %s', async (kind, text) => {
    const source = await fileOf(Buffer.from(text))
    await expect(decoderWith().decode({ kind, source, target: target() })).rejects.toMatchObject({
      code: 'audio_not_supported',
    })
  })

  it('says that the disk is full, and not that the file is broken', async (context) => {
    const volume = join(directory, 'volume')
    await mkdir(volume)
    const mounted = mountVolume(volume, '64k')
    if (typeof mounted === 'string') return context.skip(mounted)
    try {
      const half = await readFile(join(fixtures, 'mono-16k.mp3'))
      const source = await fileOf(Buffer.concat(Array<Buffer>(20).fill(half)))
      const decoding = decoderWith().decode({ kind: 'mp3', source, target: join(volume, 'decoded.wav') })
      await expect(decoding).rejects.toMatchObject({ code: 'disk_full' })
    } finally {
      mounted.unmount()
    }
  })

  it('ends with the reason of its signal', async () => {
    const controller = new AbortController()
    const job = { kind: 'mp3', source: join(fixtures, 'mono-16k.mp3'), target: target() } as const
    const decoding = decoderWith().decode(job, { signal: controller.signal })
    controller.abort(new Error('hung up'))
    await expect(decoding).rejects.toThrow('hung up')
  })

  it('stops while the thread of a file that is not wanted any more is ending', async () => {
    const controller = new AbortController()
    const decoder = decoderWith()
    const job = { kind: 'mp3', source: join(fixtures, 'mono-16k.mp3'), target: target() } as const
    const decoding = decoder.decode(job, { signal: controller.signal })
    controller.abort(new Error('hung up'))
    await Promise.all([decoder.stop(), expect(decoding).rejects.toThrow('hung up')])
  })
})
