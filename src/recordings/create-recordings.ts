// Assembles recordings: the thread that records, the folder of the audio, and the storing.
import { rm } from 'node:fs/promises'
import type {
  RecordingEnd,
  RecordingListener,
  RecordingOrder,
  RunningRecording,
  StoredRecording,
} from '../contracts/recording.ts'
import { AppError } from '../lib/errors.ts'
import { repeat, type Repetition } from '../lib/repeat.ts'
import { clearSettled, finishAbandoned, mendedBytes } from './abandoned-recordings.ts'
import { LeavingRecordings } from './leaving-recordings.ts'
import { reportLost } from './lost-recordings.ts'
import { removeOld } from './old-recordings.ts'
import { createRecorderThread, type RecorderThread } from './recorder-thread.ts'
import type { ReadRecording, Recordings, RecordingsOptions } from './recordings.ts'
import { createExpiredRemover, type ExpiredRemover } from './remove-expired.ts'
import { RecordingShares } from './shares.ts'
import { createSpool, type Spool } from './spool.ts'
import { createRecordingStorer, type RecordingStorer } from './store-recordings.ts'
import { bytesPerMs, durationOf, maxDataBytes } from './wav-file.ts'

/** The limit of simultaneous recordings, each of which has an open file. */
const maxAtOnce = 2000
/** An MP3 takes an eighth of the spooled bytes. */
const mp3Share = 8
const sweepEveryMs = 3_600_000
const measureEveryMs = 60_000
/** The least space for a recording; with less it is not begun. */
const leastBytes = 1000 * bytesPerMs
const noShareLeft = 'the recordings of the account that wait to be stored take its share of the disk space'

export function createRecordings(options: RecordingsOptions): Recordings {
  return new SpooledRecordings(options)
}

class SpooledRecordings implements Recordings {
  readonly name = 'recordings'
  readonly #options: RecordingsOptions
  readonly #spool: Spool
  readonly #shares: RecordingShares
  readonly #storer: RecordingStorer
  readonly #remover: ExpiredRemover
  readonly #leaving: LeavingRecordings
  #thread: RecorderThread | undefined
  /** The recordings of this process. */
  readonly #live = new Set<string>()
  /** Those of them whose bytes are not taken from `#freeBytes` yet. */
  readonly #growing = new Set<string>()
  #freeBytes = 0
  #repeated: readonly Repetition[] = []
  #isStopping = false

