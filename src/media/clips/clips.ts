// Audio files as frames, coded once per worker and form, so that a playback of G.711 costs one copy per packet.
import { open, stat } from 'node:fs/promises'
import type { Stats } from 'node:fs'
import { join } from 'node:path'
import { maxAudioHours } from '../../lib/audio/audio-kind.ts'
import { AppError } from '../../lib/errors.ts'
import { isGrowing, readerOf } from '../../lib/growing-file.ts'
import { Clip, inMemory, onDisk } from './clip.ts'
import { createClipForms, type ClipForms, type ClipFormName } from './clip-form.ts'
import { formFor, stampsOf, toAudioError, type Source } from './clip-source.ts'
import type { Laws } from '../codecs/g711.ts'
import { createResampler } from '../../lib/audio/resampler.ts'
import { readWavFormat, toMono, type WavFormat } from '../codecs/wav.ts'
import { tickMs } from '../tick-clock.ts'

const maxFileBytes = 256 * 1024 * 1024
const longestSeconds = maxAudioHours * 3600
// The filter of a resampler adds a few milliseconds at the end.
const tolerance = 0.1
// Prompts that callers hear again and again are shorter than this and stay in memory; music and readings are streamed.
const maxFramesInMemory = 30_000 / tickMs
// Small enough that converting one piece (48 kHz stereo at worst) takes about a millisecond: packets wait meanwhile.
const pieceBytes = 16_384
// Half a second is coded before the first frame goes out, so that a slow read of the next piece is not heard.
const headStartFrames = 25
// A clip of unknown length reserves one minute after another: with all that it may take, a few would leave no space.
const openFrames = 60_000 / tickMs

export interface ClipsOptions {
  readonly laws: Laws
  /** The directory for long clips while they play. It exists and is empty. */
  readonly directory: string
  /** The most coded audio in memory; the rest is on the disk. An hour takes 29 MB as G.711, 115 MB if wide. */
  readonly maxMemoryBytes: number
  /** The same limit for the disk. */
  readonly maxDiskBytes: number
  /** The limit of audio on the disk that has no listener. */
  readonly maxIdleDiskBytes: number
  /** The longest audio. */
  readonly maxSeconds?: number
}

interface Opening {
  readonly clip: Promise<Clip>
  wanted: number
}

export class Clips {
  readonly #options: ClipsOptions
  readonly #forms: ClipForms
  /** In order of use, the most recent last. */
  readonly #clips = new Map<string, Clip>()
  readonly #opening = new Map<string, Opening>()
  #memoryBytes = 0
  #diskBytes = 0
  #lastFile = 0
  #lane: Promise<unknown> = Promise.resolve()

  constructor(options: ClipsOptions) {
    this.#options = options
    this.#forms = createClipForms(options.laws)
  }

  /** Resolves when the first frames can be played. Throws audio_not_found, audio_not_supported or overloaded. */
  async acquire(path: string, form: ClipFormName): Promise<Clip> {
    const key = `${form}:${path}`
    // Two calls that request the same file at the same time read it once.
    let opening = this.#opening.get(key)
    if (opening === undefined) {
      opening = { wanted: 0, clip: this.#find(key, path, form) }
      this.#opening.set(key, opening)
    }
    opening.wanted += 1
    return await opening.clip
  }

  release(clip: Clip): void {
    clip.users -= 1
    this.#forgetReplaced(clip)
    if (clip.isOnDisk) this.#evict(true, this.#options.maxIdleDiskBytes)
  }

  /** Frees the disk. No clip may be played afterwards. */
  async close(): Promise<void> {
    const clips = [...this.#clips.values()]
    this.#clips.clear()
    await Promise.allSettled(clips.map((clip) => clip.remove()))
  }

  async #find(key: string, path: string, form: ClipFormName): Promise<Clip> {
    try {
      const clip = await this.#open(key, path, form)
      // All requests count as users now, before any of them can release the clip.
      clip.users += (this.#opening.get(key)?.wanted ?? 0) - 1
      return clip
    } catch (error) {
      throw toAudioError(error)
    } finally {
      this.#opening.delete(key)
    }
  }

  /** Returns a clip with this request counted as a user. */
  async #open(key: string, path: string, form: ClipFormName): Promise<Clip> {
    // A clip that is known already need not be opened.
    const early = this.#clips.has(key) ? this.#known(key, await stat(path)) : undefined
    if (early !== undefined) return early
    const file = await open(path, 'r')
    let isHandedOn = false
    try {
      const stats = await file.stat()
      if (!stats.isFile()) throw new AppError('audio_not_supported', 'the audio is not a file')
      if (stats.size > maxFileBytes)
        throw new AppError('audio_not_supported', 'the audio file is larger than 256 MB')
      const known = this.#known(key, stats)
      if (known !== undefined) return known
      const grows = await isGrowing(path)
      // It may have grown to its end since the first look.
      const last = grows ? stats : await file.stat()
      const stamps = stampsOf(last)
      const readAt = readerOf(file, path)
      const format = await readWavFormat(readAt, grows ? Infinity : last.size)
      const clip = await this.#reserve(
        key,
        formFor(form, format),
        grows ? stamps.growing : stamps.whole,
        format,
      )
      isHandedOn = true
      await this.#load(clip, { file, readAt, format })
      return clip
    } finally {
      if (!isHandedOn) await file.close()
    }
  }

