// The tone that announces a new participant to the others in a room.
import { frameSamples } from '../codecs/coders.ts'
import { SampleFrame, type Frame } from '../frames/frame.ts'

const rate = 8000
const hz = 440
const lengthSamples = rate / 4
// About -16 dBm0: audible under a voice, and not louder than one.
const level = 3500
// The tone begins and ends within 5 ms, so that it does not click.
const edgeSamples = 40

export class Beep {
  readonly #samples = new Int16Array(frameSamples)
  readonly #frame = new SampleFrame(this.#samples)
  #at = lengthSamples

  /** Begins the tone. If two participants enter together, the tone starts again for the second. */
  begin(): void {
    this.#at = 0
  }

  /** Returns the tone of the next tick; undefined for none. */
  next(): Frame | undefined {
    if (this.#at >= lengthSamples) return undefined
    for (let index = 0; index < frameSamples; index += 1) {
      const at = this.#at + index
      const edge = Math.max(0, Math.min(1, at / edgeSamples, (lengthSamples - at) / edgeSamples))
      this.#samples[index] = Math.round(level * edge * Math.sin((2 * Math.PI * hz * at) / rate))
    }
    this.#at += frameSamples
    return this.#frame.renewed()
  }
}