  constructor(options: RecordingsOptions) {
    const { store, calls, clock, limits, dataDir } = options
    const spool = createSpool(dataDir)
    this.#options = options
    this.#spool = spool
    this.#shares = new RecordingShares({
      ...options,
      spoolBytes: limits.spoolBytes,
      freeBytes: () => this.#freeBytes,
      waitingBytes: (account_sid) => store.waitingBytes(spool.id, account_sid),
      cut: (call_sid) => this.#thread?.cut(call_sid, noShareLeft),
    })
    this.#storer = createRecordingStorer({
      ...options,
      spool,
      freed: (bytes) => this.#free(bytes),
      beforeLook: () => this.#finishAbandoned(),
    })
    this.#remover = createExpiredRemover({ ...options, spool })
    this.#leaving = new LeavingRecordings({ calls, clock, left: (call_sids) => this.#leave(call_sids) })
  }

  async start(): Promise<void> {
    const { store, limits, isShared } = this.#options
    const spool = this.#spool
    await spool.open()
    await clearSettled({ store, spool })
    this.#freeBytes = limits.spoolBytes - (await spool.bytes())
    this.#thread = createRecorderThread({ ...this.#options, room: this.#freeBytes })
    if (!isShared()) await store.hasten(spool.id)
    await this.#sweep().catch(this.#warn('old recordings could not be removed'))
    this.#repeated = [
      this.#repeat(sweepEveryMs, () => this.#sweep(), 'old recordings could not be removed'),
      this.#repeat(measureEveryMs, () => this.#measure(), 'the files of recordings could not be measured'),
    ]
    this.#shares.start()
    this.#storer.start()
    this.#remover.start()
  }

  async stop(): Promise<void> {
    this.#isStopping = true
    this.#leaving.stop()
    for (const one of this.#repeated) await one.stop()
    await this.#shares.stop()
    await this.#storer.stop()
    await this.#remover.stop()
    await this.#thread?.stop()
  }

  async begin(order: RecordingOrder, listener: RecordingListener): Promise<RunningRecording> {
    const { call_sid, account_sid, format, attempted_at, prefix = folderOf(attempted_at) } = order
    const thread = this.#demandThread()
    const maxBytes = await this.#demandRoom(order)
    const path = this.#spool.wavOf(call_sid)
    const taken = thread.begin(call_sid, { path, maxBytes }, listener)
    this.#live.add(call_sid)
    this.#growing.add(call_sid)
    this.#shares.begun(call_sid, account_sid)
    return {
      ...taken,
      key: `${prefix}${call_sid}.${format}`,
      spool: this.#spool.id,
      end: async () => this.#end(call_sid, await taken.end()),
    }
  }

  wake(): void {
    this.#storer.wake()
  }

  async find(account_sid: string, call_sid: string): Promise<StoredRecording | undefined> {
    const recording = await this.#options.store.find(call_sid)
    return recording?.account_sid === account_sid ? recording : undefined
  }

  read(recording: StoredRecording, range: string | undefined): Promise<ReadRecording> {
    return this.#spool.read(recording, range)
  }

  async remove(recording: StoredRecording): Promise<void> {
    await this.#spool.removeFile(recording)
    await this.#options.store.remove(recording.call_sid)
  }

  forget({ call_sid }: StoredRecording): Promise<void> {
    return this.#options.store.remove(call_sid)
  }

  #demandThread(): RecorderThread {
    if (this.#thread === undefined) throw new AppError('stopping', 'the platform is not up')
    if (this.#thread.size >= maxAtOnce)
      throw new AppError('overloaded', `${maxAtOnce} calls are being recorded already`)
    return this.#thread
  }

  /** Returns the most bytes of audio that the recording may have. */
  async #demandRoom(order: RecordingOrder): Promise<number> {
    const room = await this.#roomOf(order)
    if (room < leastBytes)
      throw new AppError(
        'recording_refused',
        'the recordings of the account take all the disk space that it may have',
      )
    if (this.#freeBytes < leastBytes)
      throw new AppError('recording_refused', 'the disk space for recordings is used up')
    if (!(await this.#shares.mayGrow(order.account_sid))) throw new AppError('recording_refused', noShareLeft)
    return room
  }

  /** Returns the bytes of audio that the account may still keep here; unlimited if it has a bucket. */
  async #roomOf({ account_sid, format }: RecordingOrder): Promise<number> {
    const { store, limits, bucketOf } = this.#options
    if ((await bucketOf(account_sid)) !== null) return maxDataBytes
    const left = limits.accountBytes - (await store.keptBytes(account_sid))
    return left * (format === 'mp3' ? mp3Share : 1)
  }

  async #end(call_sid: string, reported: RecordingEnd): Promise<RecordingEnd> {
    const ended = await this.#foundAtEnd(call_sid, reported)
    this.#shares.ended(call_sid)
    // An empty recording has no file to store.
    if (ended.bytes === 0)
      await rm(this.#spool.wavOf(call_sid), { force: true }).catch(
        this.#warn('the file of a recording could not be removed'),
      )
    this.#growing.delete(call_sid)
    this.#freeBytes -= ended.bytes
    this.#leaving.add(call_sid)
    return ended
  }

  /** Adds the bytes on the disk to the end of a recording, since a recorder that failed does not report them. */
  async #foundAtEnd(call_sid: string, end: RecordingEnd): Promise<RecordingEnd> {
    if (end.bytes > 0 || end.reason === undefined) return end
    const bytes = await mendedBytes(call_sid, { spool: this.#spool, log: this.#options.log })
    return { ...end, bytes, durationMs: durationOf(bytes) }
  }

  #leave(call_sids: readonly string[]): void {
    for (const call_sid of call_sids) this.#live.delete(call_sid)
    this.#storer.wake()
  }

  #finishAbandoned(): Promise<void> {
    return finishAbandoned({
      ...this.#options,
      spool: this.#spool,
      isLive: (call_sid) => this.#live.has(call_sid),
      due: () => this.#storer.wake(),
    })
  }

  async #sweep(): Promise<void> {
    const options = { ...this.#options, spool: this.#spool, isStopping: () => this.#isStopping }
    await removeOld(options)
    await reportLost(options)
  }

  /** Measures the files if other processes share the folder: those also store what was recorded here. */
  async #measure(): Promise<void> {
    const { isShared, limits } = this.#options
    if (!isShared()) return
    const bytes = await this.#spool.bytes(this.#growing)
    this.#free(limits.spoolBytes - bytes - this.#freeBytes)
  }

  #free(bytes: number): void {
    this.#freeBytes += bytes
    this.#thread?.give(bytes)
  }

  #repeat(everyMs: number, work: () => Promise<void>, failure: string): Repetition {
    return repeat({ clock: this.#options.clock, everyMs, work, failed: this.#warn(failure) })
  }

  #warn(what: string): (error: unknown) => void {
    return (error) => this.#options.log.warn({ err: error }, what)
  }
}

/** Returns a folder such as `2026/11/21/`. */
function folderOf(atMs: number): string {
  return `${new Date(atMs).toISOString().slice(0, 10).replaceAll('-', '/')}/`
}
