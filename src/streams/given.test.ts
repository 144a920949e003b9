// The audio that a stream sends for frames of either rate, without a socket.
import { describe, expect, it } from 'vitest'
import { toneShare, type Audio } from '../../test/support/audio.ts'
import { levelDb, longestGapMs, sine } from '../../test/support/virtual-legs.ts'
import { AudioRing, createRing } from '../lib/audio/audio-ring.ts'
import { ResamplerTables } from '../lib/audio/resampler.ts'
import { Given } from './given.ts'

/** Returns 20 ms of sines at this rate, one in each channel. */
function frameOf(frame: number, rate: number, tones: readonly number[]): Int16Array {
  const count = tones.length
  return Int16Array.from({ length: (rate / 50) * count }, (_, index) => {
    const at = frame * (rate / 50) + Math.floor(index / count)
    return Math.round(sine(tones[index % count] ?? 0)(at / rate) * 32_767)
  })
}

function stage(rate: number, channels: 1 | 2 = 1) {
  const given = createRing({ samples: 320 * channels, frames: 300 })
  const ring = new AudioRing(given.memory)
  const reader = new Given({ given, channels, rate }, new ResamplerTables())
  const pieces: Uint8Array[] = []
  return {
    ring,
    read: (isSilent = false): void => {
      while (reader.take()) pieces.push(reader.octets(isSilent))
    },
    audio: (channel = 0): Audio => {
      const bytes = Buffer.concat(pieces)
      const count = bytes.length / 2 / channels
      const samples = Float64Array.from(
        { length: count },
        (_, at) => bytes.readInt16LE(2 * (at * channels + channel)) / 32_768,
      )
      return { sampleRate: rate, samples }
    },
  }
}

const from = ({ sampleRate, samples }: Audio, ms: number, toMs = Infinity): Audio => ({
  sampleRate,
  samples: samples.subarray((ms * sampleRate) / 1000, (toMs * sampleRate) / 1000),
})

describe.each([16_000, 22_050, 24_000, 32_000, 44_100, 48_000, 64_000])(
  'at %i Hz, a server is sent',
  (rate) => {
    it('what is above the band of a telephone, as loud as it is', () => {
      const { ring, read, audio } = stage(rate, 2)
      for (let frame = 0; frame < 100; frame += 1) ring.write(frameOf(frame, 16_000, [6000, 1000]))
      read()
      for (const [channel, hz] of [6000, 1000].entries()) {
        const heard = from(audio(channel), 100)
        expect(Math.abs(levelDb(heard))).toBeLessThan(0.5)
        expect(toneShare(heard, hz)).toBeGreaterThan(0.999)
      }
      expect(Math.abs(audio().samples.length - 2 * rate)).toBeLessThan(rate / 250)
    })

    it('frames of half the rate as they sound, and both kinds one after the other without a hole', () => {
      const { ring, read, audio } = stage(rate)
      for (let frame = 0; frame < 150; frame += 1)
        ring.write(frameOf(frame, frame < 50 || frame >= 100 ? 8000 : 16_000, [1000]))
      read()
      const all = audio()
      expect(Math.abs(all.samples.length - 3 * rate)).toBeLessThan(rate / 250)
      expect(longestGapMs(all)).toBe(0)
      for (const fromMs of [100, 1100, 2100]) {
        const heard = from(all, fromMs, fromMs + 800)
        expect(Math.abs(levelDb(heard))).toBeLessThan(0.5)
        expect(toneShare(heard, 1000)).toBeGreaterThan(0.999)
      }
    })
  },
)

it('silence has the length of what it is between, and what is to be silent is zeros', () => {
  const { ring, read, audio } = stage(16_000)
  ring.write(undefined)
  ring.write(frameOf(0, 16_000, [1000]))
  ring.write(undefined)
  read()
  ring.write(frameOf(0, 16_000, [1000]))
  read(true)
  const { samples } = audio()
  expect(samples).toHaveLength(4 * 320)
  expect(levelDb({ sampleRate: 16_000, samples: samples.subarray(320, 640) })).toBeGreaterThan(-1)
  expect(samples.subarray(640).every((sample) => sample === 0)).toBe(true)
})
