// The durable queue of notifications: the store keeps it, delivery empties it.
import type { Hook } from './hook.ts'

export interface OutboxItem {
  readonly id: number
  readonly account_sid: string
  readonly call_sid: string
  /** 1, 2, 3 ... per call. */
  readonly sequence: number
  readonly hook: Hook
  /** Scheme, host and port of its URL: what one receiver delays is delayed there alone. */
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
  | { readonly id: number; readonly outcome: 'abandoned'; readonly error: string }

/** Whose items are left: those of an account, or of one of its destinations. */
export interface OutboxExceptions {
  readonly accounts: readonly string[]
  readonly lanes: readonly { readonly account_sid: string; readonly destination: string }[]
}

export interface OutboxStore {
  /**
   * Leases due items, oldest first. Those of one call for one URL are a line: never two of it at once, never a later
   * one before an earlier one is settled.
   */
  claim(limit: number, leaseMs: number, except?: OutboxExceptions): Promise<readonly OutboxItem[]>
  settle(settlements: readonly Settlement[]): Promise<void>
  onEnqueued(listener: () => void): void
  /** When the next item falls due (epoch ms); undefined when there is none. */
  nextDueAt(): Promise<number | undefined>
}
