// Audio that an application names by URL: fetched through the guarded client, checked, and lent out as a file. A long
// file is lent while it is still being received.
import { mkdir, readdir, rename, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { actingTenant } from '../lib/acting-for.ts'
import type { PlayableKind } from '../lib/audio/audio-kind.ts'
import { systemClock, type Clock } from '../lib/clock.ts'
import { AppError } from '../lib/errors.ts'
import { toDiskFull } from '../lib/full-disk.ts'
import { markAsBroken, markAsGrowing, markAsWhole } from '../lib/growing-file.ts'
import { createSid } from '../lib/ids.ts'
import type { Part } from '../lib/lifecycle.ts'
import type { Logger } from '../lib/log.ts'
import { textOf } from '../lib/members.ts'
import type { Outgoing } from '../outgoing/outgoing.ts'
import { defaultSharePercent, TenantPool } from '../lib/bounds/tenant-pool.ts'
import type { AudioFetcher, BorrowedClip } from '../contracts/speech.ts'
import { ArrivingFile, type Room } from './arriving-file.ts'
import { download, playable, type Arriving, type Downloaded, type Head } from './download.ts'
import { LentFiles } from './lent-files.ts'

export interface AudioFetcherOptions {
  readonly outgoing: Outgoing
  readonly cacheDir: string
  readonly log: Logger
  readonly clock?: Clock
  /** Converts another kind of audio to a WAV file; resolves with its size. */
  readonly decode?: Decode
  readonly userAgent?: string
  readonly maxFileBytes?: number
  /** The most bytes of all files that are lent out or being received. */
  readonly maxHeldBytes?: number
  /** The most of those bytes for one account while no other has any, in percent. */
  readonly sharePercent?: number
  /** The time that a short file is kept after its last borrower, so that a later call does not wait for the disk. */
  readonly keptMs?: number
  readonly answerTimeoutMs?: number
  /** The time limit until a file is complete, or can be played from its head on. */
  readonly totalTimeoutMs?: number
}

type DecodedKind = Exclude<PlayableKind, 'wav'>

export type Decode = (
  job: { readonly kind: DecodedKind; readonly source: string; readonly target: string },
  options: { readonly signal: AbortSignal; readonly onHead?: () => void },
) => Promise<number>

const megabyte = 1024 * 1024
/** The most bytes kept without a borrower, in total and for one file. */
const keeping = { maxKeptBytes: 32 * megabyte, maxShortBytes: megabyte / 2 }
/** The most bytes in memory of all files that are being received and not on the disk yet. */
const roomBytes = 16 * megabyte

const defaults: Required<Omit<AudioFetcherOptions, 'outgoing' | 'cacheDir' | 'log'>> = {
  clock: systemClock,
  decode: refuseToDecode,
  userAgent: 'switchhook',
  maxFileBytes: 256 * megabyte,
  maxHeldBytes: 2048 * megabyte,
  sharePercent: defaultSharePercent,
  keptMs: 30_000,
  answerTimeoutMs: 10_000,
  totalTimeoutMs: 30_000,
}

export function createAudioFetcher(options: AudioFetcherOptions): AudioFetcher & Part {
  return new FetchedAudio(options)
}

class FetchedAudio implements AudioFetcher, Part {
  readonly name = 'audio fetcher'
  readonly #options: Required<AudioFetcherOptions>
  readonly #directory: string
  /** The files by content: calls that play the same file share one path, and media encodes it once. */
  readonly #lent: LentFiles
  readonly #fetching = new Set<Fetching>()
  readonly #steps = new StepsInTurn()
  readonly #held: TenantPool
  readonly #room = { freeBytes: roomBytes }
  #isReady: Promise<unknown> | undefined

  constructor(given: AudioFetcherOptions) {
    const options = { ...defaults, ...given }
    this.#options = options
    this.#directory = join(options.cacheDir, 'fetched')
    this.#lent = new LentFiles({ clock: options.clock, keptMs: options.keptMs, ...keeping })
    this.#held = new TenantPool({
      size: options.maxHeldBytes,
      percent: options.sharePercent,
      tooMany: 'too much audio is being fetched and played',
    })
  }

  async start(): Promise<void> {
    await (this.#isReady ??= this.#prepare())
  }

  async stop(): Promise<void> {
    for (const { stop } of this.#fetching) stop.abort(new AppError('stopping', 'the platform is stopping'))
    this.#lent.clear()
    if (this.#isReady !== undefined) await rm(this.#directory, { force: true, recursive: true })
    this.#isReady = undefined
  }

  async fetch(url: string, { signal }: { readonly signal?: AbortSignal }): Promise<BorrowedClip> {
    signal?.throwIfAborted()
    await this.start()
    const one = new Fetching({ directory: this.#directory, room: this.#room, held: this.#held })
    this.#fetching.add(one)
    const abort = (): void => one.stop.abort(signal?.reason)
    signal?.addEventListener('abort', abort, { once: true })
    try {
      return await this.#fetchFile(url, one)
    } finally {
      // A file that was lent ends with its borrowers, one of which is this call.
      signal?.removeEventListener('abort', abort)
    }
  }

  async #prepare(): Promise<void> {
    await mkdir(this.#directory, { recursive: true })
    // Any file here was left behind by a process that was killed.
    for (const name of await readdir(this.#directory))
      await rm(join(this.#directory, name), { force: true, recursive: true })
  }

  async #fetchFile(url: string, one: Fetching): Promise<BorrowedClip> {
    const { file, stop, count } = one
    const arriving = download({ ...this.#options, url, file, count, stop })
    const whole = closing(file, arriving.whole)
    // A failure is handled where `whole` is awaited below.
    whole.catch(() => undefined)
    let isLent = false
    try {
      const head = await arriving.head
      const clip =
        head === undefined
          ? await this.#lendWhole(one, await whole)
          : await this.#lendGrowing(one, { head, whole })
      isLent = true
      return clip
    } catch (error) {
      throw toAudioError(error, this.#options.maxFileBytes)
    } finally {
      if (!isLent) await this.#end(one, [whole])
    }
  }

  async #lendWhole(one: Fetching, { digest, bytes, kind }: Downloaded): Promise<BorrowedClip> {
    const path = join(this.#directory, `${digest}.wav`)
    if (!this.#lent.has(digest)) await closing(one.file, one.file.toDisk())
    const isMade = kind === 'wav' || this.#lent.has(digest)
    const made = isMade ? { path: one.source, bytes } : await this.#decodeWhole(one, kind)
    // Another call may have fetched the same content meanwhile.
    const known = this.#lent.borrow(digest)
    if (known !== undefined) {
      await this.#end(one, [])
      // The other call may still be moving it there.
      await this.#steps.last(path)
      return known
    }
    const giveBack = one.handOver(made.bytes)
    const clip = this.#lent.add(digest, {
      path,
      bytes: made.bytes,
      onReturned: () => {
        giveBack()
        void this.#steps.run(path, () => this.#remove(path))
      },
    })
    try {
      await this.#steps.run(path, () => rename(made.path, path))
    } catch (error) {
      this.#lent.withdraw(digest)
      clip.release()
      throw error
    }
    await this.#end(one, [], path)
    return clip
  }

  async #decodeWhole(one: Fetching, kind: DecodedKind): Promise<{ path: string; bytes: number }> {
    const { source, decoded: path, stop } = one
    const bytes = await this.#options.decode({ kind, source, target: path }, { signal: stop.signal })
    one.count(bytes)
    return { path, bytes }
  }

  /** Lends a file while it is being received. Receiving ends with the last borrower, however far it is by then. */
  async #lendGrowing(
    one: Fetching,
    { head, whole }: { readonly head: Head; readonly whole: Arriving['whole'] },
  ): Promise<BorrowedClip> {
    const name = head.name ?? one.source
    const known = this.#lent.borrow(name)
    if (known !== undefined) {
      await this.#end(one, [whole])
      return known
    }
    await markAsGrowing(one.source)
    const arrived = this.#settle(one, { work: whole, path: one.source, name })
    const decoded = head.kind === 'wav' ? undefined : await this.#decodeGrowing(one, head.kind, name)
    const clip = this.#lent.add(name, {
      path: decoded?.path ?? one.source,
      onReturned: () => void this.#end(one, [arrived, ...(decoded === undefined ? [] : [decoded.work])]),
    })
    // It may have broken off while its first seconds were being decoded.
    if (one.isBroken) this.#lent.withdraw(name)
    return clip
  }

  /** Resolves when the first seconds can be played. */
  async #decodeGrowing(
    one: Fetching,
    kind: DecodedKind,
    name: string,
  ): Promise<{ readonly path: string; readonly work: Promise<void> }> {
    const { source, decoded: path, stop, count } = one
    await markAsGrowing(path)
    const head = Promise.withResolvers<void>()
    const decoding = this.#options.decode(
      { kind, source, target: path },
      { signal: stop.signal, onHead: head.resolve },
    )
    const work = this.#settle(one, { work: decoding.then(count), path, name })
    await Promise.race([head.promise, decoding])
    return { path, work }
  }

  /** Records in the file how it ended. A broken file is not lent again. */
  async #settle(
    one: Fetching,
    { work, path, name }: { readonly work: Promise<unknown>; readonly path: string; readonly name: string },
  ): Promise<void> {
    try {
      await work
      await markAsWhole(path)
    } catch (error) {
      one.isBroken = true
      this.#lent.withdraw(name)
      const failure = toAudioError(error, this.#options.maxFileBytes)
      const reason =
        failure instanceof AppError ? failure : new AppError('audio_not_found', 'the audio could not be read')
      // A full disk does not take the reason either. No one awaits this before the last borrower is done.
      await markAsBroken(path, reason).catch((cause: unknown) =>
        this.#options.log.warn({ err: cause }, 'audio file keeps no reason'),
      )
    }
  }

  /** Ends a file that is being received. `kept` is a file that continues to be lent. */
  async #end(one: Fetching, work: readonly Promise<unknown>[], kept?: string): Promise<void> {
    one.stop.abort(new AppError('stopping', 'the audio is not wanted any more'))
    await Promise.allSettled(work)
    this.#fetching.delete(one)
    one.forget()
    const files = [one.source, one.decoded].filter((path) => path !== kept)
    await Promise.all(files.map((path) => this.#remove(path)))
  }

  async #remove(path: string): Promise<void> {
    await Promise.all([rm(path, { force: true }), markAsWhole(path)]).catch((error: unknown) =>
      this.#options.log.warn({ err: error }, 'audio file stays behind'),
    )
  }
}

interface FetchingOptions {
  readonly directory: string
  readonly room: Room
  readonly held: TenantPool
}

/** One file that is being received, and what it occupies until the last borrower gives it back. */
class Fetching {
  readonly source: string
  /** The path of the decoded file. */
  readonly decoded: string
  readonly file: ArrivingFile
  readonly stop = new AbortController()
  /** True once a part of it has failed. It is not lent to anyone else then. */
  isBroken = false
  readonly #tenant = actingTenant()
  readonly #held: TenantPool
  #counted = 0

  constructor({ directory, room, held }: FetchingOptions) {
    const id = createSid()
    this.source = join(directory, `${id}.part`)
    this.decoded = join(directory, `${id}.wav`)
    this.file = new ArrivingFile(this.source, room)
    this.#held = held
  }

  /** Counts bytes of the file. Throws AppError overloaded if its tenant may have no more. */
  readonly count = (bytes: number): void => {
    this.#held.take(this.#tenant, bytes)
    this.#counted += bytes
  }

  /** Takes some of the counted bytes out of those that `forget` gives back. Returns what gives them back. */
  handOver(bytes: number): () => void {
    this.#counted -= bytes
    return () => this.#held.give(this.#tenant, bytes)
  }

  forget(): void {
    this.file.forget()
    this.#held.give(this.#tenant, this.#counted)
  }
}

/** Steps on the disk, for each path in the order requested: a file is removed before another one takes its place. */
class StepsInTurn {
  /** The last step for each path that has one under way. */
  readonly #last = new Map<string, Promise<void>>()

  run(path: string, step: () => Promise<void>): Promise<void> {
    const done = (this.#last.get(path) ?? Promise.resolve()).then(step)
    const last = done
      .catch(() => undefined)
      .finally(() => {
        if (this.#last.get(path) === last) this.#last.delete(path)
      })
    this.#last.set(path, last)
    return done
  }

  /** Resolves when the steps requested so far have ended. */
  async last(path: string): Promise<void> {
    await this.#last.get(path)
  }
}

async function closing<T>(file: ArrivingFile, work: Promise<T>): Promise<T> {
  try {
    return await work
  } finally {
    await file.close()
  }
}

function refuseToDecode(): Promise<never> {
  return Promise.reject(
    new AppError('audio_not_supported', 'only WAV files can be played here', { cure: playable }),
  )
}

/** Turns the HTTP client's errors, which are about hooks, into errors about audio. */
function toAudioError(error: unknown, maxFileBytes: number): unknown {
  if (!(error instanceof AppError)) return toDiskFull(error)
  if (error.code === 'hook_too_large' && textOf(error.detail, 'part') !== 'framing') {
    const sentence = `the audio file is larger than ${Math.floor(maxFileBytes / megabyte)} MB`
    return new AppError('audio_not_supported', sentence, { cause: error, cure: 'Serve a shorter file.' })
  }
  if (error.code === 'hook_refused_address' || !error.code.startsWith('hook_')) return error
  return new AppError('audio_not_found', error.message, { cause: error })
}
