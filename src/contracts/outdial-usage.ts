// The usage of outbound calls by an account, exchanged between nodes through storage.

/** The counts of one node. */
export interface OutdialUsage {
  readonly account_sid: string
  /** The minute since the epoch; `day` counts likewise. */
  readonly minute: number
  readonly callsInMinute: number
  readonly day: number
  readonly spokenMs: number
  /** The calls that are up. */
  readonly live: number
  /** The time of the count, in epoch ms. */
  readonly at: number
}

export interface OutdialUsageStore {
  /** True if there may be other nodes. */
  readonly isShared: boolean
  /**
   * Stores the counts of this node. Returns those of other nodes, and of this one before its start, from this day on.
   */
  exchange(own: readonly OutdialUsage[], sinceDay: number): Promise<readonly OutdialUsage[]>
}
