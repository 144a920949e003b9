// Conversion to twice and to half the sample rate, by a half-band filter: every second coefficient is zero.
import { kaiser } from '../../lib/audio/kaiser.ts'
import { toSample } from '../../lib/audio/to-sample.ts'

// Flat to 3.4 kHz and 60 dB down from 4.6 kHz on; the length is Kaiser's estimate.
const sides = 12
const beta = 5.65
const kept = 2 * sides - 1

/**
 * Returns the coefficients on one side of the middle one. The middle one is a half, and one side adds up to a quarter.
 */
function createSide(): Float64Array {
  const side = new Float64Array(sides)
  let sum = 0
  for (let index = 0; index < sides; index += 1) {
    const t = 2 * index + 1
    side[index] = (Math.sin((Math.PI * t) / 2) / (Math.PI * t)) * kaiser(t / (2 * sides), beta)
    sum += side[index] ?? 0
  }
  return side.map((value) => value / (4 * sum))
}

/** From 8 to 16 kHz, with a delay of 1.5 ms. */
export class Doubler {
  readonly #side = createSide()
  readonly #window: Float64Array
  readonly #count: number

  constructor(count: number) {
    this.#count = count
    this.#window = new Float64Array(kept + count)
  }

  convert(samples: Int16Array, into: Int16Array): void {
    const side = this.#side
    const window = this.#window
    const count = this.#count
    for (let index = 0; index < count; index += 1) window[kept + index] = samples[index] ?? 0
    for (let index = 0; index < count; index += 1) {
      const middle = index + sides - 1
      let between = 0
      for (let tap = 0; tap < sides; tap += 1)
        between += (side[tap] ?? 0) * ((window[middle - tap] ?? 0) + (window[middle + 1 + tap] ?? 0))
      into[2 * index] = toSample(window[middle] ?? 0)
      into[2 * index + 1] = toSample(2 * between)
    }
    window.copyWithin(0, count)
  }
}

/** From 16 to 8 kHz, with a delay of 1.5 ms. `count` is the number of output samples. */
export class Halver {
  readonly #side = createSide()
  readonly #even: Float64Array
  readonly #odd: Float64Array
  readonly #count: number

  constructor(count: number) {
    this.#count = count
    this.#even = new Float64Array(kept + count)
    this.#odd = new Float64Array(kept + count)
  }

  convert(samples: Int16Array, into: Int16Array): void {
    const side = this.#side
    const even = this.#even
    const odd = this.#odd
    const count = this.#count
    for (let index = 0; index < count; index += 1) {
      even[kept + index] = samples[2 * index] ?? 0
      odd[kept + index] = samples[2 * index + 1] ?? 0
    }
    for (let index = 0; index < count; index += 1) {
      const middle = index + sides
      let beside = 0
      for (let tap = 0; tap < sides; tap += 1)
        beside += (side[tap] ?? 0) * ((odd[middle - 1 - tap] ?? 0) + (odd[middle + tap] ?? 0))
      into[index] = toSample(0.5 * (even[middle] ?? 0) + beside)
    }
    even.copyWithin(0, count)
    odd.copyWithin(0, count)
  }
}
