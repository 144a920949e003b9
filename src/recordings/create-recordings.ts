// Assembles recordings: the thread that records, the folder of the audio, and the storing.
import { rm } from 'node:fs/promises'
import type { RecordingEnd, RecordingOrder, RunningRecording } from '../contracts/recording.ts'
import type { Timer } from '../lib/clock.ts'
import { AppError } from '../lib/errors.ts'
import { repeat, type Repetition } from '../lib/repeat.ts'
import { createRecorderThread, type RecorderThread } from './recorder-thread.ts'
import { reportLost } from './lost-recordings.ts'
import { removeOld } from './old-recordings.ts'
import { createExpiredRemover } from './remove-expired.ts'
import type { Recordings, RecordingsOptions } from './recordings.ts'
import { RecordingShares } from './shares.ts'
import { createSpool } from './spool.ts'
import { createRecordingStorer } from './store-recordings.ts'
import { bytesPerMs, durationOf, maxDataBytes } from './wav-file.ts'

/** The limit of simultaneous recordings, each of which has an open file. */
const maxAtOnce = 2000
/** An MP3 takes an eighth of the spooled bytes. */
const mp3Share = 8
/**
 * A recorder writes to a file or touches it at least every ten seconds. A file left alone for longer than this has no
 * recorder.
 */
const abandonedMs = 30_000
const sweepEveryMs = 3_600_000
const measureEveryMs = 60_000
/** The least space for a recording; with less it is not begun. */
const leastBytes = 1000 * bytesPerMs
const noShareLeft = 'the recordings of the account that wait to be stored take its share of the disk space'
/** The delay from the end of a recording until it is due for storing. */
const dueAfterMs = 1100

