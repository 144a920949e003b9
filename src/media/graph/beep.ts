// The tone by which those in a room know that another one has come in.
import { frameSamples } from '../codecs/coders.ts'
import { SampleFrame } from './frame.ts'
import type { Frame } from './frame.ts'

const rate = 8000
const hz = 440
const lengthSamples = rate / 4
// About -16 dBm0: heard under a voice, and not louder than one.
const level = 3500
// It begins and ends within 5 ms, so that neither is a click.
const edgeSamples = 40

export class Beep {
  readonly #samples = new Int16Array(frameSamples)
  readonly #frame = new SampleFrame(this.#samples)
  #at = lengthSamples

  /** Of two who come in at once the later one is heard. */
  begin(): void {
    this.#at = 0
  }

  /** What sounds in the next tick; undefined: nothing. */
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
