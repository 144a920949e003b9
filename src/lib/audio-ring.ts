// Frames of audio from one thread to one other, in shared memory: no message, no lock, no copy but the one in and out.

/** What one that reads on its own beat may fall behind. */
const frames = 16
// Where the numbers of frames written and read since the start stand; they wrap together.
const written = 0
const read = 1
const controls = 2

export class AudioRing {
  readonly #controls: Int32Array
  readonly #samples: Int16Array
  readonly #frameSamples: number

  /** Both threads make one of the same memory. */
  constructor(memory: SharedArrayBuffer) {
    this.#controls = new Int32Array(memory, 0, controls + frames)
    this.#samples = new Int16Array(memory, (controls + frames) * 4)
    this.#frameSamples = this.#samples.length / frames
  }

  static memory(frameSamples: number): SharedArrayBuffer {
    return new SharedArrayBuffer((controls + frames) * 4 + frames * frameSamples * 2)
  }

  /** Frames that can be read. */
  get length(): number {
    return (Atomics.load(this.#controls, written) - Atomics.load(this.#controls, read)) | 0
  }

  /** For the one thread that writes; undefined: a frame of silence. False when the reader has fallen too far behind. */
  write(frame: Int16Array | undefined): boolean {
    if (this.length >= frames) return false
    const next = Atomics.load(this.#controls, written)
    const at = next & (frames - 1)
    this.#controls[controls + at] = frame === undefined ? 0 : 1
    if (frame !== undefined) this.#samples.set(frame, at * this.#frameSamples)
    Atomics.store(this.#controls, written, (next + 1) | 0)
    return true
  }

  /** For the one thread that reads. */
  read(into: Int16Array): 'sound' | 'silence' | undefined {
    if (this.length <= 0) return undefined
    const next = Atomics.load(this.#controls, read)
    const at = next & (frames - 1)
    const isSilent = this.#controls[controls + at] === 0
    const from = at * this.#frameSamples
    if (isSilent) into.fill(0)
    else into.set(this.#samples.subarray(from, from + this.#frameSamples))
    Atomics.store(this.#controls, read, (next + 1) | 0)
    return isSilent ? 'silence' : 'sound'
  }
}
