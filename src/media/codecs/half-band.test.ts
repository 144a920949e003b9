import { expect, it } from 'vitest'
import { Doubler, Halver } from './half-band.ts'

const frame = 160

function tone(hz: number, rate: number, samples: number): Int16Array {
  return Int16Array.from({ length: samples }, (_, at) =>
    Math.round(10_000 * Math.sin((2 * Math.PI * hz * at) / rate)),
  )
}

/** Returns the level of the second half relative to the tone, in dB. */
function levelOf(samples: Int16Array): number {
  const later = samples.subarray(samples.length / 2)
  const power = later.reduce((sum, sample) => sum + sample * sample, 0) / later.length
  return 10 * Math.log10(power / (10_000 ** 2 / 2))
}

function doubled(samples: Int16Array): Int16Array {
  const doubler = new Doubler(frame)
  const out = new Int16Array(2 * samples.length)
  for (let from = 0; from < samples.length; from += frame)
    doubler.convert(samples.subarray(from, from + frame), out.subarray(2 * from, 2 * (from + frame)))
  return out
}

function halved(samples: Int16Array): Int16Array {
  const halver = new Halver(frame)
  const out = new Int16Array(samples.length / 2)
  for (let from = 0; from < out.length; from += frame)
    halver.convert(samples.subarray(2 * from, 2 * (from + frame)), out.subarray(from, from + frame))
  return out
}

it.each([300, 1000, 3000, 3400])(
  'a tone of %i Hz is as loud at the other rate, and comes back as it was',
  (hz) => {
    const up = doubled(tone(hz, 8000, 8000))
    expect(levelOf(up)).toBeCloseTo(0, 0)
    const back = halved(up)
    // Both filters together delay by 23.5 samples of 8 kHz, so the levels are compared where the tone is steady.
    expect(levelOf(back)).toBeCloseTo(0, 0)
    expect(levelOf(halved(tone(hz, 16_000, 16_000)))).toBeCloseTo(0, 0)
  },
)

it.each([4600, 5000, 6500, 7900])('a tone of %i Hz is not heard as a lower one at half of the rate', (hz) => {
  expect(levelOf(halved(tone(hz, 16_000, 16_000)))).toBeLessThan(-50)
})

/** Returns the level of one frequency in the second half, relative to the tone, in dB. */
function levelAt(samples: Int16Array, hz: number, rate: number): number {
  const later = samples.subarray(samples.length / 2)
  let [real, imaginary] = [0, 0]
  for (const [at, sample] of later.entries()) {
    const angle = (2 * Math.PI * hz * at) / rate
    real += sample * Math.cos(angle)
    imaginary += sample * Math.sin(angle)
  }
  return 20 * Math.log10((2 * Math.hypot(real, imaginary)) / later.length / 10_000)
}

it.each([300, 1000, 3000, 3400])(
  'a tone of %i Hz has no mirror image above 4 kHz when its rate is doubled',
  (hz) => {
    const up = doubled(tone(hz, 8000, 8000))
    expect(levelAt(up, hz, 16_000)).toBeCloseTo(0, 0)
    expect(levelAt(up, 8000 - hz, 16_000)).toBeLessThan(-50)
  },
)