export function createRecordings(options: RecordingsOptions): Recordings {
  const { store, clock, log, limits, bucketOf, calls } = options
  const spool = createSpool(options.dataDir)
  let thread: RecorderThread | undefined
  /** The recordings of this process. */
  const live = new Set<string>()
  /** Those of them whose bytes are not taken from `freeBytes` yet. */
  const growing = new Set<string>()
  let freeBytes = 0
  let repeated: readonly Repetition[] = []
  let isStopping = false
  /** The recordings that are over, with the time at which the database should have their end. */
  const leaving = new Map<string, number>()
  let nextLeave: Timer | undefined

  function free(bytes: number): void {
    freeBytes += bytes
    thread?.give(bytes)
  }

  /** Measures the files if other processes share the folder: those also store what was recorded here. */
  async function measure(): Promise<void> {
    if (!options.isShared()) return
    const bytes = await spool.bytes(growing)
    free(limits.spoolBytes - bytes - freeBytes)
  }

  const shares = new RecordingShares({
    ...options,
    spoolBytes: limits.spoolBytes,
    freeBytes: () => freeBytes,
    waitingBytes: (account_sid) => store.waitingBytes(spool.id, account_sid),
    cut: (call_sid) => thread?.cut(call_sid, noShareLeft),
  })

  const storer = createRecordingStorer({ ...options, spool, freed: free, beforeLook: finishAbandoned })
  const remover = createExpiredRemover({ ...options, spool })

  /** Finishes recordings that a dead process left in progress. */
  async function finishAbandoned(): Promise<void> {
    for (const { call_sid, account_sid, started_at } of await store.unfinished(spool.id)) {
      if (live.has(call_sid)) continue
      // The file may appear a moment after the row.
      const silentMs = (await spool.silentMs(call_sid, Date.now())) ?? clock.now() - started_at
      if (options.isShared() && silentMs < abandonedMs) continue
      // Its end may be among the writes that wait for the database; written again, it would be there twice.
      await calls.flush()
      if ((await store.find(call_sid))?.state !== 'recording') continue
      const bytes = await mended(call_sid)
      const at = clock.now()
      const ended = { change: 'ended', bytes, durationMs: durationOf(bytes), at } as const
      const later = [
        {
          ...{ at, type: 'recording-ended', duration_ms: ended.durationMs, bytes },
          because: 'the platform stopped in mid-call',
        },
      ]
      calls.write({ call_sid, account_sid, events: [], notifications: [], recordings: [ended], later }, 'now')
      await calls.flush()
      log.warn({ call_sid, account_sid, bytes }, 'the recording of a dead process was finished')
      clock.after(dueAfterMs, () => storer.wake())
    }
  }

  /** Removes files of settled recordings, which a process that was killed at that moment has not removed. */
  async function clearSettled(): Promise<void> {
    for (const call_sid of await spool.list()) {
      const state = (await store.find(call_sid))?.state
      // A file without a row may belong to another database.
      if (state !== undefined && state !== 'recording' && state !== 'waiting') await spool.clear(call_sid)
    }
  }

  /** Returns the bytes of a mended file. On a full disk even the header may be missing, and nothing can be kept. */
  async function mended(call_sid: string): Promise<number> {
    const bytes = await spool.mend(call_sid).catch((error: unknown) => {
      log.warn({ err: error, call_sid }, 'the file of a recording could not be mended')
    })
    return bytes ?? 0
  }

  /** Adds the bytes on the disk to the end of a recording, since a recorder that failed does not report them. */
  async function foundAtEnd(call_sid: string, end: RecordingEnd): Promise<RecordingEnd> {
    if (end.bytes > 0 || end.reason === undefined) return end
    const bytes = await mended(call_sid)
    return { ...end, bytes, durationMs: durationOf(bytes) }
  }

  /** Notes that a recording is over, once its end is in the database, which may be slow or gone meanwhile. */
  function leaveLater(call_sid: string): void {
    leaving.set(call_sid, clock.monotonic() + dueAfterMs)
    leaveNext()
  }

  /** Waits for the first recording that is due, unless those before it are being left. */
  function leaveNext(): void {
    const [first] = leaving.values()
    if (first === undefined) return
    nextLeave ??= clock.after(Math.max(0, first - clock.monotonic()), () => void leaveDue())
  }

  /** Leaves all that are due with one flush: during an outage there may be thousands. */
  async function leaveDue(): Promise<void> {
    if (isStopping) return
    const due = [...leaving].filter(([, at]) => at <= clock.monotonic()).map(([call_sid]) => call_sid)
    for (const call_sid of due) leaving.delete(call_sid)
    try {
      await calls.flush()
      for (const call_sid of due) live.delete(call_sid)
      storer.wake()
    } catch {
      // The database is away: they are due again, with those that have ended meanwhile.
      for (const call_sid of due) leaving.set(call_sid, clock.monotonic() + dueAfterMs)
    }
    nextLeave = undefined
    leaveNext()
  }

  /** Returns the bytes of audio that the account may still keep here; unlimited if it has a bucket. */
  async function roomOf({ account_sid, format }: RecordingOrder): Promise<number> {
    if ((await bucketOf(account_sid)) !== null) return maxDataBytes
    const left = limits.accountBytes - (await store.keptBytes(account_sid))
    return left * (format === 'mp3' ? mp3Share : 1)
  }

  async function sweep(): Promise<void> {
    await removeOld({ ...options, spool, isStopping: () => isStopping })
    await reportLost({ ...options, spool })
  }

  return {
    name: 'recordings',
    wake: () => storer.wake(),
    read: (recording, range) => spool.read(recording, range),
    async find(account_sid, call_sid) {
      const recording = await store.find(call_sid)
      return recording?.account_sid === account_sid ? recording : undefined
    },
    async remove(recording) {
      await spool.removeFile(recording)
      await store.remove(recording.call_sid)
    },
    forget: ({ call_sid }) => store.remove(call_sid),
    async start() {
      await spool.open()
      await clearSettled()
      freeBytes = limits.spoolBytes - (await spool.bytes())
      thread = createRecorderThread({ ...options, room: freeBytes })
      if (!options.isShared()) await store.hasten(spool.id)
      const warn = (what: string) => (error: unknown) => log.warn({ err: error }, what)
      const failed = warn('old recordings could not be removed')
      await sweep().catch(failed)
      const unmeasured = warn('the files of recordings could not be measured')
      repeated = [
        repeat({ clock, everyMs: sweepEveryMs, work: sweep, failed }),
        repeat({ clock, everyMs: measureEveryMs, work: measure, failed: unmeasured }),
      ]
      shares.start()
      storer.start()
      remover.start()
    },
    async stop() {
      isStopping = true
      for (const one of repeated) await one.stop()
      await shares.stop()
      await storer.stop()
      await remover.stop()
      await thread?.stop()
    },
    async begin(order, listener): Promise<RunningRecording> {
      const { call_sid, account_sid, format, attempted_at, prefix = folderOf(attempted_at) } = order
      if (thread === undefined) throw new AppError('stopping', 'the platform is not up')
      if (thread.size >= maxAtOnce)
        throw new AppError('overloaded', `${maxAtOnce} calls are being recorded already`)
      const room = await roomOf(order)
      if (room < leastBytes)
        throw new AppError(
          'recording_refused',
          'the recordings of the account take all the disk space that it may have',
        )
      if (freeBytes < leastBytes)
        throw new AppError('recording_refused', 'the disk space for recordings is used up')
      if (!(await shares.mayGrow(account_sid))) throw new AppError('recording_refused', noShareLeft)
      const path = spool.wavOf(call_sid)
      const taken = thread.begin(call_sid, { path, maxBytes: room }, listener)
      live.add(call_sid)
      growing.add(call_sid)
      shares.begun(call_sid, account_sid)
      return {
        ...taken,
        key: `${prefix}${call_sid}.${format}`,
        spool: spool.id,
        async end() {
          const ended = await foundAtEnd(call_sid, await taken.end())
          shares.ended(call_sid)
          // An empty recording has no file to store.
          if (ended.bytes === 0)
            await rm(path, { force: true }).catch((error: unknown) => {
              log.warn({ err: error }, 'the file of a recording could not be removed')
            })
          growing.delete(call_sid)
          freeBytes -= ended.bytes
          leaveLater(call_sid)
          return ended
        },
      }
    },
  }
}

/** Returns a folder such as `2026/11/21/`. */
function folderOf(atMs: number): string {
  return `${new Date(atMs).toISOString().slice(0, 10).replaceAll('-', '/')}/`
}
