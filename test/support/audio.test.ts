import { describe, expect, it } from 'vitest'
import {
  dominantFrequencyHz,
  durationMs,
  fromWav,
  rms,
  soundSegments,
  tone,
  toneSegments,
  toWav,
  type Audio,
} from './audio.ts'

function join(...parts: readonly Audio[]): Audio {
  return { sampleRate: 8000, samples: Float64Array.from(parts.flatMap((part) => [...part.samples])) }
}

describe('audio measures', () => {
  const quiet = tone(0, 1000)
  const recording = fromWav(toWav(join(quiet, tone(440, 1500), quiet, tone(1000, 500))))

  it('length and frequency survive a WAV file', () => {
    expect(durationMs(recording)).toBe(4000)
    expect(dominantFrequencyHz(fromWav(toWav(tone(440, 1000))))).toBe(440)
  })

  it('sound and silence are distinguished', () => {
    expect(rms(quiet)).toBe(0)
    expect(soundSegments(recording)).toEqual([
      { startMs: 1000, endMs: 2500 },
      { startMs: 3500, endMs: 4000 },
    ])
  })

  it('a tone is found, and only that tone', () => {
    expect(toneSegments(recording, 1000)).toEqual([{ startMs: 3500, endMs: 4000 }])
    expect(toneSegments(recording, 1800)).toEqual([])
  })
})
