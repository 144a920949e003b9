// Recordings of calls: what the engine asks of the recorder, and what is kept of each.
import type { Hook } from './hook.ts'

export type RecordingFormat = 'mp3' | 'wav'

/** The hook that hears what becomes of a recording, and what it is sent besides. */
export interface RecordingNotice {
  readonly hook: Hook
  readonly payload: object
}

/** Where it is, beside the sound of others. */
export interface RecordingPlace {
  /** In the bucket of the account, and below its directory on disk: `2026/11/21/<call_sid>.mp3`, where nothing else was wished. */
  readonly key: string
  /** The data directory that has the file until it is stored. */
  readonly spool: string
}

/** Committed with the event of the call that reports it. */
export type RecordingChange =
  | (RecordingPlace & {
      readonly change: 'begun'
      readonly format: RecordingFormat
      readonly at: number
      readonly notice: RecordingNotice | undefined
    })
  /** Nothing is added to it any more: it is to be stored. */
  | (RecordingEnd & { readonly change: 'ended'; readonly at: number })
  | {
      readonly change: 'stored'
      readonly place: 'bucket' | 'disk'
      readonly bytes: number
      readonly at: number
    }
  | { readonly change: 'failed'; readonly reason: string; readonly at: number }

export interface RecordingEnd {
  /** Of sound as it was spooled. */
  readonly bytes: number
  readonly durationMs: number
  /** Why it ended before its call. */
  readonly reason?: string | undefined
}

/** A recording as it is kept. Times in epoch ms. */
export interface StoredRecording extends RecordingPlace {
  readonly call_sid: string
  readonly account_sid: string
  readonly format: RecordingFormat
  /** `expired`: its call record is gone, and it is to be removed. */
  readonly state: 'recording' | 'waiting' | 'stored' | 'failed' | 'expired'
  readonly place: 'bucket' | 'disk' | null
  readonly bytes: number
  readonly duration_ms: number
  /** How often storing it has failed, or removing it once it has expired. */
  readonly attempts: number
  readonly started_at: number
  readonly ended_at: number | null
  readonly reason: string | null
  readonly notice: RecordingNotice | undefined
}

export interface RecordingStore {
  find(call_sid: string): Promise<StoredRecording | undefined>
  /** Those that wait and are due, the oldest first; for `leaseMs` no other claim returns them. */
  claim(spool: string, claim: RecordingClaim): Promise<readonly StoredRecording[]>
  renew(call_sid: string, leaseMs: number): Promise<void>
  /** It waits until then, after another attempt that failed. */
  retry(call_sid: string, at: number, reason: string): Promise<void>
  /** Those that wait are due now: of one account, or all. */
  hasten(spool: string, account_sid?: string): Promise<void>
  /** What the recordings of the account take on the disks of the platform. */
  keptBytes(account_sid: string): Promise<number>
  /** What those of the account take that wait there to be stored. */
  waitingBytes(spool: string, account_sid: string): Promise<number>
  /** Those that were never ended. */
  unfinished(spool: string): Promise<readonly StoredRecording[]>
  /**
   * One that waits, or was never ended, in a data directory other than this, and that no process has worked on for long; for
   * `leaseMs` no other claim returns it.
   */
  claimLost(spool: string, claim: LostClaim): Promise<StoredRecording | undefined>
  /** Those on the disk that began before. */
  expired(spool: string, before: number, limit: number): Promise<readonly StoredRecording[]>
  remove(call_sid: string): Promise<void>
  /** One that has outlived its call record, on this disk or in a bucket; for `leaseMs` no other claim returns it. */
  claimExpired(spool: string, claim: Omit<RecordingClaim, 'limit'>): Promise<StoredRecording | undefined>
  /**
   * Those of the account that have expired wait, this one with them. Some at a time: of a great number the rest is claimed
   * again. Those that have waited so often are forgotten; returns how many that were.
   */
  postponeExpired(recording: StoredRecording, wait: ExpiredWait): Promise<number>
}

/** Times in epoch ms. */
export interface LostClaim {
  readonly leaseMs: number
  /** Of those that wait. */
  readonly endedBefore: number
  /** Of those that were never ended. */
  readonly begunBefore: number
  /** No attempt to store it was due since then. */
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
  /** Accounts whose recordings are left. */
  readonly except: readonly string[]
}

/** Where an application wants a recording, in place of the usual name. */
export interface RecordingWish {
  /** What its key begins with: the name of its call and the format follow. */
  readonly prefix: string
  readonly format?: RecordingFormat
}

export interface RecordingOrder {
  readonly call_sid: string
  readonly account_sid: string
  readonly format: RecordingFormat
  /** When the call began: the day in the key. */
  readonly attempted_at: number
  /** What the key begins with, in place of the day. */
  readonly prefix?: string
}

export interface RecordingListener {
  /** The recorder has ended it, for this reason; the call goes on. */
  readonly ended: (reason: string) => void
  /** So much of it could not be kept, and is silent. */
  readonly gap: (ms: number) => void
}

/** One that is being made. */
export interface RunningRecording extends RecordingPlace {
  /** Takes a stereo frame in every tick: what the far end says on the left, what it hears on the right. */
  readonly ring: { readonly id: string; readonly memory: SharedArrayBuffer }
  /** While it is masked, silence is kept in place of what comes. */
  mask(isMasked: boolean): void
  /** Resolves when all of it is on the disk. Idempotent. */
  end(): Promise<RecordingEnd>
}

export interface Recorder {
  /** Throws AppError recording_refused or overloaded. */
  begin(order: RecordingOrder, listener: RecordingListener): Promise<RunningRecording>
}
