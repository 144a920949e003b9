import { describe, expect, it } from 'vitest'
import { rms, toneShare, type Audio } from '../../../test/support/audio.ts'
import { createResampler } from './resampler.ts'

const rates = [8000, 11_025, 12_000, 16_000, 22_050, 24_000, 32_000, 44_100, 47_999, 48_000]

function sine(rate: number, hz: number, seconds: number): Float32Array {
  return Float32Array.from(
    { length: rate * seconds },
    (_, index) => 10_000 * Math.sin((2 * Math.PI * hz * index) / rate),
  )
}

function resample(rate: number, input: Float32Array, pieceSamples: number): Float64Array {
  const resampler = createResampler(rate)
  const output: number[] = []
  for (let at = 0; at < input.length; at += pieceSamples)
    output.push(...resampler.push(input.subarray(at, at + pieceSamples)))
  output.push(...resampler.flush())
  return Float64Array.from(output)
}

describe.each(rates)('from %i Hz', (rate) => {
  it('keeps length, pitch and level of the voice band', () => {
    for (const hz of [300, 1000, 3000]) {
      const samples = resample(rate, sine(rate, hz, 1), 1000)
      expect(samples.length).toBe(8000)
      const middle = { sampleRate: 8000, samples: samples.slice(400, 7600) }
      expect(toneShare(middle, hz)).toBeGreaterThan(0.999)
      expect(rms(middle) / (10_000 / Math.SQRT2)).toBeCloseTo(1, 1)
    }
  })

  it('gives the same samples however the input is cut', () => {
    const input = sine(rate, 700, 1)
    expect(resample(rate, input, 137)).toEqual(resample(rate, input, 5000))
  })
})

// At 8,000 Hz there is nothing above the band.
it.each([11_025, 16_000, 22_050, 24_000, 32_000, 44_100, 48_000])(
  'lets nothing above the band of %i Hz fold back into it',
  (rate) => {
    const samples = resample(rate, sine(rate, 5000, 1), 1000)
    expect(rms({ sampleRate: 8000, samples: samples.slice(400, 7600) })).toBeLessThan(10_000 / 500)
  },
)

describe.each([2000, 4000, 7999, 96_000, 192_000])('also from %i Hz', (rate) => {
  it('a tone keeps its pitch and level', () => {
    const samples = resample(rate, sine(rate, 700, 1), 1000)
    expect(Math.abs(samples.length - 8000)).toBeLessThanOrEqual(1)
    const middle = { sampleRate: 8000, samples: samples.slice(800, 7200) }
    expect(rms(middle)).toBeCloseTo(10_000 / Math.SQRT2, -2)
    expect(toneShare(middle, 700)).toBeGreaterThan(0.999)
  })
})

describe.each([8000, 11_025, 16_000, 22_050, 24_000, 44_100, 48_000, 64_000])('to %i Hz', (to) => {
  it('keeps length, pitch and level of what a telephone carries, and adds nothing above', () => {
    const resampler = createResampler(8000, to)
    const output: number[] = []
    const input = sine(8000, 1000, 1)
    for (let at = 0; at < input.length; at += 160)
      output.push(...resampler.push(input.subarray(at, at + 160)))
    output.push(...resampler.flush())
    expect(output).toHaveLength(to)
    const middle = { sampleRate: to, samples: Float64Array.from(output.slice(to / 20, -to / 20)) }
    expect(toneShare(middle, 1000)).toBeGreaterThan(0.999)
    expect(rms(middle) / (10_000 / Math.SQRT2)).toBeCloseTo(1, 1)
  })
})

function through(from: number, to: number, hz: number): Audio {
  const resampler = createResampler(from, to)
  const samples = [...resampler.push(sine(from, hz, 1)), ...resampler.flush()]
  expect(samples).toHaveLength(to)
  return { sampleRate: to, samples: Float64Array.from(samples.slice(to / 20, -to / 20)) }
}

describe('between 16000 Hz and other rates', () => {
  it.each([16_000, 22_050, 24_000, 32_000, 44_100, 48_000, 64_000])(
    'the band of wide codecs keeps its level, both ways: %i Hz',
    (rate) => {
      for (const hz of [1000, 6000, 7000])
        for (const audio of [through(16_000, rate, hz), through(rate, 16_000, hz)]) {
          expect(toneShare(audio, hz)).toBeGreaterThan(0.999)
          expect(rms(audio) / (10_000 / Math.SQRT2)).toBeCloseTo(1, 1)
        }
    },
  )

  it.each([22_050, 24_000, 32_000, 44_100, 48_000, 64_000])(
    'nothing above it folds back into it: %i Hz',
    (rate) => {
      expect(rms(through(rate, 16_000, 10_000))).toBeLessThan(10_000 / 500)
    },
  )
})
