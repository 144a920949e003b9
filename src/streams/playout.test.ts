// The playout of a server's audio without a socket: `beat` is called as the thread does, and media reads a frame of 20
// ms.
import { describe, expect, it } from 'vitest'
import { tone, toneShare, toWav } from '../../test/support/audio.ts'
import { levelDb, longestGapMs } from '../../test/support/virtual-legs.ts'
import { AudioRing, createRing } from '../lib/audio/audio-ring.ts'
import { ResamplerTables } from '../lib/audio/resampler.ts'
import { WireDecoder } from './pcm.ts'
import { maxClips, maxMarks, Playout } from './playout.ts'

const tables = new ResamplerTables()
const frame = 160

/** Returns samples of one value, as octets. */
function octets(samples: number, value = 1000): Uint8Array {
  const bytes = Buffer.alloc(samples * 2)
  for (let at = 0; at < samples; at += 1) bytes.writeInt16LE(value, at * 2)
  return bytes
}

function stage() {
  const { memory } = createRing({ samples: frame })
  const ring = new AudioRing(memory)
  const events: string[] = []
  const playout = new Playout(memory, (event) =>
    events.push(event.type === 'done' ? `done ${event.id} ${event.ms}` : `${event.event} ${event.name}`),
  )
  const decoder = new WireDecoder(8000, tables)
  const into = new Int16Array(frame)
  /** Returns the audio after each beat: the first sample of each frame, or undefined. */
  const hear = (beats: number): (number | undefined)[] =>
    Array.from({ length: beats }, () => {
      playout.beat()
      return ring.read(into) === undefined ? undefined : into[0]
    })
  return {
    playout,
    ring,
    events,
    hear,
    clip: (frames: number, value = 1000, more: { id?: string; isQueued?: boolean; rate?: number } = {}) => {
      const { id, isQueued = true, rate = 8000 } = more
      const speech = {
        bytes: octets((frames * rate) / 50, value),
        rate,
        decoder: new WireDecoder(rate, tables),
      }
      return playout.play(speech, { id, isQueued })
    },
    push: (samples: number, value = 1000) =>
      playout.push({ bytes: octets(samples, value), rate: 8000, decoder }),
  }
}

/** The value of the zeros after the audio. */
const over = 0

describe('a clip', () => {
  it('is heard at once, whole, then comes its end, and silence', () => {
    const { clip, hear, events } = stage()
    clip(2, 1000, { id: 'a' })
    expect(hear(5)).toEqual([1000, 1000, over, undefined, undefined])
    expect(events).toEqual(['done a 40'])
  })

  it('that ends within a frame is filled up with silence', () => {
    const { playout, ring } = stage()
    playout.play(
      { bytes: octets(200), rate: 8000, decoder: new WireDecoder(8000, tables) },
      { id: undefined, isQueued: true },
    )
    playout.beat()
    const into = new Int16Array(frame)
    ring.read(into)
    ring.read(into)
    expect([into[39], into[40]]).toEqual([1000, 0])
    expect(playout.heardMs).toBe(25)
  })

  it('goes to media a few frames ahead, and no more, however long it is', () => {
    const { clip, playout, ring } = stage()
    clip(5000)
    for (let beat = 0; beat < 10; beat += 1) playout.beat()
    expect(ring.length).toBe(3)
    expect(playout.waitingMs).toBeGreaterThan(99_000)
  })

  it.each([16_000, 44_100, 48_000])('of %i Hz lasts as long as it is', (rate) => {
    const { clip, hear, events } = stage()
    clip(50, 1000, { id: 'a', rate })
    const heard = hear(60).filter((value) => value !== undefined && value !== over)
    expect(heard.length).toBeGreaterThanOrEqual(49)
    const [, ms] = /^done a (\d+)$/.exec(events[0] ?? '') ?? []
    expect(Math.abs(Number(ms) - 1000)).toBeLessThanOrEqual(5)
  })

  it('waits for those before it when it is queued, and takes their place when it is not', () => {
    const { clip, hear, events } = stage()
    clip(1, 1, { id: 'a' })
    clip(1, 2, { id: 'b' })
    expect(hear(3)).toEqual([1, 2, over])
    clip(9, 3, { id: 'c' })
    clip(9, 4, { id: 'd' })
    hear(1)
    clip(1, 5, { id: 'e', isQueued: false })
    expect(events.slice(2)).toEqual(['done c 60', 'done d 0'])
    expect(hear(8)).toContain(5)
    expect(events.at(-1)).toBe('done e 20')
  })

  it('beyond ten is not taken, until one has been heard', () => {
    const { clip, hear } = stage()
    const taken = Array.from({ length: maxClips + 1 }, () => clip(5))
    expect(taken).toEqual([...Array<boolean>(maxClips).fill(true), false])
    hear(5)
    expect(clip(1)).toBe(true)
  })

  it('of nothing is over at once', () => {
    const { clip, hear, events } = stage()
    clip(0, 0, { id: 'a' })
    expect(hear(2)).toEqual([undefined, undefined])
    expect(events).toEqual(['done a 0'])
  })
})

