// What a caller that waits in a queue asks for, and one that takes it, and what comes of it.
import type { HookForm } from '../application/hook-form.ts'

export interface EnqueueRequest {
  readonly name: string
  /** The lowest is taken first. */
  readonly priority: number
  /** Its verbs are heard while the caller waits. */
  readonly waitHook?: HookForm
  readonly signal: AbortSignal
}

export interface EnqueueOutcome {
  readonly queue_sid: string
  /** How long it has waited. */
  readonly waitedMs: number
  /** `leave`: its application let it go, or sent it elsewhere. `error`: it was not queued, or could not be connected. */
  readonly result: 'bridged' | 'hangup' | 'leave' | 'error'
}

export interface DequeueRequest {
  readonly name: string
  /** How long it waits for a caller; undefined: until one comes. */
  readonly maxWaitMs?: number
  /** Whether it hears a tone when a caller comes. */
  readonly beeps: boolean
  /** The call_sid of the only caller that it takes. */
  readonly wants?: string
  readonly signal: AbortSignal
}

/** `hangup`: it was over, or other verbs took over, before a caller came; or the two could not be connected. */
export type DequeueOutcome = 'complete' | 'timeout' | 'hangup'
