// Audio files as G.711 frames, coded once per worker and law, so that a playback costs one copy per packet.
import { open } from 'node:fs/promises'
import type { FileHandle } from 'node:fs/promises'
import { AppError } from '../lib/errors.ts'
import type { Law, Laws, LawTables } from './codecs/g711.ts'
import { createResampler, telephoneRate } from './codecs/resampler.ts'
import { readWavFormat, toMono } from './codecs/wav.ts'
import type { WavFormat } from './codecs/wav.ts'
import { tickSamples } from './tick-clock.ts'

export const frameBytes = tickSamples

const largestFileBytes = 100 * 1024 * 1024
const longestSeconds = 30 * 60
// Small enough that converting one piece (48 kHz stereo at worst) stays near a millisecond: packets wait behind it.
const pieceBytes = 16_384
// Half a second coded before the first frame goes out: a slow read of the next piece is not heard.
const headStartFrames = 25

/** A clip may be played while its later frames are still being coded. */
export interface Clip {
  readonly law: Law
  readonly frames: Buffer
  readonly totalFrames: number
  /** Frames that can be sent. */
  readonly readyFrames: number
  /** Why the rest will not come. */
  readonly failure: AppError | undefined
}

class LoadingClip implements Clip {
  readonly law: Law
  readonly stamp: string
  readonly frames: Buffer
  totalFrames: number
  readyFrames = 0
  failure: AppError | undefined
  users = 0
  /** Whether its bytes are part of the sum; taken out exactly once. */
  isCounted = true
  /** By a newer version of its file. */
  isReplaced = false
  #samples = 0

  constructor(law: Law, stamp: string, totalFrames: number) {
    this.law = law
    this.stamp = stamp
    this.totalFrames = totalFrames
    this.frames = Buffer.alloc(totalFrames * frameBytes)
  }

