import { describe, expect, it } from 'vitest'
import { toSample } from '../../lib/audio/to-sample.ts'
import { Mixer } from './mixer.ts'
import { isSameSource, toFactor, type Source } from '../wiring.ts'

const full = (value: number): Int16Array => new Int16Array(160).fill(value)

describe('a mix', () => {
  it('of nothing is silence, and of one part that part', () => {
    const mixer = new Mixer()
    mixer.begin()
    expect(mixer.end()).toEqual(full(0))
    const part = Int16Array.from({ length: 160 }, (_, at) => at * 200 - 16_000)
    mixer.begin()
    mixer.add(part, 1, 1)
    expect(mixer.end()).toEqual(part)
  })

  it('is the sum of its parts, each at its gain', () => {
    const mixer = new Mixer()
    mixer.begin()
    mixer.add(full(1000), 1, 1)
    mixer.add(full(2000), 0.5, 0.5)
    mixer.add(full(-300), 2, 2)
    expect(mixer.end()).toEqual(full(1400))
  })

  it('forgets what was mixed before', () => {
    const mixer = new Mixer()
    mixer.begin()
    mixer.add(full(1000), 1, 1)
    mixer.end()
    mixer.begin()
    mixer.add(full(5), 1, 1)
    expect(mixer.end()).toEqual(full(5))
  })

  it.each([
    [0, 1],
    [1, 0],
    [0.25, 4],
  ])('moves from a gain of %d to %d evenly, and arrives with the next frame', (from, to) => {
    const mixer = new Mixer()
    mixer.begin()
    mixer.add(full(1000), from, to)
    const mixed = mixer.end()
    expect(mixed[0]).toBe(from * 1000)
    expect(mixed[80]).toBe(Math.round(((from + to) / 2) * 1000))
    const step = ((to - from) / 160) * 1000
    for (let at = 1; at < 160; at += 1)
      expect(Math.abs((mixed[at] ?? 0) - (mixed[at - 1] ?? 0) - step)).toBeLessThan(1.01)
    expect(Math.abs((mixed[159] ?? 0) + step - to * 1000)).toBeLessThan(1)
  })

  it('that is too loud is clipped, on both sides', () => {
    const mixer = new Mixer()
    mixer.begin()
    mixer.add(full(30_000), 1, 1)
    mixer.add(full(30_000), 1, 1)
    expect(mixer.end()).toEqual(full(32_767))
    mixer.begin()
    mixer.add(full(-30_000), 1, 1)
    mixer.add(full(-30_000), 1, 1)
    expect(mixer.end()).toEqual(full(-32_768))
    expect([32_767.4, 32_768, -32_768.4, -40_000, 0.5, -0.4].map(toSample).map((one) => one + 0)).toEqual([
      32_767, 32_767, -32_768, -32_768, 1, 0,
    ])
  })
})

describe('a gain in dB', () => {
  it.each([
    [0, 1],
    [-Infinity, 0],
    [20, 10],
    [-20, 0.1],
    [6, 1.995],
    [40, 100],
  ])('of %d is a factor of %d', (gainDb, factor) => {
    expect(toFactor(gainDb)).toBeCloseTo(factor, 3)
  })

  it('is at most 40', () => {
    expect([41, 1000, Infinity].map(toFactor)).toEqual([100, 100, 100])
  })
})

describe('a source', () => {
  const ring = (id: string): Source => ({
    kind: 'ring',
    ring: { id, memory: new SharedArrayBuffer(8) },
  })
  const clip = (rest: object = {}): Source => ({ kind: 'clip', path: '/a.wav', ...rest })
  const session = (id: string): Source => ({ kind: 'session', id })
  const room = (id: string): Source => ({ kind: 'room', id })

  it.each<[string, Source, Source]>([
    ['a file', clip(), clip()],
    ['a file from its middle, twice', clip({ offsetMs: 5, rounds: 2 }), clip({ offsetMs: 5, rounds: 2 })],
    ['a session', session('a'), session('a')],
    ['a room', room('a'), room('a')],
    ['a ring, which is another object in each message', ring('3'), ring('3')],
  ])('is the same: %s', (_what, one, other) => {
    expect(isSameSource(one, other)).toBe(true)
  })

  it.each<[string, Source, Source]>([
    ['another file', clip(), clip({ path: '/b.wav' })],
    ['another beginning', clip(), clip({ offsetMs: 20 })],
    ['another number of rounds', clip({ rounds: 1 }), clip({ rounds: 2 })],
    ['another session', session('a'), session('b')],
    ['a room of the name of a session', session('a'), room('a')],
    ['another ring', ring('3'), ring('4')],
    ['a file and a ring', clip(), ring('1')],
  ])('is another one: %s', (_what, one, other) => {
    expect(isSameSource(one, other)).toBe(false)
    expect(isSameSource(other, one)).toBe(false)
  })
})
