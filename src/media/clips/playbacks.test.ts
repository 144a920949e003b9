import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { tone, toWav } from '../../../test/support/audio.ts'
import { until } from '../../../test/support/wait.ts'
import { Clips } from './clips.ts'
import { createLaws } from '../codecs/g711.ts'
import type { Frame } from '../frames/frame.ts'
import type { PlayResult } from '../media.ts'
import { Playbacks } from './playbacks.ts'

const laws = createLaws()
let directory: string
let clips: Clips
let playbacks: Playbacks
let nowMs: number

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'playbacks-'))
  await writeFile(join(directory, 'long.wav'), toWav(tone(410, 1000)))
  await writeFile(join(directory, 'short.wav'), toWav(tone(410, 60)))
})

afterAll(async () => {
  await rm(directory, { recursive: true })
})

beforeEach(() => {
  clips = new Clips({ laws, directory, maxMemoryBytes: 1_000_000, maxDiskBytes: 0, maxIdleDiskBytes: 0 })
  playbacks = new Playbacks(clips, laws)
  nowMs = 0
})

function play(id: number, file: string, follows = false): Promise<PlayResult> {
  return playbacks.play({ id, path: join(directory, file), offsetMs: 0, rounds: 1, follows }, 'PCMU')
}

const next = (): Frame | undefined => playbacks.next((nowMs += 20))

/** Reading takes real time. */
const first = (): Promise<Frame> => until('the first frame', () => next())

describe('playbacks', () => {
  it('are none at first', () => {
    expect(playbacks.isPlaying).toBe(false)
    expect(next()).toBeUndefined()
    expect(playbacks.takeTail()).toBeUndefined()
  })

  it('play from the moment they are requested, also while the file is still being read', async () => {
    const result = play(1, 'short.wav')
    expect(playbacks.isPlaying).toBe(true)
    await first()
    expect([next(), next(), next()].map((frame) => frame !== undefined)).toEqual([true, true, false])
    expect(await result).toEqual({ reason: 'completed', playedMs: 60 })
    expect(playbacks.isPlaying).toBe(false)
    // A playback that has ended leaves nothing to be cut.
    expect(playbacks.takeTail()).toBeUndefined()
  })

  it('follow each other without a silent tick', async () => {
    const results = [play(1, 'short.wav'), play(2, 'short.wav', true), play(3, 'short.wav', true)]
    await first()
    // All of them wait for the same file.
    await new Promise((resolve) => setImmediate(resolve))
    expect(playbacks.isPlaying).toBe(true)
    for (let frame = 1; frame < 9; frame += 1) expect(next(), `frame ${frame}`).toBeDefined()
    expect(next()).toBeUndefined()
    expect((await Promise.all(results)).map(({ playedMs }) => playedMs)).toEqual([60, 60, 60])
  })

  it('wait for each other up to three behind the one that plays', async () => {
    const results = [1, 2, 3, 4].map((id) => play(id, 'long.wav', true))
    await expect(play(5, 'long.wav', true)).rejects.toMatchObject({ code: 'overloaded' })
    playbacks.stopAll()
    expect((await Promise.all(results)).map(({ reason }) => reason)).toEqual(Array(4).fill('stopped'))
  })

  it('that are stopped leave their next frame as a tail, once', async () => {
    const result = play(1, 'long.wav')
    await first()
    const second = next()?.samples().slice()
    playbacks.stop(7)
    expect(playbacks.takeTail()).toBeUndefined()
    playbacks.stop(1)
    expect(await result).toEqual({ reason: 'stopped', playedMs: 40 })
    const tail = playbacks.takeTail()?.samples()
    expect(tail).toHaveLength(160)
    // It continues where the second one ended.
    const step = Math.abs((tail?.[0] ?? 0) - (second?.at(-1) ?? 0))
    expect(step).toBeLessThan(6000)
    expect(playbacks.takeTail()).toBeUndefined()
    expect(next()).toBeUndefined()
  })

  it('that had not begun leave no tail when they are stopped', async () => {
    const result = play(1, 'long.wav')
    playbacks.stop(1)
    expect(await result).toEqual({ reason: 'stopped', playedMs: 0 })
    expect(playbacks.takeTail()).toBeUndefined()
  })

  it('are stopped by one that does not follow them', async () => {
    const former = [play(1, 'long.wav'), play(2, 'long.wav', true)]
    await first()
    const latter = play(3, 'short.wav')
    expect((await Promise.all(former)).map(({ reason }) => reason)).toEqual(['stopped', 'stopped'])
    expect(playbacks.takeTail()).toBeDefined()
    await until('its end', () => {
      next()
      return !playbacks.isPlaying
    })
    expect(await latter).toEqual({ reason: 'completed', playedMs: 60 })
  })

  it('of a file that cannot be played end, and the next one plays', async () => {
    const failed = play(1, 'none.wav')
    const following = play(2, 'short.wav', true)
    await expect(failed).rejects.toMatchObject({ code: 'audio_not_found' })
    await first()
    expect(next()).toBeDefined()
    playbacks.stopAll()
    expect((await following).reason).toBe('stopped')
  })
})