  append(samples: Float32Array, { encode, silence }: LawTables): void {
    const { frames } = this
    const count = Math.min(samples.length, frames.length - this.#samples)
    for (let index = 0; index < count; index += 1) {
      const rounded = Math.round(samples[index] ?? 0)
      const sample = rounded > 32_767 ? 32_767 : rounded < -32_768 ? -32_768 : rounded
      frames[this.#samples + index] = encode[sample & 0xffff] ?? silence
    }
    this.#samples += count
    this.readyFrames = Math.floor(this.#samples / frameBytes)
  }

  /** The last frame is filled up with silence; a file that shrank while it was read ends early. */
  finish(silence: number): void {
    this.frames.fill(silence, this.#samples)
    this.totalFrames = Math.ceil(this.#samples / frameBytes)
    this.readyFrames = this.totalFrames
  }

  fail(error: unknown): void {
    this.failure = toAudioError(error)
    this.totalFrames = this.readyFrames
  }
}

function toAudioError(error: unknown): AppError {
  if (error instanceof AppError) return error
  return new AppError('audio_not_found', 'The audio file could not be read.', { cause: error })
}

function reader(file: FileHandle): (offset: number, length: number) => Promise<Uint8Array> {
  return async (offset, length) => {
    const bytes = new Uint8Array(length)
    const { bytesRead } = await file.read(bytes, 0, length, offset)
    return bytes.subarray(0, bytesRead)
  }
}

export interface ClipsOptions {
  readonly laws: Laws
  /** Of coded audio, kept and in use together. One hour of G.711 is 29 MB. */
  readonly mostBytes: number
}

export class Clips {
  readonly #laws: Laws
  readonly #mostBytes: number
  /** In order of use, the latest last. */
  readonly #clips = new Map<string, LoadingClip>()
  readonly #opening = new Map<string, Promise<LoadingClip>>()
  #bytes = 0
  #lane: Promise<unknown> = Promise.resolve()

  constructor({ laws, mostBytes }: ClipsOptions) {
    this.#laws = laws
    this.#mostBytes = mostBytes
  }

  /** Resolves when the first frames can be played. Throws audio_not_found, audio_not_supported or overloaded. */
  async acquire(path: string, law: Law): Promise<Clip> {
    const key = `${law}:${path}`
    // Two calls that want the same file at the same moment read it once.
    let opening = this.#opening.get(key)
    if (opening === undefined) {
      opening = this.#find(key, path, law).finally(() => this.#opening.delete(key))
      this.#opening.set(key, opening)
    }
    const clip = await opening
    clip.users += 1
    return clip
  }

  release(clip: Clip): void {
    if (!(clip instanceof LoadingClip)) return
    clip.users -= 1
    this.#forgetReplaced(clip)
  }

  async #find(key: string, path: string, law: Law): Promise<LoadingClip> {
    const file = await open(path, 'r').catch((error: unknown) => {
      throw toAudioError(error)
    })
    let isHandedOn = false
    try {
      const stat = await file.stat()
      if (!stat.isFile()) throw new AppError('audio_not_supported', 'The audio is not a file.')
      if (stat.size > largestFileBytes)
        throw new AppError('audio_not_supported', 'The audio file is larger than 100 MB.')
      const stamp = `${stat.ino}:${stat.size}:${stat.mtimeMs}`
      const known = this.#clips.get(key)
      if (known?.stamp === stamp && known.failure === undefined) {
        this.#clips.delete(key)
        this.#clips.set(key, known)
        return known
      }
      const format = await readWavFormat(reader(file), stat.size)
      const clip = this.#reserve(key, law, stamp, format)
      isHandedOn = true
      await this.#load(clip, file, format)
      return clip
    } catch (error) {
      throw toAudioError(error)
    } finally {
      if (!isHandedOn) await file.close()
    }
  }

  #reserve(key: string, law: Law, stamp: string, format: WavFormat): LoadingClip {
    const samples = Math.ceil((format.dataBytes / format.frameBytes / format.rate) * telephoneRate)
    if (samples > longestSeconds * telephoneRate)
      throw new AppError('audio_not_supported', 'The audio is longer than 30 minutes.')
    const totalFrames = Math.ceil(samples / frameBytes)
    this.#makeRoom(totalFrames * frameBytes)
    const clip = new LoadingClip(law, stamp, totalFrames)
    const replaced = this.#clips.get(key)
    this.#clips.delete(key)
    this.#clips.set(key, clip)
    this.#bytes += clip.frames.length
    if (replaced !== undefined) {
      replaced.isReplaced = true
      this.#forgetReplaced(replaced)
    }
    return clip
  }

  /** A clip that a newer version of its file replaced counts until its last listener has gone. */
  #forgetReplaced(clip: LoadingClip): void {
    if (clip.users === 0 && clip.isReplaced) this.#uncount(clip)
  }

  #uncount(clip: LoadingClip): void {
    if (!clip.isCounted) return
    clip.isCounted = false
    this.#bytes -= clip.frames.length
  }

  #makeRoom(bytes: number): void {
    for (const [key, clip] of this.#clips) {
      if (this.#bytes + bytes <= this.#mostBytes) return
      // Still being read counts as in use: its first listener is about to get it.
      if (clip.users > 0 || clip.readyFrames < clip.totalFrames) continue
      this.#clips.delete(key)
      this.#uncount(clip)
    }
    if (this.#bytes + bytes > this.#mostBytes)
      throw new AppError('overloaded', 'Too much different audio is being played at once.')
  }

  /** Resolves when a head start is coded; the rest follows piece by piece, in turn with other clips. */
  async #load(clip: LoadingClip, file: FileHandle, format: WavFormat): Promise<void> {
    const pieces = this.#pieces(clip, file, format)
    let isDone = false
    while (!isDone && clip.readyFrames < headStartFrames)
      isDone = (await this.#inTurn(() => pieces.next())).done === true
    if (clip.failure !== undefined) throw clip.failure
    if (!isDone) void this.#loadRest(pieces)
  }

  async #loadRest(pieces: AsyncGenerator<void, void>): Promise<void> {
    let isDone = false
    while (!isDone) isDone = (await this.#inTurn(() => pieces.next())).done === true
  }

  async *#pieces(clip: LoadingClip, file: FileHandle, format: WavFormat): AsyncGenerator<void, void> {
    const law = this.#laws[clip.law]
    try {
      const resampler = createResampler(format.rate)
      const readAt = reader(file)
      let offset = format.dataOffset
      const end = offset + format.dataBytes
      while (offset < end) {
        const bytes = await readAt(offset, Math.min(pieceBytes, end - offset))
        // Whole samples only; a file cut short meanwhile may end inside one.
        const usable = bytes.length - (bytes.length % format.frameBytes)
        if (usable === 0) break
        clip.append(resampler.push(toMono(bytes.subarray(0, usable), format, this.#laws)), law)
        offset += usable
        yield
      }
      clip.append(resampler.flush(), law)
      clip.finish(law.silence)
    } catch (error) {
      clip.fail(error)
    } finally {
      await file.close().catch(() => undefined)
    }
  }

  /** One piece of work at a time, in the order asked: many files at once must not hold up the beat. */
  #inTurn<T>(job: () => Promise<T>): Promise<T> {
    const turn = this.#lane.then(job)
    this.#lane = turn.catch(() => undefined)
    return turn
  }
}
