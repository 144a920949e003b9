import { describe, expect, it } from 'vitest'
import type { BorrowedClip } from '../../contracts/speech.ts'
import type { PlayOptions } from '../../media/media.ts'
import { clipOf } from '../../../test/support/scripted-engine/scripted-media.ts'
import { playPrompt } from './prompt-player.ts'
import type { Piece } from './prompt-player.ts'

/** A far end that hears each clip at once, and a clock that moves by what was waited for. */
function listener() {
  const heard: PlayOptions['clip'][] = []
  let lent = 0
  let waitedMs = 0
  const sound = (lengthMs: number): Piece => ({
    borrow: async (): Promise<BorrowedClip> => {
      lent += 1
      await Promise.resolve()
      return { ...clipOf(lengthMs), release: () => void (lent -= 1) }
    },
  })
  return {
    heard,
    sound,
    lent: () => lent,
    waitedMs: () => waitedMs,
    options: {
      play: async ({ clip }: PlayOptions) => {
        heard.push(clip)
        await Promise.resolve()
        return { reason: 'completed', playedMs: 100 } as const
      },
      wait: async (ms: number) => {
        waitedMs += ms
        await Promise.resolve()
      },
      nowMs: () => waitedMs + heard.length * 100,
    },
  }
}

const never = new AbortController().signal

describe('a prompt', () => {
  it('plays its pieces in order, round after round, and gives every clip back', async () => {
    const at = listener()
    const pieces = [at.sound(100), at.sound(200)]
    const result = await playPrompt({ pieces, rounds: 2, signal: never }, at.options)
    expect(result).toMatchObject({ reason: 'completed', playedMs: 400 })
    expect(at.heard).toHaveLength(4)
    expect(at.lent()).toBe(0)
  })

  it('is silent where a piece is silence', async () => {
    const at = listener()
    await playPrompt({ pieces: [{ silenceMs: 700 }], rounds: 1, signal: never }, at.options)
    expect(at.waitedMs()).toBe(700)
    expect(at.heard).toEqual([])
  })

  it('is not begun when it was stopped before', async () => {
    const at = listener()
    const pieces = [at.sound(100)]
    const result = await playPrompt({ pieces, rounds: 1, signal: AbortSignal.abort() }, at.options)
    expect(result.reason).toBe('stopped')
    expect(at.lent()).toBe(0)
  })

  it('of a piece that cannot be had fails with its error, after those before it were heard', async () => {
    const at = listener()
    const failing: Piece = { borrow: () => Promise.reject(new Error('gone')) }
    const pieces = [at.sound(100), failing, at.sound(100)]
    await expect(playPrompt({ pieces, rounds: 1, signal: never }, at.options)).rejects.toThrow('gone')
    expect(at.heard).toHaveLength(1)
    expect(at.lent()).toBe(0)
  })
})
