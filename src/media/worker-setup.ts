// The setup of a media worker.

/** The data passed to a worker when its thread starts. */
export interface WorkerSetup {
  readonly bind: string
  readonly ports: PortRange
  /**
   * The directory of this worker alone, for clips that are too long for memory. The worker empties it when it starts.
   */
  readonly scratchDir: string
  readonly limits: SilenceLimits
}

/** The time that a far end may give no sign of life, RTP or RTCP, before that is reported; 0 for ever. */
export interface SilenceLimits {
  /** The limit for a far end that should send. */
  readonly mediaMs: number
  /** The limit for a far end that holds us, or may not send. */
  readonly heldMs: number
}

export interface PortRange {
  readonly first: number
  readonly last: number
}
