// The requests of a caller that waits in a queue and of a call that takes it, and their outcomes.
import type { HookForm } from './hook-form.ts'

export interface EnqueueRequest {
  readonly name: string
  /** The caller with the lowest value is taken first. */
  readonly priority: number
  /** Its verbs play while the caller waits. */
  readonly waitHook?: HookForm | undefined
  readonly signal: AbortSignal
}

export interface EnqueueOutcome {
  readonly queue_sid: string
  /** The time in the queue, in ms. */
  readonly waitedMs: number
  /**
   * `leave`: its application let it leave, or sent it elsewhere. `error`: it was not queued, or could not be connected.
   */
  readonly result: 'bridged' | 'hangup' | 'leave' | 'error'
}

export interface DequeueRequest {
  readonly name: string
  /** The longest wait for a caller, in ms. Undefined means no limit. */
  readonly maxWaitMs?: number
  /** True if the call hears a tone when a caller comes. */
  readonly beeps: boolean
  /** The call_sid of the only caller that it takes. */
  readonly wants?: string | undefined
  readonly signal: AbortSignal
}

/** `hangup`: the call ended or other verbs took over before a caller came, or the two could not be connected. */
export type DequeueOutcome = 'complete' | 'timeout' | 'hangup'
