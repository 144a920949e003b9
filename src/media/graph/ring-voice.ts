// A voice that another worker writes into a ring, read on our beat. Both beats follow one clock, so they do not drift apart;
// a thread that is late for a moment is concealed.
import { AudioRing } from '../../lib/audio-ring.ts'
import type { Ring } from '../../lib/audio-ring.ts'
import { frameSamples } from '../codecs/coders.ts'
import { Concealment } from '../receive/concealment.ts'
import { SampleFrame } from './frame.ts'
import type { Frame } from './frame.ts'

// One is read, one is slack for a beat that is late.
const headStart = 2
// When our own thread stood still: what waits is older than it need be.
const maxWaiting = 5

export class RingVoice {
  readonly #ring: AudioRing
  readonly #concealment = new Concealment()
  readonly #samples = new Int16Array(frameSamples)
  readonly #frame = new SampleFrame(this.#samples)
  #isWaiting = true
  #hasSound = false
  #tick = -1

  constructor({ memory }: Ring) {
    this.#ring = new AudioRing(memory)
  }

  /** Nothing is heard of it, and nothing waits. */
  get isIdle(): boolean {
    return this.#ring.length === 0 && this.#concealment.isSilent
  }

  voice(tick: number): Frame | undefined {
    if (tick !== this.#tick) {
      this.#tick = tick
      this.#hasSound = this.#read()
      this.#frame.renewed()
    }
    return this.#hasSound ? this.#frame : undefined
  }

  #read(): boolean {
    const waiting = this.#ring.length
    if (this.#isWaiting && waiting < headStart) return this.#conceal()
    this.#isWaiting = false
    if (waiting > maxWaiting) this.#skipTo(headStart)
    const found = this.#ring.read(this.#samples)
    if (found === 'sound') this.#concealment.hear(this.#samples, 0, frameSamples)
    if (found === 'sound') return true
    if (found === undefined) this.#isWaiting = true
    return this.#conceal()
  }

  /** What was left out joins like what was lost. */
  #skipTo(length: number): void {
    while (this.#ring.length > length) this.#ring.read(this.#samples)
    this.#concealment.fill(this.#samples, 0, 1)
  }

  #conceal(): boolean {
    if (this.#concealment.isSilent) return false
    this.#concealment.fill(this.#samples, 0, frameSamples)
    return true
  }
}
