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
import type { Outgoing } from '../outgoing/outgoing.ts'
import { TenantPool } from '../lib/bounds/tenant-pool.ts'
import type { AudioFetcher, BorrowedClip } from '../contracts/speech.ts'
import { ArrivingFile } from './arriving-file.ts'
import { download, playable, type Arriving, type Head } from './download.ts'
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

export type Decode = (
  job: { readonly kind: Exclude<PlayableKind, 'wav'>; readonly source: string; readonly target: string },
  options: { readonly signal: AbortSignal; readonly onHead?: () => void },
) => Promise<number>

/** One file that is being received, and what it occupies until the last borrower gives it back. */
interface Fetching {
  readonly tenant: string | undefined
  readonly source: string
  readonly file: ArrivingFile
  /** The path of the decoded file. */
  readonly decoded: string
  readonly stop: AbortController
  readonly count: (bytes: number) => void
  counted: number
  /** True once a part of it has failed. It is not lent to anyone else then. */
  isBroken: boolean
}

const megabyte = 1024 * 1024
/** The most bytes kept without a borrower, in total and for one file. */
const keeping = { maxKeptBytes: 32 * megabyte, maxShortBytes: megabyte / 2 }
/** The most bytes in memory of all files that are being received and not on the disk yet. */
const roomBytes = 16 * megabyte

