import { describe, expect, it } from 'vitest'
import { frameSamples } from '../codecs/coders.ts'
import { KeyTone } from './key-tone.ts'
import { ToneDetector } from './tone-detector.ts'

const ticks = 8

/** Returns the samples of a press, frame by frame. */
function pressOf(digit: string): Int16Array[] {
  const tone = new KeyTone()
  return Array.from({ length: ticks }, (_, at) => Int16Array.from(tone.frame(digit, at, ticks).samples()))
}

describe('the tone of a key', () => {
  it.each('0123456789*#ABCD'.split(''))('%s is heard as that key, once', (digit) => {
    const detector = new ToneDetector()
    const silence = new Int16Array(frameSamples)
    const frames = [...pressOf(digit), ...Array.from({ length: 5 }, () => silence)]
    const heard = frames.flatMap((frame) => detector.hear(frame))
    expect(heard.map((one) => one.digit)).toEqual([digit])
    expect(heard[0]?.durationMs).toBeGreaterThan(ticks * 20 - 50)
  })

  it('goes on from frame to frame without a step, begins and ends in silence, and never leaves the scale', () => {
    const samples = pressOf('D').flatMap((frame) => [...frame])
    expect([samples[0], Math.abs(samples.at(-1) ?? 0) < 3000]).toEqual([0, true])
    // At 941 and 1633 Hz no step between samples is larger than the two waves allow.
    const steps = samples.slice(1).map((sample, at) => Math.abs(sample - (samples[at] ?? 0)))
    const steepest =
      2 * 8100 * Math.sin((Math.PI * 941) / 8000) + 2 * 10_200 * Math.sin((Math.PI * 1633) / 8000)
    expect(Math.max(...steps)).toBeLessThan(steepest + 600)
    expect(Math.max(...samples.map(Math.abs))).toBeLessThan(18_400)
  })
})
