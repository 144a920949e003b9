// A voice that another thread writes into a ring, read on our beat. Both beats follow one clock, so they do not drift apart;
// a thread that is late for a moment is concealed.
import { AudioRing } from '../../lib/audio-ring.ts'
import type { Ring } from '../../lib/audio-ring.ts'
import type { Rate } from '../codecs/codecs.ts'
import { frameSamplesAt } from '../codecs/coders.ts'
import { Concealment } from '../receive/concealment.ts'
import { SampleFrame } from './frame.ts'
import type { Frame } from './frame.ts'

// One is read, one is slack for a beat that is late.
const headStart = 2
// When our own thread stood still: what waits is older than it need be.
const maxWaiting = 5
// Someone who hears it wide asks in every tick.
const askedTicks = 25

/** All that depends on the rate of its frames. */
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

/** Is the frame of its tick itself, so that it is seen at which rate it is asked for. */
export class RingVoice implements Frame {
  readonly #ring: AudioRing
  /** Where a frame is read to, of either rate. */
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

  /** Nothing is heard of it, and nothing waits. */
  get isIdle(): boolean {
    return this.#ring.length === 0 && this.#sound.concealment.isSilent
  }

  /** There is a use for it at this rate, before it is asked for. */
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

  /** What was left out joins like what was lost. */
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