  #known(key: string, stats: Stats): Clip | undefined {
    const clip = this.#clips.get(key)
    if (clip === undefined || clip.failure !== undefined) return undefined
    const { whole, growing } = stampsOf(stats)
    if (clip.stamp !== whole && clip.stamp !== growing) return undefined
    this.#clips.delete(key)
    this.#clips.set(key, clip)
    clip.users += 1
    return clip
  }

  async #reserve(key: string, name: ClipFormName, stamp: string, format: WavFormat): Promise<Clip> {
    const form = this.#forms[name]
    const longest = (this.#options.maxSeconds ?? longestSeconds) * form.rate
    // The length of a growing file may be unknown.
    const isOpen = format.dataBytes === Infinity
    const samples = isOpen
      ? longest
      : Math.ceil((format.dataBytes / format.frameBytes / format.rate) * form.rate)
    if (samples > longest) throw tooLong()
    const totalFrames = Math.ceil((samples * form.sampleBytes) / form.frameBytes)
    const clip = await this.#place({
      ...{ form, stamp, totalFrames },
      bytes: (isOpen ? Math.min(openFrames, totalFrames) : totalFrames) * form.frameBytes,
    })
    clip.users = 1
    const replaced = this.#clips.get(key)
    this.#clips.delete(key)
    this.#clips.set(key, clip)
    if (replaced !== undefined) {
      replaced.isReplaced = true
      this.#forgetReplaced(replaced)
    }
    return clip
  }

  async #place(facts: Pick<Clip, 'form' | 'stamp' | 'totalFrames' | 'bytes'>): Promise<Clip> {
    const { maxMemoryBytes, directory } = this.#options
    const { bytes } = facts
    if (facts.totalFrames <= maxFramesInMemory && this.#evict(false, maxMemoryBytes - bytes)) {
      this.#memoryBytes += bytes
      return new Clip({ ...facts, store: inMemory(bytes), isOnDisk: false })
    }
    this.#takeDisk(bytes)
    this.#lastFile += 1
    try {
      const store = await onDisk(join(directory, `${this.#lastFile}.frames`))
      return new Clip({ ...facts, store, isOnDisk: true })
    } catch (error) {
      this.#diskBytes -= bytes
      throw error
    }
  }

  /** Throws AppError overloaded. */
  #takeDisk(bytes: number): void {
    if (!this.#evict(true, this.#options.maxDiskBytes - bytes))
      throw new AppError('overloaded', 'too much different audio is being played at once')
    this.#diskBytes += bytes
  }

  /** Reserves space for further samples of a clip of unknown length. */
  #makeRoom(clip: Clip, samples: number): void {
    const { frameBytes, sampleBytes } = clip.form
    // The frame that is not full yet and the one that the end fills up count too.
    const needed = (clip.readyFrames + 2) * frameBytes + samples * sampleBytes
    const most = clip.totalFrames * frameBytes
    if (clip.bytes >= Math.min(needed, most) || !clip.isCounted) return
    const more = Math.min(Math.max(openFrames * frameBytes, needed - clip.bytes), most - clip.bytes)
    this.#takeDisk(more)
    clip.bytes += more
  }

  async #append(clip: Clip, samples: Float32Array): Promise<void> {
    this.#makeRoom(clip, samples.length)
    await clip.append(samples)
    const { rate, sampleBytes, frameBytes } = clip.form
    const left = clip.totalFrames * frameBytes - clip.codedBytes
    // The part that was coded until here is played.
    if (left < -tolerance * rate * sampleBytes) throw tooLong()
  }

  /** Removes a clip that a newer version of its file has replaced, once its last listener has gone. */
  #forgetReplaced(clip: Clip): void {
    if (clip.users === 0 && clip.isReplaced) this.#remove(clip)
  }

  #remove(clip: Clip): void {
    if (!clip.isCounted) return
    clip.isCounted = false
    if (clip.isOnDisk) this.#diskBytes -= clip.bytes
    else this.#memoryBytes -= clip.bytes
    // A file that cannot be removed now is removed when the worker starts the next time.
    clip.remove().catch(() => undefined)
  }

  /** Removes clips without listeners, least recently used first. Returns false if more than `bytes` stays in use. */
  #evict(isOnDisk: boolean, bytes: number): boolean {
    const isEnough = (): boolean => (isOnDisk ? this.#diskBytes : this.#memoryBytes) <= bytes
    for (const [key, clip] of this.#clips) {
      if (isEnough()) break
      // A clip that is still being read counts as in use: its first listener is about to get it.
      if (clip.isOnDisk !== isOnDisk || clip.users > 0 || !clip.isWhole) continue
      this.#clips.delete(key)
      this.#remove(clip)
    }
    return isEnough()
  }

  /** Resolves when the first half second is coded. The rest follows piece by piece, in turn with other clips. */
  async #load(clip: Clip, source: Source): Promise<void> {
    const pieces = this.#pieces(clip, source)
    let isDone = false
    while (!isDone && clip.readyFrames < headStartFrames) isDone = (await pieces.next()).done === true
    if (clip.failure !== undefined) {
      this.release(clip)
      throw clip.failure
    }
    if (!isDone) void this.#loadRest(pieces)
  }

  async #loadRest(pieces: AsyncGenerator<void, void>): Promise<void> {
    let isDone = false
    while (!isDone) isDone = (await pieces.next()).done === true
  }

  async *#pieces(clip: Clip, { file, readAt, format }: Source): AsyncGenerator<void, void> {
    const { laws } = this.#options
    try {
      const resampler = createResampler(format.rate, clip.form.rate)
      let offset = format.dataOffset
      const end = offset + format.dataBytes
      while (offset < end) {
        const bytes = await readAt(offset, Math.min(pieceBytes, end - offset), format.frameBytes)
        // Only whole samples are used: a file that was cut short meanwhile may end inside one.
        const usable = bytes.length - (bytes.length % format.frameBytes)
        if (usable === 0) break
        const mono = (): Float32Array => toMono(bytes.subarray(0, usable), format, laws)
        await this.#inTurn(() => this.#append(clip, resampler.push(mono())))
        offset += usable
        yield
      }
      await this.#append(clip, resampler.flush())
      await clip.finish()
      this.#giveBackSpare(clip)
    } catch (error) {
      clip.fail(toAudioError(error))
    } finally {
      await file.close().catch(() => undefined)
    }
  }

  /** Frees the space that was reserved for a clip of unknown length and not used. */
  #giveBackSpare(clip: Clip): void {
    const spare = clip.bytes - clip.totalFrames * clip.form.frameBytes
    if (spare <= 0 || !clip.isCounted || !clip.isOnDisk) return
    clip.bytes -= spare
    this.#diskBytes -= spare
  }

  /** Runs one piece of work at a time, in the order requested: many files at the same time must not delay the ticks. */
  #inTurn<T>(job: () => Promise<T>): Promise<T> {
    const turn = this.#lane.then(job)
    this.#lane = turn.catch(() => undefined)
    return turn
  }
}

function tooLong(): AppError {
  return new AppError('audio_not_supported', `the audio is longer than ${maxAudioHours} hours`, {
    cure: 'Serve a shorter file.',
  })
}
