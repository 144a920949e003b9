// Decodes audio files, each in a thread of its own, limited in time, memory and number, with turns for each account.
// Once a long file can be heard from its head, it leaves its place to other files.
import { Worker } from 'node:worker_threads'
import { actingTenant } from '../../lib/acting-for.ts'
import type { Clock, Timer } from '../../lib/clock.ts'
import { AppError } from '../../lib/errors.ts'
import { FairLine } from '../../lib/bounds/fair-line.ts'
import type { Part } from '../../lib/lifecycle.ts'
import { TenantPool } from '../../lib/bounds/tenant-pool.ts'
import type { DecodeJob } from './decode.ts'
import type { FromDecoder } from './decoder-worker.ts'

export interface AudioDecoder {
  /**
   * Resolves with the size of the decoded file. Throws audio_not_supported, overloaded, account_share, or the
   * signal's reason.
   */
  decode(job: DecodeJob, options?: DecodeOptions): Promise<number>
}

export interface DecodeOptions {
  readonly signal?: AbortSignal | undefined
  /** Called when the decoded file can be read from its head on, while it still grows. */
  readonly onHead?: (() => void) | undefined
}

export interface AudioDecoderOptions {
  readonly clock: Clock
  /** The most of the waiting line for one account while no other account waits, in percent. */
  readonly sharePercent?: number
  /** Replaced by tests. */
  readonly createThread?: (job: DecodeJob) => Worker
}

const maxThreads = 2
const maxWaiting = 64
// The limit of files decoded beyond their head. They are heard already, and take as long as their source takes to
// arrive.
const maxLong = 8
// The time limit of a piece, which usually takes a hundredth of a second. The MP3 library loops endlessly on some
// files.
const pieceMs = 10_000
const maxHeapMb = 128

interface Waiting {
  readonly job: DecodeJob
  readonly onHead: (() => void) | undefined
  readonly tenant: string
  readonly resolve: (bytes: number) => void
  readonly reject: (error: unknown) => void
}

interface Running {
  readonly tenant: string
  isLong: boolean
  /** Resolves when the thread has ended. Only the first outcome counts. */
  readonly end: (outcome: () => void) => Promise<void>
}

export function createDecoderThread(job: DecodeJob): Worker {
  return new Worker(new URL('./decoder-worker.ts', import.meta.url), {
    name: 'decoder',
    workerData: job,
    resourceLimits: { maxOldGenerationSizeMb: maxHeapMb },
  })
}

export function createAudioDecoder(options: AudioDecoderOptions): AudioDecoder & Part {
  const { clock, sharePercent, createThread = createDecoderThread } = options
  const line = new FairLine<Waiting>()
  const places = new TenantPool({
    size: maxWaiting,
    percent: sharePercent,
    tooMany: 'too many audio files are waiting to be decoded',
  })
  const longPlaces = new TenantPool({
    size: maxLong,
    percent: sharePercent,
    tooMany: 'too many long audio files are being decoded',
  })
  const running = new Map<Waiting, Running>()

  /** Starts waiting files. Each account decodes one file at a time, so that a thread is left for others. */
  function startWaiting(): void {
    for (;;) {
      const heads = [...running.values()].filter(({ isLong }) => !isLong)
      if (heads.length >= maxThreads) return
      const busy = new Set(heads.map(({ tenant }) => tenant))
      const waiting = line.shift((tenant) => !busy.has(tenant))
      if (waiting === undefined) return
      places.give(waiting.tenant, 1)
      try {
        run(waiting)
      } catch (error) {
        // The system has no thread left.
        waiting.reject(error)
      }
    }
  }

  function run(waiting: Waiting): void {
    const { job, onHead, tenant, resolve, reject } = waiting
    const worker = createThread(job)
    const fail = (sentence: string): void =>
      void end(() => reject(new AppError('audio_not_supported', sentence)))
    const watch = (): Timer => clock.after(pieceMs, () => fail('the audio file is broken'))
    let piece = watch()
    let leaving: Promise<void> | undefined
    function end(outcome: () => void): Promise<void> {
      piece.cancel()
      return (leaving ??= leave(outcome))
    }
    /** The place is free once the thread has ended. */
    async function leave(outcome: () => void): Promise<void> {
      await worker.terminate()
      running.delete(waiting)
      if (entry.isLong) longPlaces.give(tenant, 1)
      outcome()
      startWaiting()
    }
    function makeWay(): void {
      if (onHead === undefined || leaving !== undefined) return
      try {
        longPlaces.take(tenant, 1)
      } catch (error) {
        return void end(() => reject(error))
      }
      entry.isLong = true
      onHead()
      startWaiting()
    }
    const entry: Running = { tenant, isLong: false, end }
    running.set(waiting, entry)
    worker.on('message', (message: FromDecoder) => {
      if (message.kind === 'progress') {
        piece.cancel()
        piece = watch()
      } else if (message.kind === 'head') makeWay()
      else if (message.kind === 'done') void end(() => resolve(message.bytes))
      else {
        const { code, message: sentence, cure } = message
        void end(() => reject(new AppError(code, sentence, { cure })))
      }
    })
    // The thread may have run out of memory.
    worker.on('error', () => fail('the audio file is broken'))
    worker.on('exit', () => fail('the audio file is broken'))
  }

  return {
    name: 'audio decoder',
    start: () => Promise.resolve(),
    async stop() {
      const stopped = new AppError('stopping', 'the platform is stopping')
      for (const { tenant, reject } of line.drain()) {
        places.give(tenant, 1)
        reject(stopped)
      }
      await Promise.all([...running].map(([{ reject }, { end }]) => end(() => reject(stopped))))
    },
    async decode(job, { signal, onHead } = {}) {
      signal?.throwIfAborted()
      const tenant = actingTenant() ?? 'platform'
      places.take(tenant, 1)
      const { promise, resolve, reject } = Promise.withResolvers<number>()
      const waiting: Waiting = { job, onHead, tenant, resolve, reject }
      const abort = (): void => {
        const refuse = (): void => reject(signal?.reason)
        void running.get(waiting)?.end(refuse)
        if (line.take((one) => one === waiting) === undefined) return
        places.give(tenant, 1)
        refuse()
      }
      signal?.addEventListener('abort', abort, { once: true })
      line.push(tenant, waiting)
      startWaiting()
      try {
        return await promise
      } finally {
        signal?.removeEventListener('abort', abort)
      }
    },
  }
}
