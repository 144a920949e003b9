// The recorder seen from outside its thread: begins and ends recordings, and starts another thread when one dies.
import { Worker } from 'node:worker_threads'
import type { RecordingEnd, RecordingListener } from '../contracts/recording.ts'
import type { Ring } from '../lib/audio/audio-ring.ts'
import type { Clock } from '../lib/clock.ts'
import type { Logger } from '../lib/log.ts'
import { createRecordingRing, maskRing } from '../media/recording/recording-ring.ts'
import type { FromRecorder, ToRecorder } from './recorder-host.ts'

/** Four seconds: a shorter stall of the disk loses nothing. */
const ringFrames = 200
const frameMs = 20
/** The audio that a dying thread has read but not written. */
const unwrittenMs = 600
// If the thread dies again and again, something in a recording kills it.
const maxDeaths = 5
/** The longest wait at the end of the platform for a disk that stalls: the parts that stop later must still be stopped. */
export const stopLimitMs = 5000
const deathsMs = 60_000

export interface RecorderThread {
  begin(id: string, file: RecordingFile, listener: RecordingListener): Taken
  /** Ends a recording before its call ends, for this reason. */
  cut(id: string, reason: string): void
  /** Allows this many more bytes to be written. */
  give(bytes: number): void
  /** Ends all recordings. */
  stop(): Promise<void>
  readonly size: number
}

export interface RecordingFile {
  readonly path: string
  readonly maxBytes: number
}

export interface Taken {
  readonly ring: Ring
  mask(isMasked: boolean): void
  end(): Promise<RecordingEnd>
}

interface Open extends RecordingFile {
  readonly ring: Ring
  readonly listener: RecordingListener
  readonly ended: PromiseWithResolvers<RecordingEnd>
  isEnding: boolean
}

export interface RecorderThreadOptions {
  readonly clock: Clock
  readonly log: Logger
  /** The number of bytes that may be written. */
  readonly room: number
  /** Replaced by tests. */
  readonly createWorker?: ((room: number) => Worker) | undefined
}

const stalled = 'the disk did not respond'

const startWorker = (room: number): Worker =>
  new Worker(new URL('./recorder-worker.ts', import.meta.url), { name: 'recorder', workerData: { room } })

export function createRecorderThread({ clock, log, ...options }: RecorderThreadOptions): RecorderThread {
  const { createWorker = startWorker } = options
  const open = new Map<string, Open>()
  let { room } = options
  let deaths: number[] = []
  let worker: Worker | undefined

  function post(message: ToRecorder): void {
    worker ??= started()
    worker.postMessage(message)
  }

  function started(): Worker {
    const thread = createWorker(room)
    thread.on('message', (message: FromRecorder) => hear(message))
    thread.on('error', (error) => log.error({ err: error }, 'the recorder failed'))
    thread.on('exit', () => died(thread))
    return thread
  }

  function hear(message: FromRecorder): void {
    const one = open.get(message.id)
    if (one === undefined) return
    if (message.kind === 'gap') return one.listener.gap(message.frames * frameMs)
    const { bytes, durationMs, reason } = message
    room -= bytes
    close(message.id, one, { bytes, durationMs, reason })
  }

  function close(id: string, one: Open, end: RecordingEnd): void {
    open.delete(id)
    one.ended.resolve(end)
    if (!one.isEnding) one.listener.ended(end.reason ?? 'the recorder failed')
  }

  /** Continues all recordings in another thread, with the same files and rings. */
  function died(thread: Worker): void {
    if (worker !== thread) return
    worker = undefined
    const now = clock.monotonic()
    deaths = [...deaths.filter((at) => now - at < deathsMs), now]
    const goesOn = deaths.length < maxDeaths && open.size > 0 && isStartable()
    for (const [id, one] of open) {
      if (!goesOn) {
        close(id, one, { bytes: 0, durationMs: 0, reason: 'the recorder failed' })
        continue
      }
      begin(id, one, true)
      one.listener.gap(unwrittenMs)
      if (one.isEnding) post({ kind: 'end', id })
    }
  }

  /** Starts the thread, for which the system may have no room. */
  function isStartable(): boolean {
    try {
      worker ??= started()
      return true
    } catch (error) {
      log.error({ err: error }, 'the recorder could not be started')
      return false
    }
  }

  function begin(id: string, { path, maxBytes, ring }: Open, goesOn: boolean): void {
    post({ kind: 'begin', id, path, maxBytes, goesOn, memory: ring.memory })
  }

  return {
    get size() {
      return open.size
    },
    begin(id, file, listener) {
      const ring = createRecordingRing(ringFrames)
      const ended = Promise.withResolvers<RecordingEnd>()
      const one: Open = { ...file, ring, listener, ended, isEnding: false }
      begin(id, one, false)
      open.set(id, one)
      return {
        ring,
        mask: (isMasked) => maskRing(ring, isMasked),
        end() {
          if (!one.isEnding && open.has(id)) post({ kind: 'end', id })
          one.isEnding = true
          return ended.promise
        },
      }
    },
    cut(id, reason) {
      if (open.has(id)) post({ kind: 'end', id, reason })
    },
    give(bytes) {
      room += bytes
      if (worker !== undefined) post({ kind: 'room', bytes })
    },
    async stop() {
      const ends = [...open].map(([id, one]) => {
        if (!one.isEnding) post({ kind: 'end', id })
        one.isEnding = true
        return one.ended.promise
      })
      const { promise: late, resolve } = Promise.withResolvers<void>()
      const limit = clock.after(stopLimitMs, resolve)
      await Promise.race([Promise.all(ends), late])
      const last = worker
      worker = undefined
      if (open.size > 0) log.error({ recordings: open.size }, 'the recorder did not end in time')
      // The next start finishes their files.
      for (const [id, one] of open) close(id, one, { bytes: 0, durationMs: 0, reason: stalled })
      // A thread within a system call ends only with that.
      await Promise.race([last?.terminate(), late])
      limit.cancel()
    },
  }
}
