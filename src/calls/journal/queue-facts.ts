// Facts of a call that waits in a queue, and of the one that takes it.

/** The call waits in the queue from now on. `position`: how many are taken before it. */
export type QueuedFact = {
  readonly type: 'queued'
  readonly queue: string
  readonly position: number
  readonly length: number
  readonly priority: number
}

/** It does not wait there any more. `length`: how many are left. */
export type UnqueuedFact = {
  readonly type: 'unqueued'
  readonly queue: string
  readonly leave_reason: 'dequeued' | 'abandoned'
  readonly length: number
  readonly waited_ms: number
  readonly because: string
}

/** The call waits for a caller of the queue; for this one, where there is a `call_sid`. */
type AwaitsCallerFact = {
  readonly type: 'awaits-caller'
  readonly queue: string
  readonly call_sid?: string
}

/** A caller that waited in the queue talks with the agent from now on. Both journals say so. */
type HandedOverFact = {
  readonly type: 'handed-over'
  readonly queue: string
  readonly caller_sid: string
  readonly caller: string
  readonly agent_sid: string
  readonly agent: string
  readonly waited_ms: number
}

export type QueueFact = QueuedFact | UnqueuedFact | AwaitsCallerFact | HandedOverFact
