// The sound in place of missing packets: the last pitch of the voice continues and fades. Similar to ITU-T G.711
// Appendix I, but without its delay: joints are smoothed by the samples after them.
import type { Rate } from '../codecs/codecs.ts'
import { toSample } from '../../lib/audio/to-sample.ts'

// All of these are in 1/8000 s. The history is the longest pitch twice, plus the compared samples.
const history = 400
// The memory is longer than the history, so that older samples are moved out of the way in one frame of ten, not in
// each.
const kept = 5 * history
const shortestPitch = 40
const longestPitch = 120
const compared = 160
/** The length of a joint: 4 ms. */
export const jointSamples = 32
// A voice changes within 60 ms; a sound that continues for longer is a drone.
const steady = 80
const faded = 480
// A codec fades its made-up sound by itself, into the noise behind the voice. A far end that sends nothing in silence
// updates that noise every 400 ms (RFC 6716 §2.1.9), and one such packet may be lost.
const fadedByCodec = 8000

export class Concealment {
  /** The number of samples in 1/8000 s. */
  readonly #perUnit: number
  readonly #historySamples: number
  readonly #steadySamples: number
  readonly #fadedSamples: number
  readonly #fadedByCodec: number
  readonly #jointSamples: number
  readonly #kept: Int16Array
  /** The end of the history within the kept samples. */
  #end: number
  readonly #cycle: Float64Array
  readonly #joint: Int16Array
  #pitch = 0
  /** The step from the sample one pitch earlier to the last sample of the history. It fades over the first joint. */
  #step = 0
  /** The samples made up since the last decoded one. */
  #made = 0
  /** Whether the codec made them up; it continues from them by itself. */
  #isMadeByCodec = false
  #hasHeard = false

  constructor(rate: Rate = 8000) {
    const samples = rate / 8000
    this.#perUnit = samples
    this.#historySamples = history * samples
    this.#steadySamples = steady * samples
    this.#fadedSamples = faded * samples
    this.#fadedByCodec = fadedByCodec * samples
    this.#jointSamples = jointSamples * samples
    this.#kept = new Int16Array(kept * samples)
    this.#end = this.#historySamples
    this.#cycle = new Float64Array(longestPitch * samples)
    this.#joint = new Int16Array(this.#jointSamples)
  }

  /** Whether no sound is left to continue. */
  get isSilent(): boolean {
    return !this.#hasHeard || this.#made >= (this.#isMadeByCodec ? this.#fadedByCodec : this.#fadedSamples)
  }

  /** Whether the last samples were made up. */
  get isMakingUp(): boolean {
    return this.#made > 0
  }

  forget(): void {
    this.#hasHeard = false
    this.#made = 0
    this.#kept.fill(0)
  }

  /** Takes decoded samples as history. Smooths the joint in place if made-up samples came before. */
  hear(samples: Int16Array, at: number, count: number): void {
    const isJoint = this.#made > 0 && !this.#isMadeByCodec
    if (isJoint) this.#joinTo(samples, at, Math.min(count, this.#jointSamples))
    this.#keep(samples, at + Math.max(0, count - this.#historySamples), at + count)
    this.#hasHeard = true
    this.#made = 0
  }

  /** Takes samples that the codec made up itself. */
  madeByCodec(samples: Int16Array, at: number, count: number): void {
    this.#keep(samples, at + Math.max(0, count - this.#historySamples), at + count)
    this.#made += count
    this.#isMadeByCodec = true
  }

  /** Makes up samples from `at` on. */
  fill(into: Int16Array, at: number, count: number): void {
    if (this.isSilent) {
      into.fill(0, at, at + count)
      this.#made += count
      this.#isMadeByCodec = false
      return
    }
    if (this.#made === 0 || this.#isMadeByCodec) this.#begin()
    this.#isMadeByCodec = false
    for (let index = 0; index < count; index += 1) into[at + index] = this.#next()
  }

  #keep(samples: Int16Array, from: number, to: number): void {
    const kept = this.#kept
    if (this.#end + to - from > kept.length) {
      kept.copyWithin(0, this.#end - this.#historySamples, this.#end)
      this.#end = this.#historySamples
    }
    // A loop, since creating a view for each frame costs more than copying its samples.
    for (let index = from; index < to; index += 1) kept[this.#end + index - from] = samples[index] ?? 0
    this.#end += to - from
  }

  #next(): number {
    const made = this.#made
    this.#made += 1
    const cycle = this.#cycle[made % this.#pitch] ?? 0
    const joint = this.#jointSamples
    const step = made < joint ? this.#step * (1 - made / joint) : 0
    const share = (made - this.#steadySamples) / (this.#fadedSamples - this.#steadySamples)
    const gain = share <= 0 ? 1 : Math.max(0, 1 - share)
    return toSample((cycle + step) * gain)
  }

  #begin(): void {
    const history = this.#kept
    const end = this.#end
    const pitch = this.#findPitch()
    const joint = pitch >> 2
    for (let index = 0; index < pitch; index += 1) {
      const own = history[end - pitch + index] ?? 0
      const before = history[end - 2 * pitch + index] ?? 0
      // The end of the cycle blends into its beginning as it did one pitch earlier.
      const share = Math.max(0, (index - (pitch - joint)) / joint)
      this.#cycle[index] = own * (1 - share) + before * share
    }
    this.#pitch = pitch
    this.#step = (history[end - 1] ?? 0) - (history[end - 1 - pitch] ?? 0)
  }

  /** Returns the distance at which the end of the history repeats itself best. */
  #findPitch(): number {
    const history = this.#kept
    const step = this.#perUnit
    const from = this.#end - compared * step
    let best = shortestPitch * step
    let bestScore = -Infinity
    for (let pitch = best; pitch <= longestPitch * step; pitch += step) {
      const score = likeness(history, from, pitch, step)
      if (score > bestScore) {
        best = pitch
        bestScore = score
      }
    }
    return best
  }

  #joinTo(samples: Int16Array, at: number, count: number): void {
    const joint = this.#joint
    this.fill(joint, 0, count)
    for (let index = 0; index < count; index += 1) {
      const share = (index + 1) / (count + 1)
      samples[at + index] = Math.round((joint[index] ?? 0) * (1 - share) + (samples[at + index] ?? 0) * share)
    }
  }
}

/**
 * Returns how alike the 20 ms of samples from `from` on are to those `lag` earlier: 1 if equal. Compares 4000 samples
 * per second; `perUnit` samples are 1/8000 s.
 */
export function likeness(samples: Int16Array, from: number, lag: number, perUnit = 1): number {
  let product = 0
  let energy = 1
  let laggedEnergy = 1
  for (let index = from; index < from + compared * perUnit; index += 2 * perUnit) {
    const own = samples[index] ?? 0
    const lagged = samples[index - lag] ?? 0
    product += own * lagged
    energy += own * own
    laggedEnergy += lagged * lagged
  }
  return product / Math.sqrt(energy * laggedEnergy)
}
