import { describe, expect, it } from 'vitest'
import { clicks } from '../../../test/support/virtual-legs.ts'
import { Concealment, jointSamples, likeness } from './concealment.ts'
import { shorten } from './shorten.ts'

const shortenedFrom = 320

const wave = (hz: number, samples: number, from = 0): Int16Array =>
  Int16Array.from({ length: samples }, (_, at) =>
    Math.round(16_000 * Math.sin((2 * Math.PI * hz * (from + at)) / 8000)),
  )

const asAudio = (samples: Int16Array) => ({
  sampleRate: 8000,
  samples: Float64Array.from(samples, (sample) => sample / 32_768),
})

const loudest = (samples: Int16Array): number => Math.max(...samples.map((sample) => Math.abs(sample)))

describe('what is made up', () => {
  it('is silence while nothing was heard', () => {
    const concealment = new Concealment()
    const made = new Int16Array(160).fill(5)
    concealment.fill(made, 0, 160)
    expect(loudest(made)).toBe(0)
    expect(concealment.isSilent).toBe(true)
  })

  it.each([100, 160, 200, 400, 1000])('goes on with a voice of %i Hz, without a step', (hz) => {
    const concealment = new Concealment()
    const samples = wave(hz, 800)
    for (let at = 0; at < 800; at += 160) concealment.hear(samples, at, 160)
    const made = new Int16Array(80)
    concealment.fill(made, 0, 80)
    const whole = new Int16Array(880)
    whole.set(samples)
    whole.set(made, 800)
    expect(clicks(asAudio(whole), hz)).toEqual([])
    expect(loudest(made)).toBeGreaterThan(14_000)
  })

  it('fades within 60 ms to silence, whatever the pieces that it is asked in', () => {
    for (const piece of [1, 7, 80, 160]) {
      const concealment = new Concealment()
      concealment.hear(wave(400, 400), 0, 400)
      const made = new Int16Array(640)
      for (let at = 0; at + piece <= 640; at += piece) concealment.fill(made, at, piece)
      expect(loudest(made.subarray(0, 80))).toBeGreaterThan(15_000)
      expect(loudest(made.subarray(240, 320))).toBeLessThan(10_000)
      expect(loudest(made.subarray(480, 630))).toBe(0)
      expect(concealment.isSilent).toBe(true)
    }
  })

  it('joins what comes after it without a step, wherever that wave is', () => {
    for (let shift = 0; shift < 20; shift += 1) {
      const concealment = new Concealment()
      concealment.hear(wave(400, 400), 0, 400)
      const after = new Int16Array(320)
      concealment.fill(after, 0, 160)
      after.set(wave(400, 160, shift), 160)
      concealment.hear(after, 160, 160)
      const steps = after
        .subarray(150, 200)
        .map((sample, at, all) => Math.abs(sample - (all[at - 1] ?? sample)))
      // The wave itself changes by 5,000 between samples.
      expect(Math.max(...steps)).toBeLessThan(6500)
    }
  })

  it('changes nothing of what is heard but the joint', () => {
    const concealment = new Concealment()
    concealment.hear(wave(400, 400), 0, 400)
    const undisturbed = wave(400, 160)
    concealment.hear(undisturbed, 0, 160)
    expect(undisturbed).toEqual(wave(400, 160))
    concealment.fill(new Int16Array(160), 0, 160)
    const joined = wave(400, 160, 5)
    concealment.hear(joined, 0, 160)
    expect(joined.subarray(jointSamples)).toEqual(wave(400, 160, 5).subarray(jointSamples))
    expect(joined.subarray(0, jointSamples)).not.toEqual(wave(400, 160, 5).subarray(0, jointSamples))
  })

  it('never leaves the scale', () => {
    const concealment = new Concealment()
    concealment.hear(
      Int16Array.from({ length: 400 }, (_, at) => (at % 40 < 20 ? 32_767 : -32_768)),
      0,
      400,
    )
    const made = new Int16Array(480)
    concealment.fill(made, 0, 480)
    expect(
      made.every((sample, at) => at === 0 || Math.sign(sample) * Math.sign(made[at - 1] ?? 0) >= -1),
    ).toBe(true)
    expect(loudest(made)).toBeLessThanOrEqual(32_768)
  })

  it('is forgotten on request', () => {
    const concealment = new Concealment()
    concealment.hear(wave(400, 400), 0, 400)
    concealment.forget()
    const made = new Int16Array(80)
    concealment.fill(made, 0, 80)
    expect(loudest(made)).toBe(0)
  })
})

describe('likeness', () => {
  it('is one for a repeating wave, and low for noise', () => {
    const samples = wave(400, 600)
    expect(likeness(samples, 300, 20)).toBeGreaterThan(0.999)
    expect(likeness(samples, 300, 10)).toBeLessThan(-0.99)
    expect(Math.abs(likeness(samples, 300, 5))).toBeLessThan(0.1)
  })

  it('does not depend on loudness, and is nothing in silence', () => {
    const samples = wave(400, 600).map((sample) => sample / 100)
    expect(likeness(samples, 300, 20)).toBeGreaterThan(0.99)
    expect(likeness(new Int16Array(600), 300, 20)).toBe(0)
  })
})

describe('a frame that is shortened', () => {
  it.each([110, 200, 400, 440, 700])(
    'leaves out whole waves of %i Hz where it can, and is no click',
    (hz) => {
      const samples = wave(hz, shortenedFrom)
      const frame = new Int16Array(160)
      const used = shorten(samples, frame)
      expect(used).toBeGreaterThanOrEqual(240)
      expect(used).toBeLessThanOrEqual(320)
      const whole = Int16Array.from([...frame, ...wave(hz, 160, used)])
      expect(clicks(asAudio(whole), hz, { tolerance: 0.25 })).toEqual([])
    },
  )

  it.each([1, 40, 159, 160])('ends %i samples later when asked to, whatever the wave', (lag) => {
    const samples = wave(440, shortenedFrom)
    const frame = new Int16Array(160)
    expect(shorten(samples, frame, lag)).toBe(160 + lag)
    expect(frame[159]).toBe(samples[159 + lag])
    expect(Math.abs((frame[0] ?? 0) - (samples[0] ?? 0))).toBeLessThan(400)
  })
})
