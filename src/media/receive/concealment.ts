// What is heard where packets are missing: the last pitch of the voice goes on and fades. In the manner of ITU-T G.711
// Appendix I, but without its delay: joints are smoothed by what comes after them.
import { toSample } from '../graph/mixer.ts'

// The longest pitch twice, and what is compared.
const historySamples = 400
// So that what is older is moved out of the way for one frame in ten, not for each.
const keptSamples = 5 * historySamples
const shortestPitch = 40
const longestPitch = 120
const comparedSamples = 160
/** Of a joint: 4 ms. */
export const jointSamples = 32
// A voice changes within 60 ms: what goes on for longer is a drone.
const steadySamples = 80
const fadedSamples = 480

export class Concealment {
  readonly #kept = new Int16Array(keptSamples)
  /** Where the history ends among what is kept. */
  #end = historySamples
  readonly #cycle = new Float64Array(longestPitch)
  readonly #joint = new Int16Array(jointSamples)
  #pitch = 0
  /** How far the history was off what its pitch before had promised: fades over the first joint. */
  #step = 0
  /** Samples made since something was heard. */
  #made = 0
  #hasHeard = false

  /** Nothing is left to go on with. */
  get isSilent(): boolean {
    return !this.#hasHeard || this.#made >= fadedSamples
  }

  /** The last samples were made up. */
  get isMakingUp(): boolean {
    return this.#made > 0
  }

  forget(): void {
    this.#hasHeard = false
    this.#made = 0
    this.#kept.fill(0)
  }

  /** What was heard, to go on with. Smooths the joint in place when something was made up before it. */
  hear(samples: Int16Array, at: number, count: number): void {
    const isJoint = this.#made > 0
    if (isJoint) this.#joinTo(samples, at, Math.min(count, jointSamples))
    this.#keep(samples, at + Math.max(0, count - historySamples), at + count)
    this.#hasHeard = true
    this.#made = 0
  }

  /** Makes up samples from `at` on. */
  fill(into: Int16Array, at: number, count: number): void {
    if (this.isSilent) {
      into.fill(0, at, at + count)
      this.#made += count
      return
    }
    if (this.#made === 0) this.#begin()
    for (let index = 0; index < count; index += 1) into[at + index] = this.#next()
  }

  #keep(samples: Int16Array, from: number, to: number): void {
    const kept = this.#kept
    if (this.#end + to - from > keptSamples) {
      kept.copyWithin(0, this.#end - historySamples, this.#end)
      this.#end = historySamples
    }
    // A loop, since a view for each frame costs more than its samples.
    for (let index = from; index < to; index += 1) kept[this.#end + index - from] = samples[index] ?? 0
    this.#end += to - from
  }

  #next(): number {
    const made = this.#made
    this.#made += 1
    const cycle = this.#cycle[made % this.#pitch] ?? 0
    const step = made < jointSamples ? this.#step * (1 - made / jointSamples) : 0
    const faded = (made - steadySamples) / (fadedSamples - steadySamples)
    const gain = faded <= 0 ? 1 : Math.max(0, 1 - faded)
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
      // The end of the cycle flows into its beginning as it did one pitch before.
      const share = Math.max(0, (index - (pitch - joint)) / joint)
      this.#cycle[index] = own * (1 - share) + before * share
    }
    this.#pitch = pitch
    this.#step = (history[end - 1] ?? 0) - (history[end - 1 - pitch] ?? 0)
  }

  /** The distance at which the end of the history repeats itself best. */
  #findPitch(): number {
    const history = this.#kept
    const from = this.#end - comparedSamples
    let best = shortestPitch
    let bestScore = -Infinity
    for (let pitch = shortestPitch; pitch <= longestPitch; pitch += 1) {
      const score = likeness(history, from, pitch)
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

/** How alike the samples from `from` on are to those `lag` before: 1 for the same. Every second one is looked at. */
export function likeness(samples: Int16Array, from: number, lag: number): number {
  let product = 0
  let energy = 1
  let laggedEnergy = 1
  for (let index = from; index < from + comparedSamples; index += 2) {
    const own = samples[index] ?? 0
    const lagged = samples[index - lag] ?? 0
    product += own * lagged
    energy += own * own
    laggedEnergy += lagged * lagged
  }
  return product / Math.sqrt(energy * laggedEnergy)
}
