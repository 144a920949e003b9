// The timers of RFC 3261 §17 (table 4), RFC 6026 and the user agent core. All in milliseconds.

export interface Timers {
  /** Round-trip estimate. */
  readonly t1Ms: number
  /** Cap of the retransmission interval of non-INVITE requests and INVITE responses. */
  readonly t2Ms: number
  /** How long a message may stay in the network. */
  readonly t4Ms: number
  /** So long after its last provisional response above 100, an INVITE is given up (RFC 3261 §16.6). */
  readonly timerCMs: number
  /** Timer D over UDP: how long retransmitted finals are acknowledged (RFC 3261 §17.1.1.2: at least 32 s). */
  readonly timerDMs: number
  /**
   * So long after the connection it went by is lost, a request without any response is given up. A far end that lives may
   * open another connection for its response (RFC 3261 §18.2.2), and owes an INVITE 100 within 200 ms (RFC 3261 §17.2.1):
   * the rest is for the handshakes of TCP and TLS.
   */
  readonly lostConnectionMs: number
  /** An INVITE that has no response by then is answered 100, before its client repeats it (RFC 3261 §17.2.1). */
  readonly tryingMs: number
  /** An INVITE that its core never answered ends with 408 after this. */
  readonly inviteAnswerMs: number
}

export const standardTimers: Timers = {
  t1Ms: 500,
  t2Ms: 4_000,
  t4Ms: 5_000,
  // RFC 3261 §16.6 step 11 asks for more than 3 minutes. The owner of a call says how long it rings, up to an hour, and cancels it
  // then: this is longer, and ends only what was forgotten.
  timerCMs: 3_660_000,
  timerDMs: 32_000,
  lostConnectionMs: 1_000,
  tryingMs: 200,
  // Applications may talk in early media for long; this only ends transactions that were forgotten.
  inviteAnswerMs: 3_600_000,
}

/** Timers B, F, H, J, L, M and the wait for an ACK (RFC 3261 §13.3.1.4): 64*T1. */
export function transactionTimeoutMs(timers: Timers): number {
  return 64 * timers.t1Ms
}
