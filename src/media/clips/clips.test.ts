import { appendFile, mkdtemp, readdir, rm, truncate, utimes, writeFile } from 'node:fs/promises'
import { appendFileSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setImmediate as turn } from 'node:timers/promises'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { tone, toWav } from '../../../test/support/audio.ts'
import { until } from '../../../test/support/wait.ts'
import { AppError } from '../../lib/errors.ts'
import { markAsBroken, markAsGrowing, markAsWhole } from '../../lib/growing-file.ts'
import { wavHeader, wavHeaderBytes } from '../../lib/audio/wav-header.ts'
import { Clips } from './clips.ts'
import { createLaws } from '../codecs/g711.ts'

const laws = createLaws()
const secondBytes = 8000
let directory: string
const made: Clips[] = []

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'clips-'))
})

// A clip left half coded would be coded to its end during the next tests.
afterEach(async () => {
  await Promise.all(made.splice(0).map((clips) => clips.close()))
})

afterAll(async () => {
  await rm(directory, { recursive: true })
})

function clipsOf(
  memorySeconds: number,
  diskSeconds = 0,
  { idleDiskSeconds = 0, maxSeconds = 7200, scratch = mkdtempSync(join(directory, 'scratch-')) } = {},
): Clips {
  const clips = new Clips({
    laws,
    directory: scratch,
    maxMemoryBytes: memorySeconds * secondBytes,
    maxDiskBytes: diskSeconds * secondBytes,
    maxIdleDiskBytes: idleDiskSeconds * secondBytes,
    maxSeconds,
  })
  made.push(clips)
  return clips
}

async function wav(name: string, seconds: number, sampleRate = 8000): Promise<string> {
  const path = join(directory, name)
  await writeFile(path, toWav(tone(440, seconds * 1000, { sampleRate })))
  return path
}

/** Returns a silent file of this length. It is sparse, so that creating it takes no time, only reading it. */
async function longWav(name: string, seconds: number, sampleRate = 8000): Promise<string> {
  const path = join(directory, name)
  const bytes = seconds * sampleRate * 2
  await writeFile(path, wavHeader(sampleRate, bytes))
  await truncate(path, wavHeaderBytes + bytes)
  return path
}