describe('a stream', () => {
  it('begins once there are 60 ms of it, and goes on without a gap', () => {
    const { push, hear } = stage()
    push(frame)
    expect(hear(1)).toEqual([undefined])
    push(frame * 2)
    expect(hear(3)).toEqual([1000, 1000, 1000])
  })

  it('begins with less when no more has come for three beats', () => {
    const { push, hear } = stage()
    push(frame)
    expect(hear(3)).toEqual([undefined, undefined, 1000])
  })

  it('in pieces of any length is heard as if it had come in one', () => {
    const { playout, hear } = stage()
    const decoder = new WireDecoder(8000, tables)
    const whole = octets(frame * 4, 1234)
    for (let at = 0; at < whole.length; at += 7)
      playout.push({ bytes: whole.subarray(at, at + 7), rate: 8000, decoder })
    expect(Math.round(playout.waitingMs)).toBe(80)
    expect(hear(4)).toEqual([1234, 1234, 1234, 1234])
  })

  it('keeps nothing of the memory in which its pieces came', () => {
    const { playout, hear } = stage()
    const decoder = new WireDecoder(8000, tables)
    const memory = octets(frame * 4, 1234)
    playout.push({ bytes: memory, rate: 8000, decoder })
    memory.fill(0)
    expect(hear(3)).toEqual([1234, 1234, 1234])
  })

  it('that pauses is over, and begins again with what comes next', () => {
    const { push, hear } = stage()
    push(frame * 3)
    expect(hear(3)).toEqual([1000, 1000, 1000])
    expect(hear(6).filter((value) => value !== undefined && value !== over)).toEqual([])
    push(frame * 3, 2000)
    expect(hear(3)).toEqual([2000, 2000, 2000])
  })

  it('of no octets has no effect', () => {
    const { push, playout, hear } = stage()
    push(0)
    expect([playout.waitingMs, ...hear(4)]).toEqual([0, undefined, undefined, undefined, undefined])
  })
})

describe('a mark', () => {
  it('is reported when all before it has been handed over, and at once where nothing waits', () => {
    const { playout, clip, hear, events } = stage()
    playout.mark('now')
    expect(events).toEqual(['playout now'])
    clip(5, 1, { id: 'a' })
    playout.mark('behind')
    expect(events).toHaveLength(1)
    hear(5)
    expect(events.slice(1)).toEqual(['done a 100', 'playout behind'])
  })

  it('is cleared by itself, with what waits, and by a clip that takes its place', () => {
    const { playout, clip, events } = stage()
    const ends: readonly (() => void)[] = [
      () => playout.clearMarks(),
      () => playout.kill(),
      () => clip(1, 1, { isQueued: false }),
    ]
    for (const [index, end] of ends.entries()) {
      clip(9)
      playout.mark(String(index))
      end()
    }
    expect(events.filter((event) => event.startsWith('cleared'))).toEqual([
      'cleared 0',
      'cleared 1',
      'cleared 2',
    ])
  })

  it('beyond a hundred is not taken', () => {
    const { playout, clip } = stage()
    clip(9)
    const taken = Array.from({ length: maxMarks + 1 }, (_, index) => playout.mark(String(index)))
    expect(taken.filter((isTaken) => !isTaken)).toHaveLength(1)
  })
})

