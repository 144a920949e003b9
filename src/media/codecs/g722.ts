// G.722 at 64 kbit/s, bit-exact to ITU-T G.722 (09/2012): two bands of 8 kHz, each with its own adaptive difference
// coding. Blocks and signals have the names of the Recommendation.

/** One octet holds two samples of 16 kHz. */
export const samplesPerOctet = 2

// Tables 14 and 15: the decision levels of the lower band, and the codes of negative and positive differences.
const decisions6 = [
  0, 35, 72, 110, 150, 190, 233, 276, 323, 370, 422, 473, 530, 587, 650, 714, 786, 858, 940, 1023, 1121, 1219,
  1339, 1458, 1612, 1765, 1980, 2195, 2557, 2919,
]
const lowNegative = [
  0, 63, 62, 31, 30, 29, 28, 27, 26, 25, 24, 23, 22, 21, 20, 19, 18, 17, 16, 15, 14, 13, 12, 11, 10, 9, 8, 7,
  6, 5, 4,
]
const lowPositive = [
  0, 61, 60, 59, 58, 57, 56, 55, 54, 53, 52, 51, 50, 49, 48, 47, 46, 45, 44, 43, 42, 41, 40, 39, 38, 37, 36,
  35, 34, 33, 32,
]
// Tables 16 to 19: the values of codes of 6, 4 and 2 bits.
const inverse6 = Int32Array.of(
  ...[-136, -136, -136, -136, -24808, -21904, -19008, -16704, -14984, -13512, -12280, -11192, -10232, -9360],
  ...[
    -8576, -7856, -7192, -6576, -6000, -5456, -4944, -4464, -4008, -3576, -3168, -2776, -2400, -2032, -1688,
  ],
  ...[-1360, -1040, -728, 24808, 21904, 19008, 16704, 14984, 13512, 12280, 11192, 10232, 9360, 8576, 7856],
  ...[
    7192, 6576, 6000, 5456, 4944, 4464, 4008, 3576, 3168, 2776, 2400, 2032, 1688, 1360, 1040, 728, 432, 136,
  ],
  ...[-432, -136],
)
const inverse4 = Int32Array.of(
  ...[0, -20456, -12896, -8968, -6288, -4240, -2584, -1200, 20456, 12896, 8968, 6288, 4240, 2584, 1200, 0],
)
const inverse2 = Int32Array.of(-7408, -1616, 7408, 1616)
// LOGSCL and LOGSCH: the effect of a code on the scale factor.
const lowSteps = Int32Array.of(
  ...[-60, 3042, 1198, 538, 334, 172, 58, -30, 3042, 1198, 538, 334, 172, 58, -30, -60],
)
const highSteps = Int32Array.of(798, -214, 798, -214)
// SCALEL and SCALEH: powers of two in steps of 1/32.
const powers = Int32Array.of(
  ...[2048, 2093, 2139, 2186, 2233, 2282, 2332, 2383, 2435, 2489, 2543, 2599, 2656, 2714, 2774, 2834, 2896],
  ...[2960, 3025, 3091, 3158, 3228, 3298, 3371, 3444, 3520, 3597, 3676, 3756, 3838, 3922, 4008],
)
// Table 11: half of the quadrature mirror filter; the other half is its mirror image.
const mirrorFilter = Int32Array.of(3, -11, 12, 32, -210, 951, 3876, -805, 362, -156, 53, -11)
const filterSamples = 24
const keptSamples = filterSamples - 2
// The samples filtered in one pass; longer payloads take several.
const chunkSamples = 320
// 200 ms, after which a coder and a decoder that began differently are alike. After 60 ms they are still 10 dB off.
const followedOctets = 1600

interface BandKind {
  readonly steps: Int32Array
  readonly maxScale: number
  readonly scaleShift: number
  readonly firstDet: number
}

const lowerBand: BandKind = { steps: lowSteps, maxScale: 18_432, scaleShift: 8, firstDet: 32 }
const higherBand: BandKind = { steps: highSteps, maxScale: 22_528, scaleShift: 10, firstDet: 8 }

function saturated(value: number): number {
  return value > 32_767 ? 32_767 : value < -32_768 ? -32_768 : value
}

/** The adaptive predictor and the scale factor of one band: blocks 3 and 4, the same in the coder and the decoder. */
class Band {
  readonly #kind: BandKind
  /** The distance between the levels of the quantizer. */
  det: number
  /** The prediction for the next sample. */
  s = 0
  #nb = 0
  #sz = 0
  #r1 = 0
  #r2 = 0
  #p1 = 0
  #p2 = 0
  #a1 = 0
  #a2 = 0
  readonly #b = new Int32Array(6)
  readonly #d = new Int32Array(6)

