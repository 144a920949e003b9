// Adds up what sounds in one tick, each part with a gain that moves evenly over the frame, so that no change is a click.
import { frameSamples } from '../codecs/coders.ts'

export class Mixer {
  readonly #sum = new Float64Array(frameSamples)
  readonly #mixed = new Int16Array(frameSamples)

  begin(): void {
    this.#sum.fill(0)
  }

  add(samples: Int16Array, from: number, to: number): void {
    const sum = this.#sum
    const step = (to - from) / frameSamples
    for (let index = 0; index < frameSamples; index += 1)
      sum[index] = (sum[index] ?? 0) + (samples[index] ?? 0) * (from + step * index)
  }

  /** What is louder than the scale is cut off. Valid until the next one. */
  end(): Int16Array {
    const mixed = this.#mixed
    for (let index = 0; index < frameSamples; index += 1) mixed[index] = toSample(this.#sum[index] ?? 0)
    return mixed
  }
}

export function toSample(value: number): number {
  return value > 32_767 ? 32_767 : value < -32_768 ? -32_768 : Math.round(value)
}
