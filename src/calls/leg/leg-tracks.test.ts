import { describe, expect, it } from 'vitest'
import { createFakeClock } from '../../../test/support/fake-clock.ts'
import type { BorrowedClip } from '../../contracts/speech.ts'
import type { Background, BackgroundEnd } from './leg-sound.ts'
import { LegTracks } from './leg-tracks.ts'

/** Tracks over a sound that a test ends. Clips without length end by themselves. */
function stage() {
  const clock = createFakeClock()
  const laid: { slot: string; background: Background; end: (end: BackgroundEnd) => void }[] = []
  const removed: string[] = []
  const released: string[] = []
  const sound = {
    lay(slot: string, background: Background): Promise<BackgroundEnd> {
      const { promise, resolve } = Promise.withResolvers<BackgroundEnd>()
      laid.push({ slot, background, end: resolve })
      if ('path' in background.clip && background.clip.path === 'nothing') resolve('completed')
      return promise
    },
    remove(slot: string): void {
      removed.push(slot)
      for (const one of laid) if (one.slot === slot) one.end('stopped')
    },
  }
  const tracks = new LegTracks(sound, clock)
  const clip = (path: string): BorrowedClip => ({ path, release: () => void released.push(path) })
  const play = (paths: string[], more: { isRepeated?: boolean; gainDb?: number } = {}, track = 'rain') =>
    tracks.play(track, { clips: paths.map(clip), isRepeated: false, gainDb: 0, ...more }, tracks.begin(track))
  return {
    clock,
    tracks,
    laid,
    removed,
    released,
    play,
    paths: () => laid.map(({ background: { clip } }) => 'path' in clip && clip.path),
  }
}

const settled = async (): Promise<void> => {
  for (let step = 0; step < 8; step += 1) await Promise.resolve()
}

describe('a track', () => {
  it('plays its clips one after the other, under what is said, and gives them back at the end', async () => {
    const { tracks, laid, paths, released, play } = stage()
    tracks.add('rain')
    const end = play(['one', 'two'], { gainDb: -6 })
    expect(laid).toMatchObject([
      { slot: 'track:rain', background: { rounds: 1, gainDb: -6, staysUnderPrompts: true } },
    ])
    laid[0]?.end('completed')
    await settled()
    expect([paths(), released]).toEqual([['one', 'two'], []])
    laid[1]?.end('completed')
    expect(await end).toBe('completed')
    expect(released).toEqual(['one', 'two'])
  })

  it('leaves a single clip that is repeated to media, and repeats several by itself', async () => {
    const { clock, tracks, laid, paths, play } = stage()
    tracks.add('rain')
    void play(['one'], { isRepeated: true })
    expect(laid[0]?.background.rounds).toBe(Infinity)
    void play(['one', 'two'], { isRepeated: true })
    for (let count = 1; count <= 4; count += 1) {
      clock.advance(200)
      laid[count]?.end('completed')
      await settled()
    }
    expect(paths()).toEqual(['one', 'one', 'two', 'one', 'two', 'one'])
  })

  it('waits between rounds of no length, and not once it is silenced', async () => {
    const { clock, tracks, laid, released, play } = stage()
    tracks.add('rain')
    const end = play(['nothing', 'nothing'], { isRepeated: true })
    await settled()
    expect(laid).toHaveLength(2)
    clock.advance(999)
    await settled()
    expect(laid).toHaveLength(2)
    clock.advance(1)
    await settled()
    expect(laid).toHaveLength(4)
    tracks.silence('rain')
    expect(await end).toBe('stopped')
    expect([released.length, clock.pending]).toEqual([2, 0])
  })

  it('with nothing to repeat ends when it is silenced, and lets others run', async () => {
    const clock = createFakeClock()
    let looks = 0
    const monotonic = (): number => {
      looks += 1
      if (looks > 100) throw new Error('rounds without end')
      return clock.monotonic()
    }
    const sound = { lay: () => Promise.reject(new Error('nothing to lay')), remove: () => undefined }
    const tracks = new LegTracks(sound, { ...clock, monotonic })
    tracks.add('rain')
    const end = tracks.play('rain', { clips: [], isRepeated: true, gainDb: 0 }, tracks.begin('rain'))
    await settled()
    tracks.silence('rain')
    expect(await end).toBe('stopped')
  })

  it.each(['failed', 'stopped'] as const)(
    'whose clip has %s plays no other, and gives all back',
    async (how) => {
      const { tracks, laid, released, play } = stage()
      tracks.add('rain')
      const end = play(['one', 'two'], { isRepeated: true })
      laid[0]?.end(how)
      expect(await end).toBe(how)
      expect([laid.length, released]).toEqual([1, ['one', 'two']])
    },
  )

  it('plays one thing at a time: what was begun before is not to be played any more', async () => {
    const { tracks, laid, play, released } = stage()
    tracks.add('rain')
    const late = tracks.begin('rain')
    const end = play(['new'])
    expect(late.aborted).toBe(true)
    expect(
      await tracks.play(
        'rain',
        { clips: [{ path: 'old', release: () => void released.push('old') }], isRepeated: false, gainDb: 0 },
        late,
      ),
    ).toBe('stopped')
    expect([laid.length, released]).toEqual([1, ['old']])
    laid[0]?.end('completed')
    expect(await end).toBe('completed')
  })
})

describe('the tracks of a leg', () => {
  it('are eight at most; one that is there is added again as it is, and plays on', () => {
    const { tracks, removed, play, laid } = stage()
    for (let count = 1; count <= 8; count += 1) tracks.add(String(count))
    void play(['one'], {}, '8')
    tracks.add('8')
    expect([laid.length, removed]).toEqual([1, []])
    expect(() => tracks.add('9')).toThrow('8 tracks at most')
    tracks.remove('8')
    tracks.add('9')
  })

  it('that are not there cannot be played on, and may be silenced and removed', () => {
    const { tracks, removed } = stage()
    expect(() => tracks.begin('rain')).toThrow('there is no track "rain"')
    tracks.remove('rain')
    expect(removed).toEqual([])
    tracks.silence('rain')
    expect(() => tracks.begin('rain')).toThrow('there is no track')
  })

  it('are silenced for themselves: the others play on', async () => {
    const { tracks, play, laid } = stage()
    tracks.add('rain')
    tracks.add('wind')
    const [rain, wind] = [play(['one'], {}, 'rain'), play(['two'], {}, 'wind')]
    tracks.remove('rain')
    expect(await rain).toBe('stopped')
    laid[1]?.end('completed')
    expect(await wind).toBe('completed')
  })
})
