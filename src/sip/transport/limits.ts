// The bounds of the transports.

export interface TransportLimits {
  readonly maxConnections: number
  /** A message must be complete so long after its first byte; a new connection must bring one in the same time. */
  readonly messageMs: number
  /** A connection without traffic is closed after this. */
  readonly idleMs: number
  /** How long a connection is silent before the operating system asks whether the far end is still there. */
  readonly keepAliveMs: number
  readonly connectMs: number
  /** Written but not taken by the far end. */
  readonly maxUnsentBytes: number
}

export const standardLimits: TransportLimits = {
  // A quarter of the usual limit of open files; RTP and HTTP need the rest.
  maxConnections: 5_000,
  messageMs: 10_000,
  // RFC 5626 §4.4.1: a client sends its keep-alive at the latest every 14 minutes.
  idleMs: 900_000,
  keepAliveMs: 30_000,
  connectMs: 4_000,
  maxUnsentBytes: 1_048_576,
}
