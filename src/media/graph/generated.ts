// The sounds that the platform generates without a file: the ringing tone, noise that shows that the line is not
// dead, and a short tone that announces a participant.
import { frameSamples } from '../codecs/coders.ts'
import { SampleFrame, type Frame } from '../frames/frame.ts'
import type { Generated } from '../wiring.ts'

const rate = 8000

// One second of ringing and four of silence, at 425 Hz: ITU-T E.180 recommends it, and callers everywhere recognize it.
const ringHz = 425
const ringSamples = rate
const roundSamples = 5 * rate
// About -13 dBm0, the level of ringing tones of telephone exchanges.
const toneLevel = 5000
// The tone begins and ends within 5 ms, so that it does not click.
const edgeSamples = 40

// Higher than any tone of the network, and long enough to be noticed.
const beepHz = 1000
const beepSamples = 0.2 * rate

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

  /** Returns the frame of the next tick; undefined for silence. */
  next(): Frame | undefined {
    const from = this.#at
    this.#at += frameSamples
    if (this.#kind !== 'noise' && !isToneAt(this.#kind, from)) return undefined
    for (let index = 0; index < frameSamples; index += 1)
      this.#samples[index] = this.#kind === 'noise' ? this.#noise() : toneAt(this.#kind, from + index)
    return this.#frame.renewed()
  }

  /** Returns a sample of noise without an audible pattern (a linear congruential generator). */
  #noise(): number {
    this.#seed = (Math.imul(this.#seed, 1_664_525) + 1_013_904_223) >>> 0
    return Math.round((this.#seed / 2 ** 31 - 1) * noiseLevel)
  }
}

type Tone = Exclude<Generated, 'noise'>

const tones = {
  ringing: { hz: ringHz, samples: ringSamples, every: roundSamples },
  beep: { hz: beepHz, samples: beepSamples, every: Infinity },
} as const

function isToneAt(kind: Tone, sample: number): boolean {
  const { samples, every } = tones[kind]
  return sample % every < samples
}

function toneAt(kind: Tone, sample: number): number {
  const { hz, samples, every } = tones[kind]
  const at = sample % every
  const edge = Math.min(1, at / edgeSamples, (samples - at) / edgeSamples)
  return Math.round(toneLevel * edge * Math.sin((2 * Math.PI * hz * at) / rate))
}
