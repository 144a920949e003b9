// Adds up the sounds of one tick. The gain of each part changes evenly over the frame, so that no change clicks.
import type { Rate } from '../codecs/codecs.ts'
import { frameSamplesAt } from '../codecs/coders.ts'
import { toSample } from '../../lib/audio/to-sample.ts'

export class Mixer {
  /** The rate of its samples. */
  readonly rate: Rate
  readonly #sum: Float64Array
  readonly #mixed: Int16Array

  constructor(rate: Rate = 8000) {
    this.rate = rate
    this.#sum = new Float64Array(frameSamplesAt(rate))
    this.#mixed = new Int16Array(frameSamplesAt(rate))
  }

  begin(): void {
    this.#sum.fill(0)
  }

  add(samples: Int16Array, from: number, to: number): void {
    const sum = this.#sum
    const count = sum.length
    const step = (to - from) / count
    for (let index = 0; index < count; index += 1)
      sum[index] = (sum[index] ?? 0) + (samples[index] ?? 0) * (from + step * index)
  }

  /** Returns the sum, clipped to the scale. Valid until the next call. */
  end(): Int16Array {
    const mixed = this.#mixed
    for (let index = 0; index < mixed.length; index += 1) mixed[index] = toSample(this.#sum[index] ?? 0)
    return mixed
  }
}
