// The recorder seen from inside its thread: writes the rings of all recordings to their files, ten times a second.
import { closeSync, constants, fstatSync, ftruncateSync, futimesSync, openSync, writeSync } from 'node:fs'
import { dirname } from 'node:path'
import { isDiskFull } from '../lib/full-disk.ts'
import { createLaws } from '../media/codecs/g711.ts'
import { RecordingReader } from '../media/recording/recording-reader.ts'
import { diskOf, roomOn, type Disk } from './disk-room.ts'
import { dataBytesIn, durationOf, headerBytes, headerOf, maxDataBytes } from './wav-file.ts'

export interface BeginRecording {
  readonly kind: 'begin'
  readonly id: string
  readonly path: string
  readonly memory: SharedArrayBuffer
  readonly maxBytes: number
  /** Whether an earlier thread has begun the file. */
  readonly goesOn: boolean
}

export type ToRecorder =
  | BeginRecording
  | { readonly kind: 'end'; readonly id: string; readonly reason?: string }
  /** The number of further bytes that all recordings together may write. */
  | { readonly kind: 'room'; readonly bytes: number }

export type FromRecorder =
  | {
      readonly kind: 'ended'
      readonly id: string
      readonly bytes: number
      readonly durationMs: number
      readonly reason: string | undefined
    }
  | { readonly kind: 'gap'; readonly id: string; readonly frames: number }

/** In ticks, ten seconds. Other processes treat a file left alone for thirty as one without a recorder. */
const touchTicks = 100

/** In ticks, a second: other programs write to the disk too. */
const lookTicks = 10

/** Half a second: the audio lost if the process is killed, at two writes a second for each call. */
const pieceFrames = 25

interface Taking {
  readonly id: string
  readonly path: string
  readonly file: number
  readonly ring: RecordingReader
  readonly piece: Int16Array
  readonly bytes: Buffer
  readonly maxBytes: number
  /** The samples of the piece that are not written yet. */
  filled: number
  written: number
  lost: number
}

export class RecorderHost {
  readonly #post: (message: FromRecorder) => void
  readonly #diskOf: (folder: string) => Disk
  readonly #takings = new Map<string, Taking>()
  readonly #laws = createLaws()
  #room: number
  /** The bytes that recordings may take on the disk, from the last look, minus those written since. */
  #disk = 0
  #ticks = 0

  constructor(post: (message: FromRecorder) => void, room: number, look = diskOf) {
    this.#post = post
    this.#room = room
    this.#diskOf = look
  }

  take(message: ToRecorder): void {
    if (message.kind === 'room') {
      this.#room += message.bytes
    } else if (message.kind === 'begin') {
      this.#begin(message)
    } else {
      const taking = this.#takings.get(message.id)
      if (taking !== undefined) this.#end(taking, this.#empty(taking, true) ?? message.reason)
    }
  }

  tick(): void {
    this.#ticks += 1
    const [first] = this.#takings.values()
    if (first !== undefined && this.#ticks % lookTicks === 0) this.#look(first.path)
    const isTouched = this.#ticks % touchTicks === 0
    for (const taking of this.#takings.values()) {
      const reason = this.#empty(taking) ?? (isTouched ? this.#touch(taking) : undefined)
      if (reason !== undefined) this.#end(taking, reason)
    }
  }

  #look(path: string): void {
    try {
      this.#disk = roomOn(this.#diskOf(dirname(path)))
    } catch {
      // If the disk cannot be examined, a failing write will show that it is full.
      this.#disk = Infinity
    }
  }

