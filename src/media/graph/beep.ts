// The tone by which those in a room know that another one has come in.
import { frameSamples } from '../codecs/coders.ts'

const rate = 8000
const hz = 440
const lengthSamples = rate / 4
// About -16 dBm0: heard under a voice, and not louder than one.
const level = 3500
// It begins and ends within 5 ms, so that neither is a click.
const edgeSamples = 40

export class Beep {
  #at = lengthSamples

  get isSounding(): boolean {
    return this.#at < lengthSamples
  }

  /** Of two who come in at once the later one is heard. */
  begin(): void {
    this.#at = 0
  }

  /** Adds what sounds in the next tick. */
  addTo(sum: Int32Array): void {
    for (let index = 0; index < frameSamples; index += 1) {
      const at = this.#at + index
      const edge = Math.max(0, Math.min(1, at / edgeSamples, (lengthSamples - at) / edgeSamples))
      sum[index] = (sum[index] ?? 0) + Math.round(level * edge * Math.sin((2 * Math.PI * hz * at) / rate))
    }
    this.#at += frameSamples
  }
}
