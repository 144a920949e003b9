// Recordings as the rest of the platform sees them, and what they need of it.
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
  /** Looks at once for what is to be stored. */
  wake(): void
}

/** What is known of the recordings of calls, and the sound of those on the disk of this node. */
export interface KeptRecordings {
  find(account_sid: string, call_sid: string): Promise<StoredRecording | undefined>
  /** Throws AppError not_found or range_not_satisfiable. */
  read(recording: StoredRecording, range: string | undefined): Promise<ReadRecording>
  /** Throws AppError not_found where another node has it. */
  remove(recording: StoredRecording): Promise<void>
  /** It is known no more. */
  forget(recording: StoredRecording): Promise<void>
}

export interface ReadRecording {
  readonly body: Readable
  readonly bytes: number
  /** What of it the body is, in the words of a header Content-Range. */
  readonly range: string | undefined
}

/** Where it is in the bucket of an account. */
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
  /** Whether other processes may have recordings in the same data directory. */
  readonly isShared: () => boolean
  /** Null: the account has none; undefined: there is no such account. */
  readonly bucketOf: (account_sid: string) => Promise<object | null | undefined>
  readonly put: (object: PutRecording) => Promise<void>
  /** What is not there is removed already. */
  readonly discard: (object: RecordingObject) => Promise<void>
  readonly alerts: Alerts
  readonly limits: RecordingLimits
  /** The most that the recordings of one account that wait to be stored may take of that space while no others wait. */
  readonly sharePercent?: number
  readonly clock: Clock
  readonly log: Logger
  /** Tests stand in for threads. */
  readonly createWorker?: RecorderThreadOptions['createWorker']
  readonly finish?: (job: FinishJob, signal: AbortSignal) => Promise<Finished>
}

export interface RecordingLimits {
  /** Of sound that waits to be stored, of all accounts. */
  readonly spoolBytes: number
  /** What the recordings that are kept here for one account may take. */
  readonly accountBytes: number
  /** How long those are kept; 0: for ever. */
  readonly days: number
}
