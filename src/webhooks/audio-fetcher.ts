// Audio that an application names by URL: fetched through the guarded client, checked, lent out as a file.
import { createHash } from 'node:crypto'
import { mkdir, open, readdir, rename, rm } from 'node:fs/promises'
import type { FileHandle } from 'node:fs/promises'
import { join } from 'node:path'
import { actingTenant } from '../lib/acting-for.ts'
import { AppError } from '../lib/errors.ts'
import { createSid } from '../lib/ids.ts'
import type { Part } from '../lib/lifecycle.ts'
import type { Logger } from '../lib/log.ts'
import type { BodySink, Outgoing } from '../lib/outgoing.ts'
import { TenantPool } from '../lib/tenant-pool.ts'
import { checkWav, startsLikeWav } from './wav-check.ts'

export interface FetchedClip {
  readonly path: string
  /** Gives the file back; it is removed when its last borrower has done so. Idempotent. */
  release(): void
}

export interface AudioFetcher {
  /** Throws AppError audio_not_found, audio_not_supported, hook_refused_address or overloaded. */
  fetch(url: string, options: { readonly signal?: AbortSignal }): Promise<FetchedClip>
}

export interface AudioFetcherOptions {
  readonly outgoing: Outgoing
  readonly cacheDir: string
  readonly log: Logger
  readonly userAgent?: string
  readonly maxFileBytes?: number
  /** Of all files that are lent out or on their way. */
  readonly maxHeldBytes?: number
  /** The most of that for one account while no other has any, in percent. */
  readonly sharePercent?: number
  readonly answerTimeoutMs?: number
  readonly totalTimeoutMs?: number
}

interface Lent {
  /** On whose behalf it was fetched. */
  readonly tenant: string | undefined
  readonly bytes: number
  borrowers: number
}

const megabyte = 1024 * 1024

export function createAudioFetcher(options: AudioFetcherOptions): AudioFetcher & Part {
  const { outgoing, log, userAgent = 'switchhook' } = options
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

  function lend(path: string): FetchedClip {
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

  /** Writes the body to `file` and returns its digest and size. Throws what the caller is to be told. */
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
      if (head.length < 12) {
        head = Buffer.concat([head, chunk.subarray(0, 12)])
        // Looked at before the rest arrives: a page of HTML is refused at its first bytes.
        if (head.length >= 12 && !startsLikeWav(head)) throw notAWav()
      }
      bytes += chunk.length
      count(chunk.length)
      digest.update(chunk)
      await file.write(chunk)
    }
    const { status } = await outgoing.request({
      url,
      method: 'GET',
      headers: { 'user-agent': userAgent, accept: 'audio/wav, audio/x-wav, audio/*;q=0.8' },
      subject: 'the audio URL',
      answerTimeoutMs: options.answerTimeoutMs ?? 10_000,
      totalTimeoutMs: options.totalTimeoutMs ?? 30_000,
      maxBodyBytes: maxFileBytes,
      answerBody: (answer) => (answer.status === 200 ? sink : undefined),
      ...(signal && { signal }),
    })
    if (status !== 200) throw new AppError('audio_not_found', `the audio URL answered with status ${status}`)
    await checkWav(file)
    return { digest: digest.digest('hex'), bytes }
  }

  async function fetchInto(temporary: string, url: string, signal?: AbortSignal): Promise<FetchedClip> {
    const tenant = actingTenant()
    let counted = 0
    const count = (bytes: number): void => {
      held.take(tenant, bytes)
      counted += bytes
    }
    const file = await open(temporary, 'wx+', 0o600)
    try {
      const { digest, bytes } = await download(url, file, count, signal)
      const path = join(directory, `${digest}.wav`)
      const known = lent.get(path)
      if (known === undefined) {
        lent.set(path, { tenant, bytes, borrowers: 1 })
        counted = 0
        await rename(temporary, path)
      } else {
        known.borrowers++
        remove(temporary)
      }
      return lend(path)
    } catch (error) {
      remove(temporary)
      throw toAudioError(error, maxFileBytes)
    } finally {
      held.give(tenant, counted)
      await file.close()
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

function notAWav(): AppError {
  return new AppError('audio_not_supported', 'the audio URL did not answer with a WAV file', {
    cure: 'Serve WAV audio (PCM 8 or 16 bit, or G.711); convert MP3 and other formats first.',
  })
}

/** The client speaks of hooks; whoever plays audio is told about audio. */
function toAudioError(error: unknown, maxFileBytes: number): unknown {
  if (!(error instanceof AppError)) return error
  if (error.code === 'hook_too_large') {
    const sentence = `the audio file is larger than ${Math.floor(maxFileBytes / megabyte)} MB`
    return new AppError('audio_not_supported', sentence, { cause: error, cure: 'Serve a shorter file.' })
  }
  if (error.code === 'hook_refused_address' || !error.code.startsWith('hook_')) return error
  return new AppError('audio_not_found', error.message, { cause: error })
}
