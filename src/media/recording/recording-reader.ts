// A recording as its recorder takes it from the ring: both sides as samples that take turns, `in` on the left. Packets are decoded
// here, and what is missing between them is made up as for a listener.
import { frameSamples } from '../codecs/coders.ts'
import type { Laws } from '../codecs/g711.ts'
import { Concealment } from '../receive/concealment.ts'
import { RecordingRing } from './recording-ring.ts'
import type { Side } from './recording-ring.ts'

/** That concealment goes on from: as long as its history, and more. */
const heardFrames = 3

export class RecordingReader {
  /** Of one frame, of both sides. */
  readonly frameSamples = 2 * frameSamples
  readonly #ring: RecordingRing
  readonly #in: SideReader
  readonly #out: SideReader

  constructor(memory: SharedArrayBuffer, laws: Laws) {
    this.#ring = new RecordingRing(memory)
    this.#in = new SideReader(this.#ring, 'in', laws)
    this.#out = new SideReader(this.#ring, 'out', laws)
  }

  /** Frames for which there was no room, since the ring was made. */
  get lost(): number {
    return this.#ring.lost
  }

  /** One frame, to `from` on; false: there is none. `isToEnd`: also those to which late packets might still come. */
  read(into: Int16Array, from: number, isToEnd: boolean): boolean {
    if (this.#ring.waiting(isToEnd) <= 0) return false
    this.#in.read(into, from)
    this.#out.read(into, from + 1)
    this.#ring.taken()
    return true
  }
}

class SideReader {
  readonly #ring: RecordingRing
  readonly #side: Side
  readonly #laws: Laws
  /** While something is made up, and for the frame after it. */
  #concealment: Concealment | undefined
  #made: Int16Array | undefined

  constructor(ring: RecordingRing, side: Side, laws: Laws) {
    this.#ring = ring
    this.#side = side
    this.#laws = laws
  }

  /** Every other sample from `from` on. */
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

  /** From what the ring still has of before. */
  #begin(): Concealment {
    const concealment = new Concealment()
    const heard = new Int16Array(frameSamples)
    const isHeard = this.#ring.kind(this.#side, 1) !== 'nothing'
    for (let before = heardFrames; isHeard && before > 0; before -= 1) {
      this.#ring.copy(this.#side, this.#laws, { into: heard, from: 0, step: 1, before })
      concealment.hear(heard, 0, frameSamples)
    }
    return concealment
  }
}
