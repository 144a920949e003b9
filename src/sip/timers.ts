// The timers of RFC 3261 §17 (table 4), RFC 6026 and the user agent core. All in milliseconds.

export interface Timers {
  /** The round-trip estimate. */
  readonly t1Ms: number
  /** The longest retransmission interval of non-INVITE requests and INVITE responses. */
  readonly t2Ms: number
  /** The longest time that a message may stay in the network. */
  readonly t4Ms: number
  /** An INVITE is given up this long after its last provisional response above 100 (RFC 3261 §16.6). */
  readonly timerCMs: number
  /**
   * Timer D over UDP: the time that retransmitted final responses are acknowledged (RFC 3261 §17.1.1.2: at least 32 s).
   */
  readonly timerDMs: number
  /**
   * A request without any response is given up this long after its connection is lost. A far end that is alive may
   * open another connection for its response (RFC 3261 §18.2.2), and must send 100 to an INVITE within 200 ms (RFC
   * 3261 §17.2.1): the rest is for the handshakes of TCP and TLS.
   */
  readonly lostConnectionMs: number
  /** An INVITE without a response by then gets 100, before its client repeats it (RFC 3261 §17.2.1). */
  readonly tryingMs: number
  /** An INVITE that the user agent core never responds to ends with 408 after this time. */
  readonly inviteAnswerMs: number
}

export const standardTimers: Timers = {
  t1Ms: 500,
  t2Ms: 4_000,
  t4Ms: 5_000,
  // RFC 3261 §16.6 step 11 asks for more than 3 minutes. The owner of a call decides how long it rings, up to an hour,
  // and then cancels it. This timer is longer, and ends only calls that were forgotten.
  timerCMs: 3_660_000,
  timerDMs: 32_000,
  lostConnectionMs: 1_000,
  tryingMs: 200,
  // Applications may play early media for long; this ends only transactions that were forgotten.
  inviteAnswerMs: 3_600_000,
}

/** Timers B, F, H, J, L, M and the wait for an ACK (RFC 3261 §13.3.1.4): 64*T1. */
export function transactionTimeoutMs(timers: Timers): number {
  return 64 * timers.t1Ms
}
