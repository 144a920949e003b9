// A voice that another thread writes into a ring, read in our ticks. Both threads follow one clock, so they do not
// drift apart. Short lateness of the writer is concealed.
import { AudioRing, type Ring } from '../../lib/audio/audio-ring.ts'
import type { Rate } from '../codecs/codecs.ts'
import { frameSamplesAt } from '../codecs/coders.ts'
import { Concealment } from '../receive/concealment.ts'
import { SampleFrame, type Frame } from '../frames/frame.ts'

// One frame to read, and one as slack for a late tick.
const headStart = 2
// More frames than this wait only after our own thread stood still. They are older than necessary, so they are skipped.
const maxWaiting = 5
// A wide listener reads in every tick. After this many ticks without one the wide rate is no longer requested.
const askedTicks = 25

/** The parts that depend on the rate of the frames. */
class Sound {
  readonly rate: Rate
  readonly count: number
  readonly concealment: Concealment
  readonly samples: Int16Array
  readonly frame: SampleFrame

  constructor(rate: Rate, memory: Int16Array) {
    this.rate = rate
    this.count = frameSamplesAt(rate)
    this.concealment = new Concealment(rate)
    this.samples = memory.subarray(0, this.count)
    this.frame = new SampleFrame(this.samples, rate)
  }
}

/** It is also the frame of its tick, so that it notices the rate at which it is read. */
export class RingVoice implements Frame {
  readonly #ring: AudioRing
  /** The memory for a frame of either rate. */
  readonly #memory: Int16Array
  readonly #rate: Rate
  #sound: Sound
  #isWaiting = true
  #hasSound = false
  #tick = -1
  #wideTick = -Infinity
  #isTunedWide = false
  #isWanted = false

  constructor({ memory }: Ring) {
    this.#ring = new AudioRing(memory)
    const { frameSamples } = this.#ring
    this.#memory = new Int16Array(frameSamples)
    this.#rate = frameSamples === frameSamplesAt(16_000) ? 16_000 : 8000
    this.#sound = new Sound(8000, this.#memory)
  }

  /** Whether it is silent and no frame is waiting. */
  get isIdle(): boolean {
    return this.#ring.length === 0 && this.#sound.concealment.isSilent
  }

  /** Announces the rate that a listener will use, before the first frame is read. */
  tune(rate: Rate): void {
    this.#isTunedWide = rate === 16_000
    this.#want()
  }

  voice(tick: number): Frame | undefined {
    if (tick !== this.#tick) {
      this.#tick = tick
      this.#want()
      this.#hasSound = this.#read()
      this.#sound.frame.renewed()
    }
    return this.#hasSound ? this : undefined
  }

  get rate(): Rate {
    return this.#sound.rate
  }

  samples(rate: Rate = 8000): Int16Array {
    if (rate === 16_000) this.#wideTick = this.#tick
    return this.#sound.frame.samples(rate)
  }

  octets(): undefined {
    return undefined
  }

  #want(): void {
    const isWanted = this.#isTunedWide || this.#tick - this.#wideTick < askedTicks
    if (isWanted === this.#isWanted) return
    this.#isWanted = isWanted
    this.#ring.wantWhole(isWanted)
  }

  #read(): boolean {
    const waiting = this.#ring.length
    if (this.#isWaiting && waiting < headStart) return this.#conceal()
    this.#isWaiting = false
    if (waiting > maxWaiting) this.#skipTo(headStart)
    const found = this.#ring.read(this.#memory)
    if (found === 'sound' || found === 'half') return this.#hear(found === 'half' ? 8000 : this.#rate)
    if (found === undefined) this.#isWaiting = true
    return this.#conceal()
  }

  #hear(rate: Rate): boolean {
    if (rate !== this.#sound.rate) this.#sound = new Sound(rate, this.#memory)
    const { concealment, samples, count } = this.#sound
    concealment.hear(samples, 0, count)
    return true
  }

  /** Skips waiting frames. The joint is smoothed as after a loss. */
  #skipTo(length: number): void {
    while (this.#ring.length > length) this.#ring.read(this.#memory)
    const { concealment, samples } = this.#sound
    concealment.fill(samples, 0, 1)
  }

  #conceal(): boolean {
    const { concealment, samples, count } = this.#sound
    if (concealment.isSilent) return false
    concealment.fill(samples, 0, count)
    return true
  }
}
