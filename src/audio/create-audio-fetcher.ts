// Audio that an application names by URL: fetched through the guarded client, checked, lent out as a file.
import { createHash } from 'node:crypto'
import { mkdir, open, readdir, rename, rm } from 'node:fs/promises'
import type { FileHandle } from 'node:fs/promises'
import { join } from 'node:path'
import { actingTenant } from '../lib/acting-for.ts'
import { audioKindOf, kindBytes } from '../lib/audio-kind.ts'
import type { PlayableKind } from '../lib/audio-kind.ts'
import { AppError } from '../lib/errors.ts'
import { createSid } from '../lib/ids.ts'
import type { Part } from '../lib/lifecycle.ts'
import type { Logger } from '../lib/log.ts'
import type { BodySink, Outgoing } from '../outgoing/outgoing.ts'
import { TenantPool } from '../lib/tenant-pool.ts'
import { checkWav } from './wav-check.ts'
import type { AudioFetcher, BorrowedClip } from '../contracts/speech.ts'

export interface AudioFetcherOptions {
  readonly outgoing: Outgoing
  readonly cacheDir: string
  readonly log: Logger
  /** Makes a WAV file of another kind of audio; resolves with its size. */
  readonly decode?: Decode
  readonly userAgent?: string
  readonly maxFileBytes?: number
  /** The bytes of all files that are lent out or on their way. */
  readonly maxHeldBytes?: number
  /** The most of that for one account while no other has any, in percent. */
  readonly sharePercent?: number
  readonly answerTimeoutMs?: number
  readonly totalTimeoutMs?: number
}

export type Decode = (
  job: { readonly kind: Exclude<PlayableKind, 'wav'>; readonly source: string; readonly target: string },
  signal?: AbortSignal,
) => Promise<number>

interface Lent {
  /** On whose behalf it was fetched. */
  readonly tenant: string | undefined
  readonly bytes: number
  borrowers: number
}

const megabyte = 1024 * 1024

