// Keys that are pressed as tones in the sound (ITU-T Q.23, Q.24): two simultaneous tones, one of each group, by
// Goertzel's algorithm. Pure: samples of 8 kHz in, keys out. Voices are full of pairs of tones, so the conditions for
// a key are strict.
import type { Digit } from './digit-receiver.ts'

const rate = 8000
/** The keys by row and column, for 697 to 941 Hz and 1209 to 1633 Hz. */
export const keysByTone = ['123A', '456B', '789C', '*0#D'] as const
export const lowHz = [697, 770, 852, 941] as const
export const highHz = [1209, 1336, 1477, 1633] as const
const coefficients = [...lowHz, ...highHz].map((hz) => 2 * Math.cos((2 * Math.PI * hz) / rate))
const tones = coefficients.length

// 12.75 ms: the shortest block that separates the rows, and a third of the shortest press of Q.24, 40 ms.
const blockSamples = 102
const blockMs = (blockSamples * 1000) / rate
// A key heard in this many blocks in a row is pressed, until it is not heard in this many blocks in a row.
const blocksToBegin = 2
const blocksToEnd = 2
// Some 36 dB under the loudest tone. Carriers send keys above that (Q.24 demands -25 dBm0 and more).
const leastPower = (blockSamples / 2) ** 2 * 200 ** 2
// One tone may be 8 dB louder than the other, since lines damp high tones more.
const maxTwist = 10 ** 0.8
// The tone must be 8 dB louder than any other tone of its group: a voice has several.
const leastLead = 10 ** 0.8
// The share of all power that the two tones must have. A larger one would miss tones that are off by 1.5 %, as
// senders may be.
const leastShare = 0.7

export class ToneDetector {
  readonly #s1 = new Float64Array(tones)
  readonly #s2 = new Float64Array(tones)
  readonly #powers = new Float64Array(tones)
  #energy = 0
  #filled = 0
  /** The key of the last block, and the number of blocks in a row that had it. */
  #last = ''
  #lastBlocks = 0
  /** The pressed key, its length in blocks, and the number of latest blocks without it. */
  #pressed = ''
  #pressedBlocks = 0
  #missedBlocks = 0

  /** Returns the keys whose press ended within these samples. Undefined is silence of 20 ms. */
  hear(samples: Int16Array | undefined): Digit[] {
    const digits: Digit[] = []
    if (samples === undefined) return this.#isIdle ? digits : this.hear(silence)
    for (let from = 0; from < samples.length;) {
      const count = Math.min(blockSamples - this.#filled, samples.length - from)
      this.#add(samples, from, from + count)
      from += count
      this.#filled += count
      if (this.#filled === blockSamples) this.#endBlock(digits)
    }
    return digits
  }

  get #isIdle(): boolean {
    return this.#pressed === '' && this.#last === '' && this.#energy === 0
  }

  #add(samples: Int16Array, from: number, to: number): void {
    for (let tone = 0; tone < tones; tone += 1) {
      const coefficient = coefficients[tone] ?? 0
      let s1 = this.#s1[tone] ?? 0
      let s2 = this.#s2[tone] ?? 0
      for (let index = from; index < to; index += 1) {
        const s0 = (samples[index] ?? 0) + coefficient * s1 - s2
        s2 = s1
        s1 = s0
      }
      this.#s1[tone] = s1
      this.#s2[tone] = s2
    }
    for (let index = from; index < to; index += 1) this.#energy += (samples[index] ?? 0) ** 2
  }

  #endBlock(digits: Digit[]): void {
    const heard = this.#keyOfBlock()
    this.#s1.fill(0)
    this.#s2.fill(0)
    this.#energy = 0
    this.#filled = 0
    this.#lastBlocks = heard === this.#last ? this.#lastBlocks + 1 : 1
    this.#last = heard
    if (this.#pressed !== '') this.#goOn(heard, digits)
    if (this.#pressed !== '' || heard === '' || this.#lastBlocks < blocksToBegin) return
    this.#pressed = heard
    this.#pressedBlocks = this.#lastBlocks
    this.#missedBlocks = 0
  }

  /** Extends or ends the press. A single block without the tone may be a crackle. */
  #goOn(heard: string, digits: Digit[]): void {
    if (heard === this.#pressed) {
      this.#pressedBlocks += this.#missedBlocks + 1
      this.#missedBlocks = 0
      return
    }
    this.#missedBlocks += 1
    if (this.#missedBlocks < blocksToEnd) return
    digits.push({ digit: this.#pressed, durationMs: Math.round(this.#pressedBlocks * blockMs) })
    this.#pressed = ''
  }

  /** Returns the key of the block; empty if there is none. */
  #keyOfBlock(): string {
    const powers = this.#powers
    for (let tone = 0; tone < tones; tone += 1) {
      const [s1, s2] = [this.#s1[tone] ?? 0, this.#s2[tone] ?? 0]
      powers[tone] = s1 * s1 + s2 * s2 - (coefficients[tone] ?? 0) * s1 * s2
    }
    const low = strongest(powers, 0)
    const high = strongest(powers, 4)
    const [lowPower, highPower] = [powers[low] ?? 0, powers[high] ?? 0]
    if (lowPower < leastPower || highPower < leastPower) return ''
    if (lowPower > highPower * maxTwist || highPower > lowPower * maxTwist) return ''
    if (!leads(powers, low, 0) || !leads(powers, high, 4)) return ''
    if (lowPower + highPower < (leastShare * this.#energy * blockSamples) / 2) return ''
    return keysByTone[low]?.charAt(high - 4) ?? ''
  }
}

const silence = new Int16Array(160)

function strongest(powers: Float64Array, from: number): number {
  let best = from
  for (let tone = from + 1; tone < from + 4; tone += 1)
    if ((powers[tone] ?? 0) > (powers[best] ?? 0)) best = tone
  return best
}

function leads(powers: Float64Array, tone: number, from: number): boolean {
  for (let other = from; other < from + 4; other += 1)
    if (other !== tone && (powers[other] ?? 0) * leastLead > (powers[tone] ?? 0)) return false
  return true
}
