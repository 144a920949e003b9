// What a media worker is started with.

/** Given to a worker when its thread starts. */
export interface WorkerSetup {
  readonly bind: string
  readonly ports: PortRange
  /** A directory of this worker alone, for clips that are too long for memory; it empties it when it starts. */
  readonly scratchDir: string
  readonly limits: SilenceLimits
}

/** How long a far end may give no sign of life, RTP or RTCP, until that is reported; 0 for ever. */
export interface SilenceLimits {
  /** One that is supposed to send. */
  readonly mediaMs: number
  /** One that holds us, or may not send. */
  readonly heldMs: number
}

export interface PortRange {
  readonly first: number
  readonly last: number
}
