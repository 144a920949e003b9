// The download of an audio file. A long file can be played from its head on while the rest is being received.
import { createHash } from 'node:crypto'
import { audioKindOf, headBytes, kindBytes, type PlayableKind } from '../lib/audio/audio-kind.ts'
import type { Clock } from '../lib/clock.ts'
import { AppError } from '../lib/errors.ts'
import type { AnswerHead, BodySink, Outgoing } from '../outgoing/outgoing.ts'
import type { ArrivingFile } from './arriving-file.ts'
import { checkWav } from './wav-check.ts'

// After this time, or beyond this size, a file is played from its head on: a caller waits for the first second.
const patienceMs = 700
const largeBytes = 1024 * 1024
// A file is received as fast as it is played: its end may come after two hours.
const longestMs = 150 * 60 * 1000
// Stores of files answer with the place of the file; a store of a store is as far as it goes.
const maxRedirects = 3
const redirects: ReadonlySet<number> = new Set([301, 302, 303, 307, 308])

/** A proxy that has changed the file answers with 203 (RFC 9110 §15.3.4). */
const isFile = ({ status }: AnswerHead): boolean => status === 200 || status === 203

export interface DownloadOptions {
  readonly outgoing: Outgoing
  readonly clock: Clock
  readonly url: string
  readonly userAgent: string
  readonly file: ArrivingFile
  readonly maxFileBytes: number
  readonly answerTimeoutMs: number
  /** The time limit until the file is complete, or can be played from its head on. */
  readonly totalTimeoutMs: number
  /** Runs for each chunk that arrives; an error that it throws ends the download. */
  readonly count: (bytes: number) => void
  readonly stop: AbortController
}

export interface Head {
  readonly kind: PlayableKind
  /** A name for the content at this URL; undefined when the server does not give its length. */
  readonly name: string | undefined
}

export interface Downloaded {
  readonly kind: PlayableKind
  readonly digest: string
  readonly bytes: number
}

export interface Arriving {
  /** Resolves with undefined if the file was complete before it counted as long. Rejects like `whole`. */
  readonly head: Promise<Head | undefined>
  /** Throws AppError with the codes of hooks and of audio. */
  readonly whole: Promise<Downloaded>
}

export function download(options: DownloadOptions): Arriving {
  const head = Promise.withResolvers<Head | undefined>()
  const whole = receive(options, head.resolve)
  whole.then(() => head.resolve(undefined), head.reject)
  return { head: head.promise, whole }
}

async function receive(options: DownloadOptions, begin: (head: Head) => void): Promise<Downloaded> {
  const { outgoing, clock, url, file, count, stop } = options
  const startedMs = clock.monotonic()
  const inTime = clock.after(options.totalTimeoutMs, () =>
    stop.abort(new AppError('audio_not_found', 'the audio URL did not answer in time')),
  )
  const digest = createHash('sha256')
  let head = Buffer.alloc(0)
  let bytes = 0
  let expected: string | undefined
  let isDecided = false
  const decide = async (): Promise<void> => {
    isDecided = true
    const kind = demandPlayable(head)
    // The chunks before the format may be longer than the received part; such a file is played once it is complete.
    if (
      kind === 'wav' &&
      !(await checkWav(file).then(
        () => true,
        () => false,
      ))
    )
      return
    inTime.cancel()
    await file.toDisk()
    stop.signal.throwIfAborted()
    const name = createHash('sha256').update(`${url}\n${expected}\n`).update(head).digest('hex')
    begin({ kind, name: expected === undefined ? undefined : name })
  }
  const take = async (chunk: Buffer): Promise<void> => {
    const hadKind = head.length >= kindBytes
    if (head.length < headBytes) head = Buffer.concat([head, chunk.subarray(0, headBytes - head.length)])
    // Checked before the rest arrives: an HTML page is refused at its first bytes.
    if (!hadKind && head.length >= kindBytes && !isOpen(head)) demandPlayable(head)
    bytes += chunk.length
    count(chunk.length)
    digest.update(chunk)
    await file.write(chunk)
    const isLong = bytes >= largeBytes || clock.monotonic() - startedMs >= patienceMs
    if (!isDecided && isLong && head.length >= headBytes) await decide()
  }
  let taking: Promise<void> | undefined
  const sink: BodySink = (chunk) => (taking = take(chunk))
  try {
    const get = (from: string): Promise<AnswerHead> =>
      outgoing.request({
        url: from,
        method: 'GET',
        headers: {
          'user-agent': options.userAgent,
          accept: 'audio/wav, audio/x-wav, audio/mpeg, audio/ogg, audio/*;q=0.8',
        },
        subject: 'the audio URL',
        answerTimeoutMs: options.answerTimeoutMs,
        totalTimeoutMs: longestMs,
        maxBodyBytes: options.maxFileBytes,
        answerBody: (answer) => {
          const length = answer.headers['content-length']
          expected = typeof length === 'string' ? length : undefined
          return isFile(answer) ? sink : undefined
        },
        signal: stop.signal,
      })
    let at = url
    let answer = await get(at)
    // Each place passes the guard of addresses, as the first one does.
    for (let count = 0; count < maxRedirects; count += 1) {
      const next = redirectOf(answer, at)
      if (next === undefined) break
      at = next
      answer = await get(at)
    }
    const { status } = answer
    if (!isFile(answer))
      throw new AppError('audio_not_found', `the audio URL responded with status ${status}`)
    const kind = demandPlayable(head)
    if (kind === 'wav') await checkWav(file)
    return { digest: digest.digest('hex'), bytes, kind }
  } finally {
    inTime.cancel()
    // A request that is stopped ends at once. What it has brought may still wait for the disk, and would open the file
    // after it was closed.
    await taking?.catch(() => undefined)
  }
}

export const playable = 'WAV (PCM of 8 to 32 bit, floating point or G.711), MP3 and Ogg/Opus can be played.'

/** Returns the URL that the answer redirects to; undefined if it is no redirect to one of HTTP (RFC 9110 §15.4). */
function redirectOf({ status, headers }: AnswerHead, from: string): string | undefined {
  const { location } = headers
  if (!redirects.has(status) || typeof location !== 'string' || !URL.canParse(location, from))
    return undefined
  const { protocol, href } = new URL(location, from)
  return protocol === 'http:' || protocol === 'https:' ? href : undefined
}

/** Returns whether more of the file is needed to know its kind. */
function isOpen(head: Buffer): boolean {
  const found = audioKindOf(head)
  return found.kind === undefined && found.isOpen === true
}

/** Throws audio_not_supported with the kind of file that was found instead. */
function demandPlayable(head: Buffer): PlayableKind {
  const found = audioKindOf(head)
  if (found.kind !== undefined) return found.kind
  throw new AppError('audio_not_supported', `the audio URL responded with a file that is ${found.what}`, {
    cure: playable,
  })
}