export function createAudioFetcher(options: AudioFetcherOptions): AudioFetcher & Part {
  const { outgoing, log, clock = systemClock, decode = refuseToDecode } = options
  const { userAgent = 'switchhook', answerTimeoutMs = 10_000, totalTimeoutMs = 30_000 } = options
  const { maxFileBytes = 256 * megabyte, maxHeldBytes = 2048 * megabyte } = options
  const directory = join(options.cacheDir, 'fetched')
  // The files by content: calls that play the same file share one path, and media encodes it once.
  const lent = new LentFiles({ clock, keptMs: options.keptMs ?? 30_000, ...keeping })
  const room = { freeBytes: roomBytes }
  const fetching = new Set<Fetching>()
  /** The last step on the disk for each path that has one under way. */
  const steps = new Map<string, Promise<void>>()
  const held = new TenantPool({
    size: maxHeldBytes,
    percent: options.sharePercent,
    tooMany: 'too much audio is being fetched and played',
  })
  let isReady: Promise<unknown> | undefined

  async function remove(path: string): Promise<void> {
    await Promise.all([rm(path, { force: true }), markAsWhole(path)]).catch((error: unknown) =>
      log.warn({ err: error }, 'audio file stays behind'),
    )
  }

  /** Runs the steps for one path in the order requested: a file is removed before another one takes its place. */
  function inTurn(path: string, step: () => Promise<void>): Promise<void> {
    const done = (steps.get(path) ?? Promise.resolve()).then(step)
    const last = done
      .catch(() => undefined)
      .finally(() => {
        if (steps.get(path) === last) steps.delete(path)
      })
    steps.set(path, last)
    return done
  }

  function begin(): Fetching {
    const tenant = actingTenant()
    const id = createSid()
    const source = join(directory, `${id}.part`)
    const begun: Fetching = {
      tenant,
      source,
      file: new ArrivingFile(source, room),
      decoded: join(directory, `${id}.wav`),
      stop: new AbortController(),
      counted: 0,
      isBroken: false,
      count(bytes) {
        held.take(tenant, bytes)
        begun.counted += bytes
      },
    }
    fetching.add(begun)
    return begun
  }

  /** Ends a file that is being received. `kept` is a file that continues to be lent. */
  async function end(one: Fetching, work: readonly Promise<unknown>[], kept?: string): Promise<void> {
    one.stop.abort(new AppError('stopping', 'the audio is not wanted any more'))
    await Promise.allSettled(work)
    one.file.forget()
    fetching.delete(one)
    held.give(one.tenant, one.counted)
    const files = [one.source, one.decoded].filter((path) => path !== kept)
    await Promise.all(files.map((path) => remove(path)))
  }

  async function fetchFile(url: string, one: Fetching): Promise<BorrowedClip> {
    const { file, stop, count } = one
    const limits = { maxFileBytes, answerTimeoutMs, totalTimeoutMs }
    const arriving = download({ outgoing, clock, url, userAgent, file, count, stop, ...limits })
    const whole = closing(file, arriving.whole)
    // A failure is handled where `whole` is awaited below.
    whole.catch(() => undefined)
    let isLent = false
    try {
      const head = await arriving.head
      const clip = head === undefined ? await lendWhole(one, whole) : await lendGrowing(one, { head, whole })
      isLent = true
      return clip
    } catch (error) {
      throw toAudioError(error, maxFileBytes)
    } finally {
      if (!isLent) await end(one, [whole])
    }
  }

  async function lendWhole(one: Fetching, whole: Arriving['whole']): Promise<BorrowedClip> {
    const { source, decoded, stop, count } = one
    const { digest, bytes, kind } = await whole
    const path = join(directory, `${digest}.wav`)
    if (!lent.has(digest)) await closing(one.file, one.file.toDisk())
    let heldBytes = bytes
    if (kind !== 'wav' && !lent.has(digest)) {
      heldBytes = await decode({ kind, source, target: decoded }, { signal: stop.signal })
      count(heldBytes)
    }
    // Another call may have fetched the same content meanwhile.
    const known = lent.borrow(digest)
    if (known !== undefined) {
      await end(one, [])
      // The other call may still be moving it there.
      await steps.get(path)
      return known
    }
    const clip = lent.add(digest, {
      path,
      bytes: heldBytes,
      onReturned() {
        held.give(one.tenant, heldBytes)
        void inTurn(path, () => remove(path))
      },
    })
    one.counted -= heldBytes
    try {
      await inTurn(path, () => rename(kind === 'wav' ? source : decoded, path))
    } catch (error) {
      lent.withdraw(digest)
      clip.release()
      throw error
    }
    await end(one, [], path)
    return clip
  }

  /** Lends a file while it is being received. Receiving ends with the last borrower, however far it is by then. */
  async function lendGrowing(
    one: Fetching,
    { head, whole }: { readonly head: Head; readonly whole: Arriving['whole'] },
  ): Promise<BorrowedClip> {
    const name = head.name ?? one.source
    const known = lent.borrow(name)
    if (known !== undefined) {
      await end(one, [whole])
      return known
    }
    await markAsGrowing(one.source)
    const arrived = settle(one, { work: whole, path: one.source, name })
    const decoded = head.kind === 'wav' ? undefined : await decodeGrowing(one, head.kind, name)
    const clip = lent.add(name, {
      path: decoded?.path ?? one.source,
      onReturned: () => void end(one, [arrived, ...(decoded === undefined ? [] : [decoded.work])]),
    })
    // It may have broken off while its first seconds were being decoded.
    if (one.isBroken) lent.withdraw(name)
    return clip
  }

  /** Resolves when the first seconds can be played. */
  async function decodeGrowing(
    one: Fetching,
    kind: Exclude<PlayableKind, 'wav'>,
    name: string,
  ): Promise<{ readonly path: string; readonly work: Promise<void> }> {
    const { source, decoded: path, stop, count } = one
    await markAsGrowing(path)
    const head = Promise.withResolvers<void>()
    const decoding = decode({ kind, source, target: path }, { signal: stop.signal, onHead: head.resolve })
    const work = settle(one, { work: decoding.then(count), path, name })
    await Promise.race([head.promise, decoding])
    return { path, work }
  }

  /** Records in the file how it ended. A broken file is not lent again. */
  async function settle(
    one: Fetching,
    { work, path, name }: { readonly work: Promise<unknown>; readonly path: string; readonly name: string },
  ): Promise<void> {
    try {
      await work
      await markAsWhole(path)
    } catch (error) {
      one.isBroken = true
      lent.withdraw(name)
      const failure = toAudioError(error, maxFileBytes)
      const reason =
        failure instanceof AppError ? failure : new AppError('audio_not_found', 'the audio could not be read')
      // A full disk does not take the reason either. No one awaits this before the last borrower is done.
      await markAsBroken(path, reason).catch((cause: unknown) =>
        log.warn({ err: cause }, 'audio file keeps no reason'),
      )
    }
  }

  async function prepare(): Promise<void> {
    await mkdir(directory, { recursive: true })
    // Any file here was left behind by a process that was killed.
    for (const name of await readdir(directory))
      await rm(join(directory, name), { force: true, recursive: true })
  }

  return {
    name: 'audio fetcher',
    async start() {
      await (isReady ??= prepare())
    },
    async stop() {
      for (const { stop } of fetching) stop.abort(new AppError('stopping', 'the platform is stopping'))
      lent.clear()
      if (isReady !== undefined) await rm(directory, { force: true, recursive: true })
      isReady = undefined
    },
    async fetch(url, { signal }) {
      signal?.throwIfAborted()
      await (isReady ??= prepare())
      const one = begin()
      const abort = (): void => one.stop.abort(signal?.reason)
      signal?.addEventListener('abort', abort, { once: true })
      try {
        return await fetchFile(url, one)
      } finally {
        // A file that was lent ends with its borrowers, one of which is this call.
        signal?.removeEventListener('abort', abort)
      }
    },
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
  if (error.code === 'hook_too_large') {
    const sentence = `the audio file is larger than ${Math.floor(maxFileBytes / megabyte)} MB`
    return new AppError('audio_not_supported', sentence, { cause: error, cure: 'Serve a shorter file.' })
  }
  if (error.code === 'hook_refused_address' || !error.code.startsWith('hook_')) return error
  return new AppError('audio_not_found', error.message, { cause: error })
}