describe('clips', () => {
  it('are coded once for all who want them, per form', async () => {
    const clips = clipsOf(60)
    const path = await wav('once.wav', 2)
    const [first, second] = await Promise.all([clips.acquire(path, 'PCMU'), clips.acquire(path, 'PCMU')])
    expect(second).toBe(first)
    expect(await clips.acquire(path, 'PCMU')).toBe(first)
    expect(await clips.acquire(path, 'PCMA')).not.toBe(first)
    expect(first).toMatchObject({ totalFrames: 100, form: { name: 'PCMU' } })
    await until('all frames', () => first.readyFrames === 100)
  })

  it.each([
    [16_000, 'wide', 640],
    [48_000, 'wide', 640],
    [11_025, 'PCMU', 160],
    [8000, 'PCMU', 160],
  ] as const)('of %i Hz are kept as %s for a wide codec', async (rate, name, frameBytes) => {
    const path = await wav(`of ${rate}.wav`, 1, rate)
    const clip = await clipsOf(60).acquire(path, 'wide')
    expect(clip).toMatchObject({ totalFrames: 50, form: { name, frameBytes }, bytes: 50 * frameBytes })
    await until('all frames', () => clip.readyFrames === 50)
  })

  it('can be played before they are wholly coded', async () => {
    const clip = await clipsOf(0, 700).acquire(await longWav('long.wav', 600, 48_000), 'PCMU')
    expect(clip.readyFrames).toBeGreaterThan(0)
    expect(clip.readyFrames).toBeLessThan(clip.totalFrames)
  })

  it('end in whole frames, filled up with silence', async () => {
    const clip = await clipsOf(10).acquire(await wav('odd.wav', 0.05), 'PCMA')
    expect(clip.totalFrames).toBe(3)
    await until('all frames', () => clip.readyFrames === 3)
    const { bytes, offset } = clip.open(0).at(2)!
    const last = bytes.subarray(offset, offset + 160)
    expect([...last.subarray(80)].every((octet) => octet === laws.PCMA.silence)).toBe(true)
  })

  it('make room by forgetting the one that was unused longest, never one that plays', async () => {
    const clips = clipsOf(3)
    const paths = [
      await wav('a.wav', 1),
      await wav('b.wav', 1),
      await wav('c.wav', 1),
      await wav('d.wav', 1),
    ] as const
    const [a, b] = [await clips.acquire(paths[0], 'PCMU'), await clips.acquire(paths[1], 'PCMU')]
    const c = await clips.acquire(paths[2], 'PCMU')
    await until('all coded', () => [a, b, c].every((clip) => clip.readyFrames === 50))
    await expect(clips.acquire(paths[3], 'PCMU')).rejects.toMatchObject({ code: 'overloaded' })
    clips.release(b)
    const d = await clips.acquire(paths[3], 'PCMU')
    expect(d.totalFrames).toBe(50)
    expect(await clips.acquire(paths[0], 'PCMU')).toBe(a)
    await expect(clips.acquire(paths[1], 'PCMU')).rejects.toMatchObject({ code: 'overloaded' })
  })

  it('go to the disk when they are long, or when the memory is full of others that play', async () => {
    const clips = clipsOf(100, 100)
    const long = await clips.acquire(await wav('40s.wav', 40), 'PCMU')
    expect(long.isOnDisk).toBe(true)
    const playing = [1, 2, 3, 4].map(async (name) => clips.acquire(await wav(`${name}.wav`, 25), 'PCMU'))
    expect((await Promise.all(playing)).map(({ isOnDisk }) => isOnDisk)).toEqual([false, false, false, false])
    const further = await clips.acquire(await wav('further.wav', 1), 'PCMU')
    expect(further.isOnDisk).toBe(true)
    const frames = further.open(0)
    const frame = await until('the first frame', () => frames.at(0))
    expect(frame.bytes.subarray(frame.offset, frame.offset + 160).some((octet) => octet !== 0xff)).toBe(true)
  })

  it('are removed from the disk after their last listener, except those kept for the next one', async () => {
    const scratch = mkdtempSync(join(directory, 'scratch-'))
    const clips = clipsOf(0, 100, { idleDiskSeconds: 40, scratch })
    const names = (): Promise<string[]> => readdir(scratch)
    const first = await clips.acquire(await wav('first.wav', 35), 'PCMU')
    const second = await clips.acquire(await wav('second.wav', 35), 'PCMU')
    await until('all coded', () => first.isWhole && second.isWhole)
    expect(await names()).toHaveLength(2)
    clips.release(first)
    clips.release(second)
    await until('one to go', async () => (await names()).length === 1)
    expect(await clips.acquire(await wav('second.wav', 35), 'PCMU')).not.toBe(first)
  })

  it('are read again when their file changed, and the old one goes with its last listener', async () => {
    const clips = clipsOf(4)
    const path = await wav('changing.wav', 2)
    const old = await clips.acquire(path, 'PCMU')
    await until('all frames', () => old.readyFrames === 100)
    await wav('changing.wav', 1)
    await utimes(path, 1, 1)
    const changed = await clips.acquire(path, 'PCMU')
    expect(changed.totalFrames).toBe(50)
    await expect(clips.acquire(await wav('other.wav', 2), 'PCMU')).rejects.toMatchObject({
      code: 'overloaded',
    })
    clips.release(old)
    await clips.acquire(await wav('other.wav', 2), 'PCMU')
  })

  it('end early when their file is cut short while it is read', async () => {
    const path = await longWav('cut.wav', 600)
    const clip = await clipsOf(0, 700).acquire(path, 'PCMU')
    await truncate(path, 1_000_001)
    await until('the end', () => clip.readyFrames === clip.totalFrames)
    expect(clip.failure).toBeUndefined()
    expect(clip.totalFrames).toBeLessThan(30_000)
  })

  /** Returns one second of a WAV file that does not state its length, and grows second by second. */
  async function growing(name: string) {
    const path = join(directory, name)
    const second = toWav(tone(440, 1000)).subarray(wavHeaderBytes)
    await markAsGrowing(path)
    await writeFile(path, Buffer.concat([wavHeader(8000, 0), second]))
    return {
      path,
      grow: (seconds: number) => appendFile(path, Buffer.concat(Array<Buffer>(seconds).fill(second))),
    }
  }

  it('can be played while their file grows, are coded once, and end where it ends', async () => {
    const clips = clipsOf(0, 2 * 3600)
    const { path, grow } = await growing('growing.wav')
    const clip = await clips.acquire(path, 'PCMU')
    await until('what is there', () => clip.readyFrames >= 50)
    expect(clip.isWhole).toBe(false)
    await grow(3)
    await until('what came', () => clip.readyFrames >= 190)
    expect(await clips.acquire(path, 'PCMU')).toBe(clip)
    await grow(1)
    await markAsWhole(path)
    await until('the end', () => clip.isWhole)
    expect(clip).toMatchObject({ totalFrames: 250, failure: undefined })
    expect(await clips.acquire(path, 'PCMU')).toBe(clip)
    // The space reserved for two hours of it is free again.
    await clips.acquire(await longWav('hour.wav', 3600), 'PCMU')
  })

  it('of unknown length take only the space that they need, so that a few of them refuse no other audio', async () => {
    const clips = clipsOf(0, 2 * 3600)
    for (const name of ['one', 'two', 'three'])
      await clips.acquire((await growing(`${name}.wav`)).path, 'PCMU')
    const clip = await clips.acquire(await longWav('beside them.wav', 3600), 'PCMU')
    expect(clip.readyFrames).toBeGreaterThan(0)
  })

  it('of unknown length end where no more space is left', async () => {
    const { path, grow } = await growing('too much.wav')
    const clips = clipsOf(0, 150)
    const clip = await clips.acquire(path, 'PCMU')
    await grow(200)
    await until('its end', () => clip.failure)
    expect(clip.failure).toMatchObject({ code: 'overloaded' })
    expect(clip.readyFrames).toBeGreaterThan(100 * 50)
    expect(clip.readyFrames).toBeLessThanOrEqual(150 * 50)
  })

  it('are whole when their file becomes whole while it is being opened', async () => {
    const clips = clipsOf(0, 2 * 3600)
    const second = toWav(tone(440, 1000)).subarray(wavHeaderBytes)
    for (let turns = 0; turns < 40; turns += 1) {
      const { path } = await growing(`opened-${turns}.wav`)
      const acquiring = clips.acquire(path, 'PCMU')
      // The end comes between two steps of the opening, another two each time.
      for (let passed = 0; passed < turns; passed += 1) await turn()
      appendFileSync(path, second)
      rmSync(`${path}.grows`)
      const clip = await acquiring
      await until('the end', () => clip.isWhole)
      expect([turns, clip.totalFrames]).toEqual([turns, 100])
      clips.release(clip)
    }
  })

  it('do not wait for one whose file has not grown', async () => {
    const clips = clipsOf(60, 2 * 3600)
    const { path } = await growing('slow.wav')
    await clips.acquire(path, 'PCMU')
    const other = await clips.acquire(await wav('beside.wav', 2), 'PCMU')
    await until('all of the other', () => other.isWhole)
    await markAsWhole(path)
  })

  it('fail with the error of the writer of the file, after the part that is there', async () => {
    const clips = clipsOf(0, 2 * 3600)
    const { path } = await growing('broken.wav')
    const clip = await clips.acquire(path, 'PCMU')
    await markAsBroken(path, new AppError('audio_not_found', 'the audio URL broke off'))
    await until('its end', () => clip.failure)
    expect(clip.failure).toMatchObject({ code: 'audio_not_found', message: 'the audio URL broke off' })
    expect(clip.readyFrames).toBeGreaterThanOrEqual(25)
    await expect(clips.acquire(path, 'PCMU')).rejects.toMatchObject({ message: 'the audio URL broke off' })
  })

  it.each([
    ['longer than 2 hours', 121 * 60 * 16_000],
    ['larger than 256 MB', 257 * 1024 * 1024],
  ])('are refused when %s', async (_name, bytes) => {
    const path = await wav('large.wav', 1)
    const file = toWav(tone(1, 10))
    file.writeUInt32LE(bytes, 40)
    await writeFile(path, file)
    await truncate(path, bytes + 44)
    await expect(clipsOf(0, 40_000).acquire(path, 'PCMU')).rejects.toMatchObject({
      code: 'audio_not_supported',
    })
  })

  it('of a length that is not stated end with the longest audio, for the reason of one that states it', async () => {
    const clips = clipsOf(0, 100, { maxSeconds: 10 })
    const path = join(directory, 'endless.wav')
    const file = toWav(tone(440, 12_000))
    file.writeUInt32LE(0, 40)
    await writeFile(path, file)
    await markAsGrowing(path)
    const clip = await clips.acquire(path, 'PCMU')
    await until('its end', () => clip.failure)
    expect(clip.failure).toMatchObject({
      code: 'audio_not_supported',
      message: 'the audio is longer than 2 hours',
    })
    expect(clip.readyFrames).toBe(500)
    await markAsWhole(path)
  })

  it('that are missing are audio_not_found', async () => {
    await expect(clipsOf(1).acquire(join(directory, 'none.wav'), 'PCMU')).rejects.toMatchObject({
      code: 'audio_not_found',
    })
  })
})
