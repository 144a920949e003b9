// One audio file as frames, which can be read while later ones are still being coded. A short clip stays in memory;
// a long one goes to a file, which each listener reads ahead of the tick.
import { open, rm, type FileHandle } from 'node:fs/promises'
import { AppError } from '../../lib/errors.ts'
import type { ClipForm } from './clip-form.ts'
import { FrameReader, type Frames } from './frame-reader.ts'

/** The place where the coded frames are kept. */
export interface FrameStore {
  write(bytes: Uint8Array, offset: number): Promise<void>
  open(from: number, clip: Clip): Frames
  remove(): Promise<void>
}

export function inMemory(bytes: number): FrameStore {
  const frames = Buffer.alloc(bytes)
  return {
    write: (coded, offset) => {
      frames.set(coded, offset)
      return Promise.resolve()
    },
    open: (_from, { form }) => ({
      at: (index) => ({ bytes: frames, offset: index * form.frameBytes }),
      failure: undefined,
    }),
    remove: () => Promise.resolve(),
  }
}

/** Throws AppError overloaded. */
export async function onDisk(path: string): Promise<FrameStore> {
  const file = await open(path, 'wx+', 0o600).catch(failToKeep)
  return {
    write: async (coded, offset) => {
      await writeWhole(file, coded, offset).catch(failToKeep)
    },
    open: (from, clip) => new FrameReader({ file, from, clip }),
    remove: async () => {
      // Waits for the reads in progress.
      await file.close()
      await rm(path, { force: true })
    },
  }
}

async function writeWhole(file: FileHandle, bytes: Uint8Array, offset: number): Promise<void> {
  for (let written = 0; written < bytes.length;)
    written += (await file.write(bytes, written, bytes.length - written, offset + written)).bytesWritten
}

function failToKeep(cause: unknown): never {
  throw new AppError('overloaded', 'the audio could not be kept on the disk', {
    cause,
    cure: 'The operator should look at the free space of the data directory.',
  })
}

export interface ClipOptions {
  readonly form: ClipForm
  readonly stamp: string
  /** As many frames as the clip has, or may have. */
  readonly totalFrames: number
  readonly bytes: number
  readonly store: FrameStore
  readonly isOnDisk: boolean
}

/** A clip can be played while its later frames are still being coded. */
export class Clip {
  readonly form: ClipForm
  /** The version of the file that the clip was coded from. */
  readonly stamp: string
  readonly isOnDisk: boolean
  /** The bytes of its store that are reserved for it. */
  bytes: number
  totalFrames: number
  /** The number of frames that can be read. */
  readyFrames = 0
  /** The bytes of all samples that were appended, those for which there was no room included. */
  codedBytes = 0
  /** The error because of which no further frames will come. */
  failure: AppError | undefined
  users = 0
  /** Whether its bytes count in the total of its store. They are subtracted exactly once. */
  isCounted = true
  /** Whether a newer version of its file has replaced it. */
  isReplaced = false
  readonly #store: FrameStore
  #written = 0

  constructor({ form, stamp, totalFrames, bytes, store, isOnDisk }: ClipOptions) {
    this.form = form
    this.stamp = stamp
    this.totalFrames = totalFrames
    this.bytes = bytes
    this.isOnDisk = isOnDisk
    this.#store = store
  }

  /** Whether no frames will come beyond those that can be read now. */
  get isWhole(): boolean {
    return this.readyFrames >= this.totalFrames
  }

  open(from: number): Frames {
    return this.#store.open(from, this)
  }

  async append(samples: Float32Array): Promise<void> {
    const { form } = this
    this.codedBytes += samples.length * form.sampleBytes
    const coded = new Uint8Array(Math.min(samples.length * form.sampleBytes, this.bytes - this.#written))
    form.code(samples, coded)
    await this.#store.write(coded, this.#written)
    this.#written += coded.length
    this.readyFrames = Math.floor(this.#written / form.frameBytes)
  }

  /** Fills the last frame up with silence. A file that shrank while it was read ends early. */
  async finish(): Promise<void> {
    const { frameBytes, silence } = this.form
    const totalFrames = Math.ceil(this.#written / frameBytes)
    const rest = totalFrames * frameBytes - this.#written
    if (rest > 0) await this.#store.write(new Uint8Array(rest).fill(silence), this.#written)
    this.totalFrames = totalFrames
    this.readyFrames = totalFrames
  }

  fail(error: AppError): void {
    this.failure = error
    this.totalFrames = this.readyFrames
  }

  /** Frees its store. Only for a clip that has no listeners and will get none. */
  async remove(): Promise<void> {
    await this.#store.remove()
  }
}
