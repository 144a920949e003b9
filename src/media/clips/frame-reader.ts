// Reads the frames of a long clip from its file ahead of the ticks, which never wait for the disk.
import type { FileHandle } from 'node:fs/promises'
import type { ClipForm } from './clip-form.ts'

/** The position of a frame, valid until the next one is requested. */
export interface Frame {
  readonly bytes: Buffer
  readonly offset: number
}

/** The frames of a clip for one listener, which requests them in order, or again from the start. */
export interface Frames {
  /** Returns undefined while the frame is not coded or read yet. */
  at(index: number): Frame | undefined
  /** The error because of which no more frames can be read, if there is one. */
  readonly failure: unknown
}

// The first second, which stays in memory so that the next round can begin at the end of the last one.
const headFrames = 50
// Frames read ahead: four seconds, in pieces of two seconds and more.
const ringFrames = 200
const refillFrames = ringFrames / 2

export interface FrameReaderOptions {
  readonly file: FileHandle
  /** The frame at which each round begins. */
  readonly from: number
  readonly clip: { readonly readyFrames: number; readonly form: Pick<ClipForm, 'frameBytes'> }
}

export class FrameReader implements Frames {
  readonly #options: FrameReaderOptions
  readonly #frameBytes: number
  readonly #head: Buffer
  readonly #ring: Buffer
  /** The first frame after those that are read into the head. */
  #headEnd: number
  /** The frames in the ring: from the next one to be heard up to, and without, the first one not read yet. */
  #start: number
  #end: number
  #isReading = false
  #failure: unknown

  constructor(options: FrameReaderOptions) {
    this.#options = options
    const { frameBytes } = options.clip.form
    this.#frameBytes = frameBytes
    this.#head = Buffer.alloc(headFrames * frameBytes)
    this.#ring = Buffer.alloc(ringFrames * frameBytes)
    this.#headEnd = options.from
    this.#start = options.from + headFrames
    this.#end = this.#start
    this.#fill()
  }

  get failure(): unknown {
    return this.#failure
  }

  at(index: number): Frame | undefined {
    const { from } = this.#options
    const frameBytes = this.#frameBytes
    const isInHead = index < from + headFrames
    this.#aim(isInHead ? from + headFrames : index)
    this.#fill()
    if (isInHead)
      return index < this.#headEnd ? { bytes: this.#head, offset: (index - from) * frameBytes } : undefined
    return index < this.#end ? { bytes: this.#ring, offset: (index % ringFrames) * frameBytes } : undefined
  }

  /** Moves the ring to the frames from `index` on. */
  #aim(index: number): void {
    if (index < this.#start || index > this.#end) this.#end = index
    this.#start = index
  }

  /** Starts a read unless one is running: the result of a read is applied before the next one begins. */
  #fill(): void {
    if (this.#isReading || this.#failure !== undefined) return
    const { from, clip } = this.#options
    const headEnd = Math.min(from + headFrames, clip.readyFrames)
    if (this.#headEnd < headEnd) {
      const frames = headEnd - this.#headEnd
      const first = this.#headEnd
      void this.#read(this.#head, { at: first - from, first, frames }, () => (this.#headEnd = headEnd))
      return
    }
    const ahead = this.#end - this.#start
    if (ahead >= refillFrames) return
    const at = this.#end % ringFrames
    const frames = Math.min(clip.readyFrames - this.#end, ringFrames - ahead, ringFrames - at)
    if (frames <= 0) return
    const first = this.#end
    void this.#read(this.#ring, { at, first, frames }, () => {
      // Except when the listener has started again meanwhile.
      if (this.#end === first) this.#end += frames
    })
  }

  async #read(
    into: Buffer,
    { at, first, frames }: { readonly at: number; readonly first: number; readonly frames: number },
    onRead: () => void,
  ): Promise<void> {
    this.#isReading = true
    const frameBytes = this.#frameBytes
    try {
      const bytes = frames * frameBytes
      for (let read = 0; read < bytes;) {
        const { bytesRead } = await this.#options.file.read(
          into,
          at * frameBytes + read,
          bytes - read,
          first * frameBytes + read,
        )
        if (bytesRead === 0) throw new Error('the file of the clip was cut short')
        read += bytesRead
      }
      onRead()
    } catch (error) {
      this.#failure = error
    } finally {
      this.#isReading = false
    }
  }
}