  /** Updates the times of the file: a recording that is paused writes nothing, and may continue. */
  #touch({ file }: Taking): string | undefined {
    try {
      const now = new Date()
      futimesSync(file, now, now)
      return undefined
    } catch (error) {
      return reasonOf(error)
    }
  }

  #begin({ id, path, memory, maxBytes, goesOn }: BeginRecording): void {
    let file: number | undefined
    try {
      this.#look(path)
      if (this.#disk <= 0) throw new RecordingEnded(noRoom)
      // An earlier thread may have died before it created the file.
      file = openSync(path, goesOn ? constants.O_RDWR | constants.O_CREAT : 'w+', 0o600)
      const ring = new RecordingReader(memory, this.#laws)
      const piece = new Int16Array(ring.frameSamples * pieceFrames)
      const { size } = fstatSync(file)
      const written = dataBytesIn(size)
      if (size < headerBytes) writeSync(file, headerOf(0), 0, headerBytes, 0)
      const kept = Math.min(maxBytes, maxDataBytes)
      this.#takings.set(id, {
        ...{ id, path, file, ring, piece, written, maxBytes: kept, filled: 0 },
        bytes: Buffer.from(piece.buffer),
        lost: goesOn ? ring.lost : 0,
      })
    } catch (error) {
      this.#post({ kind: 'ended', id, bytes: 0, durationMs: 0, reason: reasonOf(error) })
      if (file !== undefined) closeQuietly(file)
    }
  }

  /**
   * Reads the ring. Returns the reason if nothing more can be kept. `isToEnd` includes frames that late packets could
   * still fill.
   */
  #empty(taking: Taking, isToEnd = false): string | undefined {
    try {
      const { ring, piece } = taking
      while (ring.read(piece, taking.filled, isToEnd)) {
        taking.filled += ring.frameSamples
        if (taking.filled === piece.length) this.#write(taking)
      }
      this.#makeUp(taking)
      return undefined
    } catch (error) {
      return reasonOf(error)
    }
  }

  /** Writes silence for frames that the ring had no room for, so that later audio keeps its position. */
  #makeUp(taking: Taking): void {
    const { ring, piece } = taking
    const frames = ring.lost - taking.lost
    if (frames <= 0) return
    taking.lost += frames
    for (let index = 0; index < frames; index += 1) {
      piece.fill(0, taking.filled, taking.filled + ring.frameSamples)
      taking.filled += ring.frameSamples
      if (taking.filled === piece.length) this.#write(taking)
    }
    this.#post({ kind: 'gap', id: taking.id, frames })
  }

  #write(taking: Taking): void {
    const bytes = taking.filled * 2
    taking.filled = 0
    if (bytes === 0) return
    if (bytes > this.#room) throw new RecordingEnded('the disk space for recordings is used up')
    if (bytes > this.#disk) throw new RecordingEnded(noRoom)
    if (taking.written + bytes > taking.maxBytes)
      throw new RecordingEnded('the recording is as long as it may be')
    let done = 0
    // A disk that is filling up first accepts only a part.
    while (done < bytes) {
      const at = headerBytes + taking.written
      const took = writeSync(taking.file, taking.bytes, done, bytes - done, at)
      done += took
      taking.written += took
      this.#room -= took
      this.#disk -= took
    }
  }

  #end(taking: Taking, given: string | undefined): void {
    this.#takings.delete(taking.id)
    let reason = given
    try {
      if (reason === undefined) this.#write(taking)
    } catch (error) {
      reason = reasonOf(error)
    }
    const bytes = taking.written - (taking.written % 4)
    try {
      // Written in place, which needs no free space on the disk.
      writeSync(taking.file, headerOf(bytes), 0, headerBytes, 0)
      ftruncateSync(taking.file, headerBytes + bytes)
    } catch (error) {
      reason ??= reasonOf(error)
    }
    try {
      // A disk behind a network may report only here that a write failed.
      closeSync(taking.file)
    } catch (error) {
      reason ??= reasonOf(error)
    }
    this.#post({ kind: 'ended', id: taking.id, bytes, durationMs: durationOf(bytes), reason })
  }
}

/** Closes a file from which nothing is kept. */
function closeQuietly(file: number): void {
  try {
    closeSync(file)
  } catch {
    // The recording has ended with the error that came first.
  }
}

const noRoom = 'the disk is full except for the space that the platform itself needs'

class RecordingEnded extends Error {}

function reasonOf(error: unknown): string {
  if (error instanceof RecordingEnded) return error.message
  if (isDiskFull(error)) return 'the disk is full'
  const code = error instanceof Error && 'code' in error ? String(error.code) : ''
  return `the disk failed (${code === '' ? String(error) : code})`
}
