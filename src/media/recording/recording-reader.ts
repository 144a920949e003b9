// A recording as its recorder reads it from the ring: interleaved samples of both sides, `in` on the left. Packets
// are decoded here, and missing ones are concealed as for a listener.
import { frameSamples } from '../codecs/coders.ts'
import type { Laws } from '../codecs/g711.ts'
import { Concealment } from '../receive/concealment.ts'
import { RecordingRing, type Side } from './recording-ring.ts'

/** The frames that concealment continues from: at least the length of its history. */
const heardFrames = 3

export class RecordingReader {
  /** The samples of one frame, both sides together. */
  readonly frameSamples = 2 * frameSamples
  readonly #ring: RecordingRing
  readonly #in: SideReader
  readonly #out: SideReader

  constructor(memory: SharedArrayBuffer, laws: Laws) {
    this.#ring = new RecordingRing(memory)
    this.#in = new SideReader(this.#ring, 'in', laws)
    this.#out = new SideReader(this.#ring, 'out', laws)
  }

  /** The number of frames for which the ring had no room, since it was created. */
  get lost(): number {
    return this.#ring.lost
  }

  /**
   * Reads one frame into `into` at `from`, silent if it is masked. Returns false if there is none. `isToEnd` includes frames that late
   * packets may still fill.
   */
  read(into: Int16Array, from: number, isToEnd: boolean): boolean {
    if (this.#ring.waiting(isToEnd) <= 0) return false
    this.#in.read(into, from)
    this.#out.read(into, from + 1)
    if (this.#ring.isMasked()) into.fill(0, from, from + this.frameSamples)
    this.#ring.taken()
    return true
  }
}

class SideReader {
  readonly #ring: RecordingRing
  readonly #side: Side
  readonly #laws: Laws
  /** Set while frames are concealed, and for the frame after them. */
  #concealment: Concealment | undefined
  #made: Int16Array | undefined

  constructor(ring: RecordingRing, side: Side, laws: Laws) {
    this.#ring = ring
    this.#side = side
    this.#laws = laws
  }

  /** Writes every other sample from `from` on. */
  read(into: Int16Array, from: number): void {
    const kind = this.#ring.kind(this.#side)
    if (this.#concealment === undefined && kind !== 'nothing')
      this.#ring.copy(this.#side, this.#laws, { into, from, step: 2 })
    else this.#makeUp(into, from)
  }

  #makeUp(into: Int16Array, from: number): void {
    const concealment = (this.#concealment ??= this.#begin())
    const made = (this.#made ??= new Int16Array(frameSamples))
    const isOver = this.#ring.kind(this.#side) !== 'nothing'
    if (isOver) {
      this.#ring.copy(this.#side, this.#laws, { into: made, from: 0, step: 1 })
      concealment.hear(made, 0, frameSamples)
      this.#concealment = undefined
    } else concealment.fill(made, 0, frameSamples)
    for (let index = 0; index < frameSamples; index += 1) into[from + 2 * index] = made[index] ?? 0
  }

  /** Returns a concealment that continues from the earlier frames in the ring. */
  #begin(): Concealment {
    const concealment = new Concealment()
    const heard = new Int16Array(frameSamples)
    const isHeard = this.#ring.kind(this.#side, 1) !== 'nothing'
    for (let before = heardFrames; isHeard && before > 0; before -= 1) {
      // Sound of masked frames must not be heard later.
      if (this.#ring.isMasked(before)) heard.fill(0)
      else this.#ring.copy(this.#side, this.#laws, { into: heard, from: 0, step: 1, before })
      concealment.hear(heard, 0, frameSamples)
    }
    return concealment
  }
}
