// The notifications to the account's queue_event_hook: a call has joined or left a queue.
import type { Notification } from '../../contracts/call-record.ts'
import type { Hook } from '../../contracts/hook.ts'
import { toCommonPayload, toNodePayload, type NodeFacts } from './hook-payloads.ts'
import type { CallFacts } from './projection.ts'

export type QueueChange =
  | { readonly event: 'join'; readonly join_time: number }
  | {
      readonly event: 'leave'
      readonly leave_time: number
      readonly leave_reason: 'dequeued' | 'abandoned'
      /** The common fields of the call that has dequeued it. */
      readonly dequeuer?: object
    }

export interface QueueEvent {
  readonly queue: string
  /** The number of calls that wait after the change. */
  readonly length: number
  readonly change: QueueChange
}

export function toQueueNotification(
  { queue, length, change }: QueueEvent,
  { facts, node, hook }: { readonly facts: CallFacts; readonly node: NodeFacts; readonly hook: Hook },
): Notification {
  const { account_sid, call_sid } = facts.started
  const payload = {
    ...toCommonPayload(facts),
    ...toNodePayload(facts, node),
    ...change,
    queue,
    length,
  }
  return { account_sid, call_sid, hook, payload }
}

/** Returns the name of a queue in payloads. */
export function queueSidOf(account_sid: string, name: string): string {
  return `queue:${account_sid}:${name}`
}
