// Recordings as the rest of the platform uses them, and what they need from it.
import type { Readable } from 'node:stream'
import type { Alerts } from '../contracts/alert.ts'
import type { CallStore } from '../contracts/call-record.ts'
import type { Recorder, RecordingStore, StoredRecording } from '../contracts/recording.ts'
import type { Clock } from '../lib/clock.ts'
import type { Part } from '../lib/lifecycle.ts'
import type { Logger } from '../lib/log.ts'
import type { Finished, FinishJob } from './finish.ts'
import type { RecorderThreadOptions } from './recorder-thread.ts'

export interface Recordings extends Recorder, KeptRecordings, Part {
  /** Looks immediately for recordings to be stored. */
  wake(): void
}

/** The recordings of calls, and the audio of those on the disk of this node. */
export interface KeptRecordings {
  find(account_sid: string, call_sid: string): Promise<StoredRecording | undefined>
  /** Throws AppError not_found or range_not_satisfiable. */
  read(recording: StoredRecording, range: string | undefined): Promise<ReadRecording>
  /** Throws AppError not_found if another node has it. */
  remove(recording: StoredRecording): Promise<void>
  /** Removes the row. */
  forget(recording: StoredRecording): Promise<void>
}

export interface ReadRecording {
  readonly body: Readable
  readonly bytes: number
  /** The part that the body is, as a Content-Range value; undefined for all. */
  readonly range: string | undefined
}

/** A recording in the bucket of an account. */
export interface RecordingObject {
  readonly account_sid: string
  readonly credential: object
  readonly key: string
  readonly signal: AbortSignal
}

/** Puts a file into the bucket of an account. */
export interface PutRecording extends RecordingObject {
  readonly contentType: string
  readonly file: Finished
}

export interface RecordingsOptions {
  readonly dataDir: string
  readonly store: RecordingStore
  readonly calls: Pick<CallStore, 'write' | 'flush'>
  /** Whether other processes may record in the same data directory. */
  readonly isShared: () => boolean
  /** Returns null if the account has no bucket, and undefined if there is no such account. */
  readonly bucketOf: (account_sid: string) => Promise<object | null | undefined>
  readonly put: (object: PutRecording) => Promise<void>
  /** Removes an object. One that is missing counts as removed. */
  readonly discard: (object: RecordingObject) => Promise<void>
  readonly alerts: Alerts
  readonly limits: RecordingLimits
  /** The most of that space, in percent, for waiting recordings of one account while no other account has any. */
  readonly sharePercent?: number
  readonly clock: Clock
  readonly log: Logger
  /** Replaced by tests, as is `finish`. */
  readonly createWorker?: RecorderThreadOptions['createWorker']
  readonly finish?: (job: FinishJob, signal: AbortSignal) => Promise<Finished>
}

export interface RecordingLimits {
  /** The limit of audio waiting to be stored, for all accounts. */
  readonly spoolBytes: number
  /** The limit of recordings kept here for one account. */
  readonly accountBytes: number
  /** The days that those are kept; 0 for ever. */
  readonly days: number
}
