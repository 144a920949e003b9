// Recordings of calls: the interface of the recorder for the engine, and the stored state of each recording.
import type { Hook } from './hook.ts'

export type RecordingFormat = 'mp3' | 'wav'

/** The hook that is notified about a recording, and its additional payload. */
export interface RecordingNotice {
  readonly hook: Hook
  readonly payload: object
}

/** The place of a recording among others. */
export interface RecordingPlace {
  /** The key in the bucket of the account, and below its directory on disk. By default `2026/11/21/<call_sid>.mp3`. */
  readonly key: string
  /** The data directory that holds the file until it is stored. */
  readonly spool: string
}

/** A change of a recording, committed with the event of the call that reports it. */
export type RecordingChange =
  | (RecordingPlace & {
      readonly change: 'begun'
      readonly format: RecordingFormat
      readonly at: number
      readonly notice: RecordingNotice | undefined
    })
  /** The recording is complete, and is to be stored. */
  | (RecordingEnd & { readonly change: 'ended'; readonly at: number })
  | {
      readonly change: 'stored'
      readonly place: 'bucket' | 'disk'
      readonly bytes: number
      readonly at: number
    }
  | { readonly change: 'failed'; readonly reason: string; readonly at: number }

export interface RecordingEnd {
  /** The bytes of spooled audio. */
  readonly bytes: number
  readonly durationMs: number
  /** The reason, if it ended before its call. */
  readonly reason?: string | undefined
}

/** A recording as it is stored. Times are in epoch ms. */
export interface StoredRecording extends RecordingPlace {
  readonly call_sid: string
  readonly account_sid: string
  readonly format: RecordingFormat
  /** `expired`: its call record is gone, and the recording is to be removed. */
  readonly state: 'recording' | 'waiting' | 'stored' | 'failed' | 'expired'
  readonly place: 'bucket' | 'disk' | null
  readonly bytes: number
  readonly duration_ms: number
  /** The number of failed attempts to store it, or to remove it once it has expired. */
  readonly attempts: number
  readonly started_at: number
  readonly ended_at: number | null
  readonly reason: string | null
  readonly notice: RecordingNotice | undefined
}

export interface RecordingStore {
  find(call_sid: string): Promise<StoredRecording | undefined>
  /** Returns recordings that wait and are due, the oldest first. No other claim returns them for `leaseMs`. */
  claim(spool: string, claim: RecordingClaim): Promise<readonly StoredRecording[]>
  renew(call_sid: string, leaseMs: number): Promise<void>
  /** Lets it wait until then, after another failed attempt. */
  retry(call_sid: string, at: number, reason: string): Promise<void>
  /** Makes the waiting recordings of an account, or of all, due now. */
  hasten(spool: string, account_sid?: string): Promise<void>
  /** Returns the bytes of the account's recordings on the platform's disks. */
  keptBytes(account_sid: string): Promise<number>
  /** Returns the bytes of those that wait there to be stored. */
  waitingBytes(spool: string, account_sid: string): Promise<number>
  /** Returns those that were never ended. */
  unfinished(spool: string): Promise<readonly StoredRecording[]>
  /**
   * Returns one in another data directory that waits, or was never ended, and that no process has worked on for long.
   * No other claim returns it for `leaseMs`.
   */
  claimLost(spool: string, claim: LostClaim): Promise<StoredRecording | undefined>
  /** Returns those on the disk that began before, the oldest first, after as many as are to be skipped. */
  expired(
    spool: string,
    before: number,
    page: { readonly limit: number; readonly skip: number },
  ): Promise<readonly StoredRecording[]>
  remove(call_sid: string): Promise<void>
  /** Returns an expired one, on this disk or in a bucket. No other claim returns it for `leaseMs`. */
  claimExpired(spool: string, claim: Omit<RecordingClaim, 'limit'>): Promise<StoredRecording | undefined>
  /**
   * Lets the account's expired recordings wait, or a part if there are many, so that the rest is claimed again. Those
   * that have reached `maxAttempts` are forgotten; returns their number.
   */
  postponeExpired(recording: StoredRecording, wait: ExpiredWait): Promise<number>
}

/** Times in epoch ms. */
export interface LostClaim {
  readonly leaseMs: number
  /** Applies to recordings that wait. */
  readonly endedBefore: number
  /** Applies to recordings that were never ended. */
  readonly begunBefore: number
  /** No attempt to store the recording was due since then. */
  readonly silentSince: number
}

export interface ExpiredWait {
  readonly until: number
  readonly reason: string
  readonly maxAttempts: number
}

export interface RecordingClaim {
  readonly limit: number
  readonly leaseMs: number
  /** Accounts whose recordings are skipped. */
  readonly except: readonly string[]
}

/** The place that an application wants for a recording, instead of the default name. */
export interface RecordingWish {
  /** The beginning of the key. The call_sid and the format are appended. */
  readonly prefix: string
  readonly format?: RecordingFormat
}

export interface RecordingOrder {
  readonly call_sid: string
  readonly account_sid: string
  readonly format: RecordingFormat
  /** The time at which the call began, which gives the day in the key. */
  readonly attempted_at: number
  /** The beginning of the key, instead of the day. */
  readonly prefix?: string
}

export interface RecordingListener {
  /** Called when the recorder has ended the recording for this reason. The call continues. */
  readonly ended: (reason: string) => void
  /** Called when this much audio could not be kept, and is replaced by silence. */
  readonly gap: (ms: number) => void
}

/** A recording in progress. */
export interface RunningRecording extends RecordingPlace {
  /** Takes a stereo frame in every tick: the voice of the far end on the left, the audio that it hears on the right. */
  readonly ring: { readonly id: string; readonly memory: SharedArrayBuffer }
  /** While masked, silence is recorded instead of the audio. */
  mask(isMasked: boolean): void
  /** Resolves when the whole recording is on the disk. Idempotent. */
  end(): Promise<RecordingEnd>
}

export interface Recorder {
  /** Throws AppError recording_refused or overloaded. */
  begin(order: RecordingOrder, listener: RecordingListener): Promise<RunningRecording>
}
