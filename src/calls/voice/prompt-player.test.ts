import { describe, expect, it } from 'vitest'
import type { BorrowedClip } from '../../contracts/speech.ts'
import type { PlayOptions, PlayResult } from '../../media/media.ts'
import { clipOf } from '../../../test/support/scripted-engine/scripted-media.ts'
import { playPrompt, type Piece, type Sound } from './prompt-player.ts'

/** A far end that hears each clip immediately, and a clock that moves by the time of each wait. */
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

interface Playing extends PlayOptions {
  readonly end: (result?: Partial<PlayResult>) => void
}

/** Media under control of the test: each piece plays until the test ends it, or it is aborted. */
function stage() {
  const playing: Playing[] = []
  const waits: number[] = []
  const clips: string[] = []
  let lent = 0
  let isQuiet = true
  return {
    playing,
    waits,
    /** The requested clips, in order. */
    clips,
    lent: () => lent,
    silence: (isAtOnce: boolean) => (isQuiet = isAtOnce),
    sound: (name: string, failure?: Error): Sound => ({
      borrow: async () => {
        clips.push(name)
        if (failure !== undefined) throw failure
        lent += 1
        return { path: name, release: () => void (lent -= 1) }
      },
    }),
    options: {
      play: (options: PlayOptions) =>
        new Promise<PlayResult>((resolve) => {
          const end: Playing['end'] = (result = {}) =>
            resolve({ reason: 'completed', playedMs: 1000, ...result })
          options.signal?.addEventListener('abort', () => end({ reason: 'stopped', playedMs: 10 }), {
            once: true,
          })
          playing.push({ ...options, end })
        }),
      wait: (ms: number, signal: AbortSignal) => {
        waits.push(ms)
        if (isQuiet) return Promise.resolve()
        return new Promise<void>((resolve) =>
          signal.addEventListener('abort', () => resolve(), { once: true }),
        )
      },
      nowMs: () => waits.reduce((sum, ms) => sum + ms, 0),
    },
  }
}

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))

describe('a prompt of several pieces', () => {
  it('gives media the next piece while one is heard, and no further one, so that there is no gap', async () => {
    const at = stage()
    const pieces = [at.sound('one'), at.sound('two'), at.sound('three')]
    const result = playPrompt({ pieces, rounds: 1, signal: never }, at.options)
    await turn()
    expect(at.playing.map(({ clip, follows }) => [clip.path, follows])).toEqual([
      ['one', false],
      ['two', true],
    ])
    at.playing[0]?.end()
    await turn()
    expect(at.playing.map(({ clip }) => clip.path)).toEqual(['one', 'two', 'three'])
    at.playing[1]?.end({ missedMs: 40 })
    at.playing[2]?.end({ missedMs: 2 })
    expect(await result).toEqual({ reason: 'completed', playedMs: 3000, missedMs: 42 })
    expect(at.lent()).toBe(0)
  })

  it('fetches the next piece ahead, each piece once however often it is heard', async () => {
    const at = stage()
    const pieces = [at.sound('one'), at.sound('two')]
    const result = playPrompt({ pieces, rounds: 3, signal: never }, at.options)
    for (let piece = 0; piece < 6; piece += 1) {
      await turn()
      at.playing[piece]?.end()
    }
    expect((await result).playedMs).toBe(6000)
    expect(at.clips).toEqual(['one', 'two'])
  })

  it('waits with a silence until what comes before it has been heard', async () => {
    const at = stage()
    const pieces = [at.sound('one'), { silenceMs: 500 }, at.sound('two')]
    const result = playPrompt({ pieces, rounds: 1, signal: never }, at.options)
    await turn()
    expect(at.waits).toEqual([])
    at.playing[0]?.end()
    await turn()
    expect(at.waits).toEqual([500])
    at.playing[1]?.end()
    expect((await result).playedMs).toBe(2500)
  })

  it('that is stopped stops what is heard, begins nothing more and gives every clip back', async () => {
    const at = stage()
    const controller = new AbortController()
    const pieces = [at.sound('one'), at.sound('two'), at.sound('three')]
    const result = playPrompt({ pieces, rounds: Infinity, signal: controller.signal }, at.options)
    await turn()
    controller.abort()
    expect(await result).toEqual({ reason: 'stopped', playedMs: 20 })
    await turn()
    expect(at.playing).toHaveLength(2)
    expect(at.lent()).toBe(0)
  })

  it('that is stopped during a silence is over', async () => {
    const at = stage()
    at.silence(false)
    const controller = new AbortController()
    const pieces = [{ silenceMs: 90_000 }, at.sound('one')]
    const result = playPrompt({ pieces, rounds: 1, signal: controller.signal }, at.options)
    await turn()
    controller.abort()
    expect((await result).reason).toBe('stopped')
    expect(at.clips).toEqual([])
  })

  it('whose second piece cannot be had is heard up to there, and fails then', async () => {
    const at = stage()
    const pieces = [at.sound('one'), at.sound('two', new Error('gone')), at.sound('three')]
    let failure: unknown
    const result = playPrompt({ pieces, rounds: 1, signal: never }, at.options).catch((error: unknown) => {
      failure = error
    })
    await turn()
    expect(failure).toBeUndefined()
    at.playing[0]?.end()
    await result
    expect(failure).toEqual(new Error('gone'))
    expect(at.clips).toEqual(['one', 'two'])
    expect(at.lent()).toBe(0)
  })

  it('fails when media fails, and gives every clip back', async () => {
    const at = stage()
    const play = () => Promise.reject(new Error('the media thread is gone'))
    const pieces = [at.sound('one'), at.sound('two')]
    await expect(playPrompt({ pieces, rounds: 1, signal: never }, { ...at.options, play })).rejects.toThrow(
      'the media thread is gone',
    )
    await turn()
    expect(at.lent()).toBe(0)
  })
})

