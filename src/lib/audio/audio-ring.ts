// Audio frames that one thread passes to one other in shared memory, without messages or locks, copied only in and out.
import { createSid } from '../ids.ts'

/** The frames that a reader with its own beat may fall behind by default. */
const usualFrames = 16
// Twenty seconds; a steady reader needs no more.
const maxFrames = 1000
// Both counters run to twice the capacity, so that full and empty differ. They are stored, as is the capacity, before
// the frames.
const written = 0
const read = 1
const capacity = 2
const lost = 3
const whole = 4
const controls = 5
// The kind of a frame, as it is stored.
const silent = 0
const sound = 1
const half = 2

/** Memory that two threads share. Its id identifies it, since each thread has an object of its own for it. */
export interface Ring {
  readonly id: string
  readonly memory: SharedArrayBuffer
}

export interface RingShape {
  /** One frame of all channels, which alternate. */
  readonly samples: number
  /** The number of frames that the reader may fall behind. */
  readonly frames?: number
}

export function createRing({ samples, frames = usualFrames }: RingShape): Ring {
  return { id: createSid(), memory: AudioRing.memory(samples, frames) }
}

/** `half`: sound of half the rate. */
export type Found = 'sound' | 'half' | 'silence'

export class AudioRing {
  readonly #controls: Int32Array
  readonly #samples: Int16Array
  /** The same memory, with one element for the samples of two channels. */
  readonly #pairs: Int32Array
  readonly #frames: number
  readonly #frameSamples: number
  readonly #silence: Int16Array
  /**
   * The counter of this side is moved by no other thread, so it is only stored. That of the other side is from the last
   * look at it. It is read again only if it stops this side, since it can only have advanced.
   */
  #written: number
  #read: number

  /** Both threads make a ring of the same memory. */
  constructor(memory: SharedArrayBuffer) {
    this.#frames = new Int32Array(memory, 0, controls)[capacity] ?? 0
    this.#controls = new Int32Array(memory, 0, controls + this.#frames)
    this.#samples = new Int16Array(memory, (controls + this.#frames) * 4)
    this.#pairs = new Int32Array(memory, (controls + this.#frames) * 4, this.#samples.length >> 1)
    this.#frameSamples = this.#samples.length / this.#frames
    this.#silence = new Int16Array(this.#frameSamples / 2)
    this.#written = Atomics.load(this.#controls, written)
    this.#read = Atomics.load(this.#controls, read)
  }

  static memory(frameSamples: number, frames = usualFrames): SharedArrayBuffer {
    if (!Number.isInteger(frames) || frames < 2 || frames > maxFrames)
      throw new RangeError(`a ring has 2 to ${maxFrames} frames`)
    const memory = new SharedArrayBuffer((controls + frames) * 4 + frames * frameSamples * 2)
    new Int32Array(memory, 0, controls)[capacity] = frames
    return memory
  }

  /** The most samples that one frame may have. */
  get frameSamples(): number {
    return this.#frameSamples
  }

  /** The number of frames that can be read. */
  get length(): number {
    return this.#between(Atomics.load(this.#controls, written), Atomics.load(this.#controls, read))
  }

  /** The number of frames for which there was no room, since the ring was made. */
  get lost(): number {
    return Atomics.load(this.#controls, lost)
  }

  /** Reports to the writing thread whether the reader can use more than frames of half as many samples. */
  get isWholeWanted(): boolean {
    return Atomics.load(this.#controls, whole) === 1
  }

  /** Called by the one thread that reads; before that, no whole frames are wanted. */
  wantWhole(isWanted: boolean): void {
    Atomics.store(this.#controls, whole, isWanted ? 1 : 0)
  }

  /**
   * Writes a frame, or silence if undefined. One of half as many samples has half the rate. Returns false if the reader
   * has fallen too far behind. For the one thread that writes.
   */
  write(frame: Int16Array | undefined): boolean {
    const at = this.#begin(frame === undefined ? silent : this.#kindOf(frame.length))
    if (at === undefined) return false
    if (frame !== undefined) this.#samples.set(frame, at)
    this.#end()
    return true
  }

  /** Writes a frame of two channels, without an extra copy. */
  writePair(left: Int16Array | undefined, right: Int16Array | undefined): boolean {
    if (left === undefined && right === undefined) return this.write(undefined)
    const at = this.#begin(this.#kindOf(2 * (left ?? right ?? this.#silence).length))
    if (at === undefined) return false
    interleave(left ?? this.#silence, right ?? this.#silence, this.#pairs, at / 2)
    this.#end()
    return true
  }

  /**
   * Reads a frame into the samples from `from` on; `half` means half as many samples. For the one thread that reads.
   */
  read(into: Int16Array, from = 0): Found | undefined {
    if (this.#written === this.#read) {
      this.#written = Atomics.load(this.#controls, written)
      if (this.#written === this.#read) return undefined
    }
    const length = this.#frameSamples
    const at = this.#read % this.#frames
    const kind = this.#controls[controls + at]
    const start = at * length
    if (kind === silent) into.fill(0, from, from + length)
    else into.set(this.#samples.subarray(start, start + (kind === half ? length >> 1 : length)), from)
    this.#read = this.#next(this.#read)
    Atomics.store(this.#controls, read, this.#read)
    return kind === silent ? 'silence' : kind === half ? 'half' : 'sound'
  }

  /** Returns the place for the samples of the next frame; undefined if there is no room. */
  #begin(kind: number): number | undefined {
    if (this.#between(this.#written, this.#read) >= this.#frames) {
      this.#read = Atomics.load(this.#controls, read)
      if (this.#between(this.#written, this.#read) >= this.#frames) {
        Atomics.add(this.#controls, lost, 1)
        return undefined
      }
    }
    const at = this.#written % this.#frames
    this.#controls[controls + at] = kind
    return at * this.#frameSamples
  }

  #kindOf(samples: number): number {
    return samples < this.#frameSamples ? half : sound
  }

  #end(): void {
    this.#written = this.#next(this.#written)
    Atomics.store(this.#controls, written, this.#written)
  }

  #next(counter: number): number {
    return (counter + 1) % (2 * this.#frames)
  }

  #between(ahead: number, behind: number): number {
    const frames = ahead - behind
    return frames < 0 ? frames + 2 * this.#frames : frames
  }
}

/** Stores both in one word, the first in the lower half: all machines that Node runs on here are little endian. */
function interleave(left: Int16Array, right: Int16Array, into: Int32Array, from: number): void {
  const count = Math.min(left.length, right.length)
  for (let index = 0; index < count; index += 1)
    into[from + index] = ((left[index] ?? 0) & 0xffff) | ((right[index] ?? 0) << 16)
}
