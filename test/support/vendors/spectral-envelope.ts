// The shape of sound as a recogniser hears it: 32 bands of the telephone's range, in windows of 32 ms, each shape of length
// one. The level is taken away, so that gain, mu-law and filters change little.

export const bands = 32
const windowMs = 32
const lowestHz = 120
const highestHz = 3_400
/** Bands are kept within 20 dB of the loudest, below which noise may be. */
const dynamicRange = 1e-2
/**
 * Sound is voice above each of these, in dB (a full scale sine has -3): a level, one that is this far below the recent
 * voice, and one that is this far above the recent noise.
 */
const threshold = { level: -50, belowVoice: 38, aboveNoise: 8 }
/** The level of speech that is not known yet. */
const usualDb = -15
/** Noise is not louder than this when sound begins, which may be in the middle of a word. */
const mostNoiseDb = -30
/** How fast recent levels are forgotten, in dB a window. */
const forgotten = 0.05

export interface Shape {
  /** The logarithms of the bands less their mean. */
  readonly bands: Float32Array
  readonly isVoiced: boolean
  /** In dB of full scale. */
  readonly level: number
}

export class SpectralEnvelope {
  readonly #window: number
  readonly #hop: number
  readonly #hann: Float64Array
  readonly #edges: readonly number[]
  readonly #re: Float64Array
  readonly #im: Float64Array
  readonly #pending: Float64Array
  #filled = 0
  /** The power of each band where there is no voice, which is taken away from that of the voice. */
  readonly #noise = new Float64Array(bands)
  #quietest = mostNoiseDb
  #loudest = usualDb

  constructor(sampleRate: number, hopMs: number) {
    this.#window = (sampleRate * windowMs) / 1000
    this.#hop = (sampleRate * hopMs) / 1000
    this.#hann = Float64Array.from(
      { length: this.#window },
      (_, at) => 0.5 - 0.5 * Math.cos((2 * Math.PI * at) / this.#window),
    )
    const mel = (hz: number): number => 2595 * Math.log10(1 + hz / 700)
    const step = (mel(highestHz) - mel(lowestHz)) / bands
    this.#edges = Array.from({ length: bands + 1 }, (_, band) => {
      const hz = 700 * (10 ** ((mel(lowestHz) + band * step) / 2595) - 1)
      return (hz * windowMs) / 1000
    })
    this.#re = new Float64Array(this.#window)
    this.#im = new Float64Array(this.#window)
    this.#pending = new Float64Array(this.#window)
  }

  /** Takes samples from -1 to 1 and hands on each whole window. */
  push(samples: ArrayLike<number>, each: (shape: Shape) => void): void {
    for (let at = 0; at < samples.length; at += 1) {
      this.#pending[this.#filled++] = samples[at] ?? 0
      if (this.#filled < this.#window) continue
      each(this.#shape())
      this.#pending.copyWithin(0, this.#hop)
      this.#filled -= this.#hop
    }
  }

  #shape(): Shape {
    for (let at = 0; at < this.#window; at += 1) {
      this.#re[at] = (this.#pending[at] ?? 0) * (this.#hann[at] ?? 0)
      this.#im[at] = 0
    }
    transform(this.#re, this.#im)
    const shape = new Float32Array(bands)
    let loudest = 0
    let power = 0
    for (let band = 0; band < bands; band += 1) {
      const own = this.#powerOf(band)
      shape[band] = own
      loudest = Math.max(loudest, own)
      power += own * (this.#edges[band + 1]! - this.#edges[band]!)
    }
    // The level counts the bands alone, as a telephone does not carry what is above them. 0.375 is the power of the window.
    const level = 10 * Math.log10((2 * power) / (0.375 * this.#window ** 2) + 1e-12)
    this.#quietest = Math.min(level, this.#quietest + forgotten)
    this.#loudest = Math.max(level, this.#loudest - forgotten)
    const { level: least, belowVoice, aboveNoise } = threshold
    const isVoiced = level > Math.max(least, this.#loudest - belowVoice, this.#quietest + aboveNoise)
    if (!isVoiced) {
      for (let band = 0; band < bands; band += 1)
        this.#noise[band]! += (shape[band]! - this.#noise[band]!) / 8
      return { bands: shape.fill(0), isVoiced, level }
    }
    let sum = 0
    for (let band = 0; band < bands; band += 1) {
      const own = Math.max(0, shape[band]! - 2 * this.#noise[band]!)
      sum += shape[band] = Math.log(own + dynamicRange * loudest)
    }
    for (let band = 0; band < bands; band += 1) shape[band]! -= sum / bands
    return { bands: shape, isVoiced, level }
  }

  /** Counts a bin that an edge divides in both bands, by its parts. */
  #powerOf(band: number): number {
    const from = this.#edges[band] ?? 0
    const to = this.#edges[band + 1] ?? 0
    let power = 0
    for (let bin = Math.floor(from); bin < to; bin += 1) {
      const share = Math.min(to, bin + 1) - Math.max(from, bin)
      power += share * ((this.#re[bin] ?? 0) ** 2 + (this.#im[bin] ?? 0) ** 2)
    }
    return power / (to - from)
  }
}

/** Makes a shape of length one after the mean is taken away, or of zeros. */
export function unit(shape: Float32Array, mean: Float32Array): Float32Array {
  let square = 0
  for (let band = 0; band < bands; band += 1) square += (shape[band]! -= mean[band] ?? 0) ** 2
  const length = Math.sqrt(square)
  if (length > 0) for (let band = 0; band < bands; band += 1) shape[band]! /= length
  return shape
}

/** The fast Fourier transform in place, of a length that is a power of two. */
function transform(re: Float64Array, im: Float64Array): void {
  const { length } = re
  for (let at = 1, other = 0; at < length; at += 1) {
    let bit = length >> 1
    for (; (other & bit) !== 0; bit >>= 1) other ^= bit
    other ^= bit
    if (at < other) {
      const kept = re[at] ?? 0
      re[at] = re[other] ?? 0
      re[other] = kept
    }
  }
  for (let size = 2; size <= length; size *= 2) {
    const { cosines, sines } = turns(size)
    const half = size / 2
    for (let start = 0; start < length; start += size)
      for (let at = 0; at < half; at += 1) {
        const low = start + at
        const high = low + half
        const cos = cosines[at] ?? 0
        const sin = sines[at] ?? 0
        const realPart = re[high]! * cos - im[high]! * sin
        const imaginaryPart = re[high]! * sin + im[high]! * cos
        re[high] = re[low]! - realPart
        im[high] = im[low]! - imaginaryPart
        re[low]! += realPart
        im[low]! += imaginaryPart
      }
  }
}

interface Turns {
  readonly cosines: Float64Array
  readonly sines: Float64Array
}

const known = new Map<number, Turns>()

function turns(size: number): Turns {
  const found = known.get(size)
  if (found !== undefined) return found
  const angles = Float64Array.from({ length: size / 2 }, (_, at) => (-2 * Math.PI * at) / size)
  const made = { cosines: angles.map(Math.cos), sines: angles.map(Math.sin) }
  known.set(size, made)
  return made
}
