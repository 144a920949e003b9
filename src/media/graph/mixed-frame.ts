// Several frames as one, mixed separately for each rate at which it is read.
import type { Rate } from '../codecs/codecs.ts'
import type { Frame } from '../frames/frame.ts'
import { Mixer } from '../frames/mixer.ts'

interface Part {
  readonly frame: Frame
  /** Its gain at the start and at the end of the frame. */
  readonly from: number
  readonly to: number
}

export class MixedFrame implements Frame {
  readonly #mixers = new Map<Rate, Mixer>()
  #parts: readonly Part[] = []

  of(...parts: readonly Part[]): this {
    this.#parts = parts
    return this
  }

  /** The highest rate of its parts. */
  get rate(): Rate {
    return this.#parts.some(({ frame }) => frame.rate === 16_000) ? 16_000 : 8000
  }

  samples(rate: Rate = 8000): Int16Array {
    const mixer = this.#mixers.get(rate) ?? new Mixer(rate)
    this.#mixers.set(rate, mixer)
    mixer.begin()
    for (const { frame, from, to } of this.#parts) mixer.add(frame.samples(rate), from, to)
    return mixer.end()
  }

  octets(): undefined {
    return undefined
  }
}