export function createAudioFetcher(options: AudioFetcherOptions): AudioFetcher & Part {
  const { outgoing, log, userAgent = 'switchhook', decode = refuseToDecode } = options
  const { maxFileBytes = 50 * megabyte, maxHeldBytes = 1024 * megabyte } = options
  const directory = join(options.cacheDir, 'fetched')
  // By content: calls that play the same file share one path, and media decodes it once.
  const lent = new Map<string, Lent>()
  const held = new TenantPool({
    size: maxHeldBytes,
    percent: options.sharePercent,
    tooMany: 'too much audio is being fetched and played',
  })
  let isReady: Promise<unknown> | undefined

  function remove(path: string): void {
    void rm(path, { force: true }).catch((error: unknown) =>
      log.warn({ err: error }, 'audio file stays behind'),
    )
  }

  function lend(path: string): BorrowedClip {
    let isReleased = false
    return {
      path,
      release() {
        const entry = lent.get(path)
        if (isReleased || entry === undefined) return
        isReleased = true
        if (--entry.borrowers > 0) return
        lent.delete(path)
        held.give(entry.tenant, entry.bytes)
        remove(path)
      },
    }
  }

  /** Writes the body to `file` and returns its digest and size. Throws AppError in the words of audio. */
  async function download(
    url: string,
    file: FileHandle,
    count: (bytes: number) => void,
    signal?: AbortSignal,
  ) {
    const digest = createHash('sha256')
    let head = Buffer.alloc(0)
    let bytes = 0
    const sink: BodySink = async (chunk) => {
      if (head.length < kindBytes) {
        head = Buffer.concat([head, chunk.subarray(0, kindBytes)])
        // Looked at before the rest arrives: a page of HTML is refused at its first bytes.
        if (head.length >= kindBytes) demandPlayable(head)
      }
      bytes += chunk.length
      count(chunk.length)
      digest.update(chunk)
      await file.write(chunk)
    }
    const { status } = await outgoing.request({
      url,
      method: 'GET',
      headers: {
        'user-agent': userAgent,
        accept: 'audio/wav, audio/x-wav, audio/mpeg, audio/ogg, audio/*;q=0.8',
      },
      subject: 'the audio URL',
      answerTimeoutMs: options.answerTimeoutMs ?? 10_000,
      totalTimeoutMs: options.totalTimeoutMs ?? 30_000,
      maxBodyBytes: maxFileBytes,
      answerBody: (answer) => (answer.status === 200 ? sink : undefined),
      ...(signal && { signal }),
    })
    if (status !== 200) throw new AppError('audio_not_found', `the audio URL responded with status ${status}`)
    const kind = demandPlayable(head)
    if (kind === 'wav') await checkWav(file)
    return { digest: digest.digest('hex'), bytes, kind }
  }

  async function fetchInto(temporary: string, url: string, signal?: AbortSignal): Promise<BorrowedClip> {
    const decoded = `${temporary}.wav`
    const tenant = actingTenant()
    let counted = 0
    const count = (bytes: number): void => {
      held.take(tenant, bytes)
      counted += bytes
    }
    const file = await open(temporary, 'wx+', 0o600)
    try {
      const { digest, bytes, kind } = await download(url, file, count, signal)
      const path = join(directory, `${digest}.wav`)
      let heldBytes = bytes
      if (kind !== 'wav' && !lent.has(path)) {
        heldBytes = await decode({ kind, source: temporary, target: decoded }, signal)
        count(heldBytes)
      }
      // Another call may have fetched the same meanwhile.
      const known = lent.get(path)
      if (known === undefined) {
        lent.set(path, { tenant, bytes: heldBytes, borrowers: 1 })
        counted -= heldBytes
        await rename(kind === 'wav' ? temporary : decoded, path)
      } else known.borrowers++
      return lend(path)
    } catch (error) {
      throw toAudioError(error, maxFileBytes)
    } finally {
      held.give(tenant, counted)
      await file.close()
      remove(temporary)
      remove(decoded)
    }
  }

  async function prepare(): Promise<void> {
    await mkdir(directory, { recursive: true })
    // Whatever lies here was lent by a process that was killed.
    for (const name of await readdir(directory))
      await rm(join(directory, name), { force: true, recursive: true })
  }

  return {
    name: 'audio fetcher',
    async start() {
      await (isReady ??= prepare())
    },
    async stop() {
      if (isReady !== undefined) await rm(directory, { force: true, recursive: true })
      isReady = undefined
    },
    async fetch(url, { signal }) {
      await (isReady ??= prepare())
      return fetchInto(join(directory, `${createSid()}.part`), url, signal)
    },
  }
}

const playable = 'WAV (PCM of 8 to 32 bit, floating point or G.711), MP3 and Ogg/Opus can be played.'

/** Throws audio_not_supported with what the file is instead. */
function demandPlayable(head: Buffer): PlayableKind {
  const found = audioKindOf(head)
  if (found.kind !== undefined) return found.kind
  throw new AppError('audio_not_supported', `the audio URL responded with a file that is ${found.what}`, {
    cure: playable,
  })
}

function refuseToDecode(): Promise<never> {
  return Promise.reject(
    new AppError('audio_not_supported', 'only WAV files can be played here', { cure: playable }),
  )
}

/** The HTTP client's errors speak of hooks; this makes them speak of audio. */
function toAudioError(error: unknown, maxFileBytes: number): unknown {
  if (!(error instanceof AppError)) return error
  if (error.code === 'hook_too_large') {
    const sentence = `the audio file is larger than ${Math.floor(maxFileBytes / megabyte)} MB`
    return new AppError('audio_not_supported', sentence, { cause: error, cure: 'Serve a shorter file.' })
  }
  if (error.code === 'hook_refused_address' || !error.code.startsWith('hook_')) return error
  return new AppError('audio_not_found', error.message, { cause: error })
}
