// The facts of a call that waits in a queue, and of the call that dequeues it.

/** The call has joined the queue. `position`: the number of calls ahead of it. */
export type QueuedFact = {
  readonly type: 'queued'
  readonly queue: string
  readonly position: number
  readonly length: number
  readonly priority: number
}

/** The call has left the queue. `length`: the number of calls that are left. */
export type UnqueuedFact = {
  readonly type: 'unqueued'
  readonly queue: string
  readonly leave_reason: 'dequeued' | 'abandoned'
  readonly length: number
  readonly waited_ms: number
  readonly because: string
}

/** The call waits for a caller of the queue, or only for the one with `call_sid`. */
type AwaitsCallerFact = {
  readonly type: 'awaits-caller'
  readonly queue: string
  readonly call_sid?: string
}

/** A caller from the queue begins to talk with the agent. In both journals. */
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