describe('a prompt of one piece', () => {
  it('is repeated by media itself, from its offset', async () => {
    const at = stage()
    const piece = { ...at.sound('one'), offsetMs: 300 }
    const result = playPrompt({ pieces: [piece], rounds: 5, signal: never }, at.options)
    await turn()
    expect(at.playing).toMatchObject([{ rounds: 5, offsetMs: 300, follows: false }])
    at.playing[0]?.end()
    await result
    expect(at.playing).toHaveLength(1)
    expect(at.waits).toEqual([])
  })

  it('without an offset names none', async () => {
    const at = stage()
    const result = playPrompt({ pieces: [at.sound('one')], rounds: 1, signal: never }, at.options)
    await turn()
    expect(at.playing[0]).not.toHaveProperty('offsetMs')
    at.playing[0]?.end()
    expect(await result).toEqual({ reason: 'completed', playedMs: 1000 })
  })
})

describe('a prompt of no length that is repeated for ever', () => {
  it.each<[string, (at: ReturnType<typeof stage>) => readonly Piece[]]>([
    ['one empty file', (at) => [at.sound('empty')]],
    ['several empty files', (at) => [at.sound('empty'), at.sound('empty too')]],
    ['no silence', () => [{ silenceMs: 0 }]],
    ['nothing at all', () => []],
  ])('pauses between its rounds: %s', async (_, piecesOf) => {
    const at = stage()
    const controller = new AbortController()
    const play = async () => ({ reason: 'completed', playedMs: 0 }) as const
    const wait = async (ms: number) => {
      at.waits.push(ms)
      if (at.waits.filter((waited) => waited > 0).length === 3) controller.abort()
    }
    const result = await playPrompt(
      { pieces: piecesOf(at), rounds: Infinity, signal: controller.signal },
      { ...at.options, play, wait, nowMs: () => 0 },
    )
    expect(result.reason).toBe('stopped')
    expect(at.waits.filter((ms) => ms > 0)).toEqual([1000, 1000, 1000])
  })
})

describe('a prompt that is repeated', () => {
  it.each([
    [
      'and shorter than a tenth of a second pauses between its rounds, and not after the last',
      99,
      [99, 1000, 99],
    ],
    ['and longer does not pause', 100, [100, 100]],
  ])('%s', async (_, silenceMs, expected) => {
    const at = stage()
    await playPrompt({ pieces: [{ silenceMs }], rounds: 2, signal: never }, at.options)
    expect(at.waits).toEqual(expected)
  })
})
