// How much an account calls, as the nodes tell each other by way of storage.

/** What one node has counted. */
export interface OutdialUsage {
  readonly account_sid: string
  /** Since the epoch, as are the days. */
  readonly minute: number
  readonly callsInMinute: number
  readonly day: number
  readonly spokenMs: number
  /** Calls that are up. */
  readonly live: number
  /** When it was counted, in epoch ms. */
  readonly at: number
}

export interface OutdialUsageStore {
  /** Whether there may be other nodes. */
  readonly isShared: boolean
  /** Writes what this node has counted, and returns what others have, and this one before its start, since a day. */
  exchange(own: readonly OutdialUsage[], sinceDay: number): Promise<readonly OutdialUsage[]>
}
