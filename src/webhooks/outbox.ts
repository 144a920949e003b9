// What delivery needs of the durable queue of notifications; the storage part provides it.
import type { Hook } from './create-hooks.ts'

export interface OutboxItem {
  readonly id: number
  readonly account_sid: string
  readonly call_sid: string
  /** 1, 2, 3 ... per call. */
  readonly sequence: number
  readonly hook: Hook
  /** The exact JSON text. */
  readonly payload: string
  readonly attempts: number
  readonly created_at: number
}

export type Outcome =
  | {
      readonly id: number
      readonly outcome: 'delivered'
      readonly status: number
      readonly durationMs: number
    }
  | { readonly id: number; readonly outcome: 'retry'; readonly at: number; readonly error: string }
  | { readonly id: number; readonly outcome: 'abandoned'; readonly error: string }

export interface OutboxStore {
  /**
   * Leases due items, oldest first, never two of one call at once, never a later one before an earlier one of the
   * same call is settled. Items of the accounts in `except` are not wanted now.
   */
  claim(limit: number, leaseMs: number, except?: readonly string[]): Promise<readonly OutboxItem[]>
  settle(outcomes: readonly Outcome[]): Promise<void>
  onEnqueued(listener: () => void): void
  /** When the next item falls due (epoch ms), undefined when there is none. */
  nextDueAt(): Promise<number | undefined>
}