describe('a kill', () => {
  it('drops the half of a sample that came last, so that later samples are not read across their bounds', () => {
    const { playout, hear } = stage()
    const decoder = new WireDecoder(8000, tables)
    const push = (bytes: Uint8Array): void => playout.push({ bytes, rate: 8000, decoder })
    push(octets(3 * frame + 1).subarray(0, -1))
    hear(8)
    playout.kill()
    push(octets(3 * frame))
    expect(new Set(hear(10))).toEqual(new Set([1000, undefined]))
  })

  it('silences what waits; of each clip the end is reported with what was heard of it', () => {
    const { playout, clip, hear, events } = stage()
    clip(9, 1, { id: 'a' })
    clip(9, 2, { id: 'b' })
    hear(1)
    playout.kill()
    expect(events).toEqual(['done a 60', 'done b 0'])
    expect([playout.waitingMs, hear(6).filter((value) => value === 2)]).toEqual([0, []])
    clip(1, 3)
    expect(hear(3)).toContain(3)
  })

  it('of nothing has no effect', () => {
    const { playout, events, hear } = stage()
    playout.kill()
    expect([events, hear(1)]).toEqual([[], [undefined]])
  })
})

describe('in a ring that has room for 16 kHz', () => {
  function wideStage() {
    const { memory } = createRing({ samples: 320 })
    const ring = new AudioRing(memory)
    const events: number[] = []
    const playout = new Playout(memory, (event) => {
      if (event.type === 'done') events.push(event.ms)
    })
    const into = new Int16Array(320)
    return {
      playout,
      ring,
      events,
      clip: (rate: number, ms: number, hz = 1000) =>
        playout.play(
          { bytes: sineOctets(rate, ms, hz), rate, decoder: new WireDecoder(rate, tables) },
          { id: undefined, isQueued: true },
        ),
      /** Returns the kinds of frames, and their audio at 16 kHz, with samples of narrow frames doubled. */
      hear: (beats: number) => {
        const found: (string | undefined)[] = []
        const samples: number[] = []
        for (let beat = 0; beat < beats; beat += 1) {
          playout.beat()
          const what = ring.read(into)
          found.push(what)
          if (what !== undefined)
            samples.push(...into.map((_, at) => into[what === 'half' ? at >> 1 : at] ?? 0))
        }
        return { found, samples: Float64Array.from(samples, (sample) => sample / 32_768) }
      },
    }
  }

  const sineOctets = (rate: number, ms: number, hz: number): Uint8Array =>
    toWav(tone(hz, ms, { sampleRate: rate })).subarray(44)

  it.each([16_000, 24_000, 44_100, 48_000])(
    'sound of %i Hz is heard with its band where that is wanted',
    (rate) => {
      const { ring, clip, hear, events } = wideStage()
      ring.wantWhole(true)
      clip(rate, 1000, 6000)
      const { found, samples } = hear(50)
      expect(new Set(found)).toEqual(new Set(['sound']))
      const audio = { sampleRate: 16_000, samples: samples.subarray(320, -320) }
      expect(toneShare(audio, 6000)).toBeGreaterThan(0.999)
      expect(Math.abs(levelDb(audio))).toBeLessThan(0.5)
      hear(1)
      expect(events).toEqual([1000])
    },
  )

  it.each([
    [16_000, false],
    [8000, true],
    [12_000, true],
  ])('sound of %i Hz is handed over at 8 kHz (16 kHz wanted: %s)', (rate, isWanted) => {
    const { ring, clip, hear } = wideStage()
    ring.wantWhole(isWanted)
    clip(rate, 1000)
    expect(new Set(hear(49).found)).toEqual(new Set(['half']))
  })

  it('clips of several rates follow each other without a hole, and one goes on when another rate is wanted', () => {
    const { ring, clip, hear, events } = wideStage()
    ring.wantWhole(true)
    // No clip ends at the end of a frame.
    for (const rate of [8000, 16_000, 8000, 48_000]) clip(rate, 490)
    const before = hear(80)
    ring.wantWhole(false)
    const after = hear(18)
    expect(new Set(before.found.slice(30, 45))).toEqual(new Set(['sound']))
    expect(new Set(after.found.slice(4))).toEqual(new Set(['half']))
    for (const { samples } of [before, after]) {
      expect(longestGapMs({ sampleRate: 16_000, samples })).toBe(0)
      expect(toneShare({ sampleRate: 16_000, samples }, 1000)).toBeGreaterThan(0.9)
    }
    hear(2)
    // The clip that was playing when the wanted rate changed lost less than 3 ms.
    expect(events.slice(0, 3)).toEqual([490, 490, 490])
    expect(events[3]).toBeGreaterThanOrEqual(487)
  })
})