  constructor(kind: BandKind) {
    this.#kind = kind
    this.det = kind.firstDet
  }

  /** Adapts to the code of a sample and the difference that it stands for. */
  adapt(code: number, difference: number): void {
    const { steps, maxScale, scaleShift } = this.#kind
    const nb = ((this.#nb * 127) >> 7) + (steps[code] ?? 0)
    this.#nb = nb < 0 ? 0 : nb > maxScale ? maxScale : nb
    const power = powers[(this.#nb >> 6) & 31] ?? 0
    const shift = scaleShift - (this.#nb >> 11)
    this.det = (shift < 0 ? power << -shift : power >> shift) << 2
    this.#predict(difference)
  }

  #predict(d: number): void {
    const r = saturated(this.s + d)
    const p = saturated(this.#sz + d)
    // RECONS, PARREC, UPPOL2, UPPOL1: the two poles.
    const isLikeLast = p < 0 === this.#p1 < 0
    const swing = saturated(this.#a1 << 2)
    const turned = isLikeLast ? saturated(-swing) : swing
    const pole2 = (turned >> 7) + (p < 0 === this.#p2 < 0 ? 128 : -128) + ((this.#a2 * 32_512) >> 15)
    const a2 = pole2 > 12_288 ? 12_288 : pole2 < -12_288 ? -12_288 : pole2
    const pole1 = saturated((isLikeLast ? 192 : -192) + ((this.#a1 * 32_640) >> 15))
    const limit = saturated(15_360 - a2)
    const a1 = pole1 > limit ? limit : pole1 < -limit ? -limit : pole1
    this.#updateZeros(d)
    // FILTEP.
    this.#a1 = a1
    this.#a2 = a2
    this.#r2 = this.#r1
    this.#r1 = r
    this.#p2 = this.#p1
    this.#p1 = p
    const sp = saturated(
      ((a1 * saturated(this.#r1 + this.#r1)) >> 15) + ((a2 * saturated(this.#r2 + this.#r2)) >> 15),
    )
    this.s = saturated(sp + this.#sz)
  }

  /** UPZERO, DELAYA and FILTEZ: the six zeros. */
  #updateZeros(difference: number): void {
    const zeros = this.#b
    const past = this.#d
    const step = difference === 0 ? 0 : 128
    let before = difference
    let sum = 0
    for (let index = 0; index < 6; index += 1) {
      const delayed = past[index] ?? 0
      const change = delayed < 0 === difference < 0 ? step : -step
      const zero = saturated(change + (((zeros[index] ?? 0) * 32_640) >> 15))
      zeros[index] = zero
      past[index] = before
      sum += (zero * saturated(before + before)) >> 15
      before = delayed
    }
    this.#sz = saturated(sum)
  }
}

export class G722Encoder {
  #low = new Band(lowerBand)
  #high = new Band(higherBand)
  readonly #samples = new Int16Array(keptSamples + chunkSamples)
  readonly #followed = new Uint8Array(followedOctets)
  #followedOctets = 0

  /** Writes the octets from `at` on, and returns their number. */
  encode(samples: Int16Array, into: Uint8Array, at: number): number {
    if (this.#followedOctets > 0) this.#catchUp()
    const window = this.#samples
    for (let from = 0; from < samples.length; from += chunkSamples) {
      const count = Math.min(chunkSamples, samples.length - from)
      for (let index = 0; index < count; index += 1) window[keptSamples + index] = samples[from + index] ?? 0
      for (let index = 0; index + 1 < count; index += 2)
        into[at + ((from + index) >> 1)] = this.#encodePair(index)
      window.copyWithin(0, count, count + keptSamples)
    }
    return samples.length >> 1
  }

  /** Takes octets of another encoder that the far end got instead; its decoder has adapted to them. */
  follow(octets: Uint8Array): void {
    const { length } = this.#followed
    // Only the latest are kept. They are decoded when this encoder is used again: once for many packets.
    for (let index = Math.max(0, octets.length - length); index < octets.length; index += 1) {
      this.#followed[this.#followedOctets % length] = octets[index] ?? 0
      this.#followedOctets += 1
    }
  }

  /** Takes the bands of a decoder that decoded the same octets, and its last samples as those before the next one. */
  #catchUp(): void {
    const { length } = this.#followed
    const count = Math.min(this.#followedOctets, length)
    const from = this.#followedOctets - count
    const octets = Uint8Array.from({ length: count }, (_, at) => this.#followed[(from + at) % length] ?? 0)
    this.#followedOctets = 0
    const decoder = new G722Decoder()
    const samples = new Int16Array(samplesPerOctet * count)
    decoder.decode(octets, samples, 0)
    this.#low = decoder.low
    this.#high = decoder.high
    this.#samples.set(samples.subarray(-keptSamples))
  }

  /** Applies the transmit filter, then codes each band. */
  #encodePair(from: number): number {
    const window = this.#samples
    let odd = 0
    let even = 0
    for (let index = 0; index < 12; index += 1) {
      const at = from + 2 * index
      odd += (window[at] ?? 0) * (mirrorFilter[index] ?? 0)
      even += (window[at + 1] ?? 0) * (mirrorFilter[11 - index] ?? 0)
    }
    return (this.#encodeHigh((even - odd) >> 14) << 6) | this.#encodeLow((even + odd) >> 14)
  }

  #encodeLow(sample: number): number {
    const band = this.#low
    const difference = saturated(sample - band.s)
    const size = difference >= 0 ? difference : -(difference + 1)
    let level = 1
    while (level < 30 && size >= ((decisions6[level] ?? 0) * band.det) >> 12) level += 1
    const code = (difference < 0 ? lowNegative : lowPositive)[level] ?? 0
    const truncated = code >> 2
    band.adapt(truncated, (band.det * (inverse4[truncated] ?? 0)) >> 15)
    return code
  }

  #encodeHigh(sample: number): number {
    const band = this.#high
    const difference = saturated(sample - band.s)
    const size = difference >= 0 ? difference : -(difference + 1)
    const isLarge = size >= (564 * band.det) >> 12
    const code = difference < 0 ? (isLarge ? 0 : 1) : isLarge ? 2 : 3
    band.adapt(code, (band.det * (inverse2[code] ?? 0)) >> 15)
    return code
  }
}

export class G722Decoder {
  readonly low = new Band(lowerBand)
  readonly high = new Band(higherBand)
  readonly #bands = new Int32Array(keptSamples + chunkSamples)

  /** Writes two samples for each octet from `at` on. */
  decode(octets: Uint8Array, into: Int16Array, at: number): void {
    const window = this.#bands
    for (let from = 0; from < octets.length; from += chunkSamples / 2) {
      const count = Math.min(chunkSamples / 2, octets.length - from)
      for (let index = 0; index < count; index += 1) {
        const octet = octets[from + index] ?? 0
        const low = this.#decodeLow(octet & 0x3f)
        const high = this.#decodeHigh(octet >> 6)
        window[keptSamples + 2 * index] = low + high
        window[keptSamples + 2 * index + 1] = low - high
      }
      for (let index = 0; index < count; index += 1) this.#join(2 * index, into, at + 2 * (from + index))
      window.copyWithin(0, 2 * count, 2 * count + keptSamples)
    }
  }

  /** Decodes the lower band alone, one sample of 8 kHz for each octet: half the work, for listeners at 8 kHz. */
  decodeNarrow(octets: Uint8Array, into: Int16Array, at: number): void {
    for (let index = 0; index < octets.length; index += 1)
      into[at + index] = saturated(2 * this.#decodeLow((octets[index] ?? 0) & 0x3f))
  }

  /** Applies the receive filter. */
  #join(from: number, into: Int16Array, at: number): void {
    const window = this.#bands
    let first = 0
    let second = 0
    for (let index = 0; index < 12; index += 1) {
      first += (window[from + 2 * index + 1] ?? 0) * (mirrorFilter[11 - index] ?? 0)
      second += (window[from + 2 * index] ?? 0) * (mirrorFilter[index] ?? 0)
    }
    into[at] = saturated(first >> 11)
    into[at + 1] = saturated(second >> 11)
  }

  #decodeLow(code: number): number {
    const band = this.low
    const sample = limited(band.s + ((band.det * (inverse6[code] ?? 0)) >> 15))
    const truncated = code >> 2
    band.adapt(truncated, (band.det * (inverse4[truncated] ?? 0)) >> 15)
    return sample
  }

  #decodeHigh(code: number): number {
    const band = this.high
    const difference = (band.det * (inverse2[code] ?? 0)) >> 15
    const sample = limited(band.s + difference)
    band.adapt(code, difference)
    return sample
  }
}

/** LIMIT. */
function limited(sample: number): number {
  return sample > 16_383 ? 16_383 : sample < -16_384 ? -16_384 : sample
}
