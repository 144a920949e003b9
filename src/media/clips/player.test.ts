import { describe, expect, it } from 'vitest'
import { until } from '../../../test/support/wait.ts'
import type { Clip } from './clip.ts'
import type { Clips } from './clips.ts'
import type { Frames } from './frame-reader.ts'
import { createClipForms } from './clip-form.ts'
import { createLaws } from '../codecs/g711.ts'
import { Player } from './player.ts'

const bytes = Buffer.alloc(160)

/** Returns a player of a clip of `totalFrames` frames, of which those are available that `isThere` returns true for. */
function playerOf(totalFrames: number, rounds: number, isThere: (index: number) => boolean): Player {
  const asked: Frames = {
    at: (index) => (isThere(index) ? { bytes, offset: 0 } : undefined),
    failure: undefined,
  }
  const clip: Partial<Clip> = {
    form: createClipForms(createLaws()).PCMU,
    totalFrames,
    readyFrames: totalFrames,
    isWhole: true,
    failure: undefined,
    open: () => asked,
  }
  const clips = { acquire: () => Promise.resolve(clip), release: () => undefined } as unknown as Clips
  return new Player({ clips, path: '', form: 'PCMU', offsetMs: 0, rounds })
}

describe('a playback', () => {
  it('waits in silence for a slow disk, reports how long, and leaves nothing out', async () => {
    let isSlow = false
    const player = playerOf(4, 1, () => !isSlow)
    let nowMs = 0
    await until('the first frame', () => player.next(nowMs))
    isSlow = true
    for (let tick = 0; tick < 5; tick += 1) expect(player.next((nowMs += 20))).toBeUndefined()
    isSlow = false
    for (let frame = 0; frame < 3; frame += 1) expect(player.next((nowMs += 20))).toBeDefined()
    expect(player.next((nowMs += 20))).toBeUndefined()
    expect(await player.result).toEqual({ reason: 'completed', playedMs: 80, missedMs: 100 })
  })

  it('gives up a disk that delivers nothing for ten seconds', async () => {
    const player = playerOf(2, 1, (index) => index === 0)
    await until('the first frame', () => player.next(0))
    player.next(20)
    player.next(10_021)
    await expect(player.result).rejects.toMatchObject({ code: 'audio_not_found' })
  })

  it.each([1, Infinity])('of an empty clip ends immediately, also with %s rounds', async (rounds) => {
    const player = playerOf(0, rounds, () => true)
    await until('its end', () => {
      player.next(0)
      return player.hasEnded
    })
    expect(await player.result).toEqual({ reason: 'completed', playedMs: 0 })
  })
})
