// Sounds that the platform makes by itself, without a file: the ringing tone, and noise that says that the line is not dead.
import { frameSamples } from '../codecs/coders.ts'
import { SampleFrame } from './frame.ts'
import type { Frame } from './frame.ts'
import type { Generated } from './wiring.ts'

const rate = 8000

// One second of ringing and four of silence, at 425 Hz: ITU-T E.180 recommends it, and callers of every country know it.
const ringHz = 425
const ringSamples = rate
const roundSamples = 5 * rate
// About -13 dBm0, as telephone exchanges ring.
const ringLevel = 5000
// The tone begins and ends within 5 ms, so that neither is a click.
const edgeSamples = 40

// Some 40 dB under the full scale: as loud as a quiet room.
const noiseLevel = 550

export class GeneratedVoice {
  readonly #kind: Generated
  readonly #samples = new Int16Array(frameSamples)
  readonly #frame = new SampleFrame(this.#samples)
  #at = 0
  #seed = 1

  constructor(kind: Generated) {
    this.#kind = kind
  }

  /** Undefined: silence. */
  next(): Frame | undefined {
    const from = this.#at
    this.#at += frameSamples
    if (this.#kind === 'ringing' && from % roundSamples >= ringSamples) return undefined
    for (let index = 0; index < frameSamples; index += 1)
      this.#samples[index] = this.#kind === 'ringing' ? ringAt(from + index) : this.#noise()
    return this.#frame
  }

  /** Numbers without a pattern that an ear would find (a linear congruential generator). */
  #noise(): number {
    this.#seed = (Math.imul(this.#seed, 1_664_525) + 1_013_904_223) >>> 0
    return Math.round((this.#seed / 2 ** 31 - 1) * noiseLevel)
  }
}

function ringAt(sample: number): number {
  const at = sample % roundSamples
  const edge = Math.min(1, at / edgeSamples, (ringSamples - at) / edgeSamples)
  return Math.round(ringLevel * edge * Math.sin((2 * Math.PI * ringHz * at) / rate))
}
