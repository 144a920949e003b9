// Keys as tones in the sound (ITU-T Q.23), for far ends that accept them in no other way.
import { frameSamples } from '../codecs/coders.ts'
import { SampleFrame, type Frame } from '../frames/frame.ts'
import { highHz, keysByTone, lowHz } from './tone-detector.ts'

const rate = 8000
// -9 and -7 dBm0, the louder one for the high tone, which lines damp more. A sine of full scale is 3.14 dBm0.
const lowLevel = 8100
const highLevel = 10_200
// The tone begins and ends within 2 ms, so that it does not click.
const edgeSamples = 16

export class KeyTone {
  readonly #samples = new Int16Array(frameSamples)
  readonly #frame = new SampleFrame(this.#samples)

  /** Returns the frame of a press of `ticks` ticks at its tick `at`. */
  frame(digit: string, at: number, ticks: number): Frame {
    const row = keysByTone.findIndex((keys) => keys.includes(digit))
    const low = (2 * Math.PI * (lowHz[row] ?? 0)) / rate
    const high = (2 * Math.PI * (highHz[keysByTone[row]?.indexOf(digit) ?? 0] ?? 0)) / rate
    for (let index = 0; index < frameSamples; index += 1) {
      const sample = at * frameSamples + index
      const edge = Math.min(1, sample / edgeSamples, (ticks * frameSamples - sample) / edgeSamples)
      const tone = lowLevel * Math.sin(low * sample) + highLevel * Math.sin(high * sample)
      this.#samples[index] = Math.round(edge * tone)
    }
    return this.#frame.renewed()
  }
}
