// The durable queue of notifications: the store keeps them, delivery removes them.
import type { Hook } from './hook.ts'

export interface OutboxItem {
  readonly id: number
  readonly account_sid: string
  readonly call_sid: string
  /** 1, 2, 3 ... per call. */
  readonly sequence: number
  readonly hook: Hook
  /** The scheme, host and port of the URL. A slow receiver delays only its own items. */
  readonly destination: string
  /** The exact JSON text. */
  readonly payload: string
  /** Deliveries that failed before this one. */
  readonly attempts: number
  /** Epoch ms. */
  readonly created_at: number
}

export type Settlement =
  | {
      readonly id: number
      readonly outcome: 'delivered'
      readonly status: number
      readonly durationMs: number
    }
  | { readonly id: number; readonly outcome: 'retry'; readonly at: number; readonly error: string }
  /** Due again at `at`, with no attempt counted: its receiver has not failed. */
  | { readonly id: number; readonly outcome: 'put-back'; readonly at: number }
  | { readonly id: number; readonly outcome: 'abandoned'; readonly error: string }

/** Accounts, and their destinations, whose items are skipped. */
export interface OutboxExceptions {
  readonly accounts: readonly string[]
  readonly lanes: readonly { readonly account_sid: string; readonly destination: string }[]
}

export interface OutboxStore {
  /**
   * Leases due items, oldest first. The items of one call for one URL form a line: at most one of them is leased at a
   * time, and a later one only when all earlier ones are settled.
   */
  claim(limit: number, leaseMs: number, except?: OutboxExceptions): Promise<readonly OutboxItem[]>
  settle(settlements: readonly Settlement[]): Promise<void>
  onEnqueued(listener: () => void): void
  /** Returns when the next item is due (epoch ms), or undefined. */
  nextDueAt(): Promise<number | undefined>
}
