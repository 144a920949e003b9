// The limits of the SIP stack, each with its reason: per source, guess, connection, transaction and registration. The
// limits on the text of one message are in message/.
import type { BucketRule } from '../lib/bounds/token-buckets.ts'

/**
 * The Retry-After of each 503: long enough for a dispatcher to try another node, short enough for a phone to come back
 * to this one.
 */
export const retryAfterSeconds = 5

/** Messages that a source may send before one of them is parsed: `capacity` in a burst, refilled over `refillMs`. */
export const sourceLimits = {
  // Enough for an office of a hundred phones that is switched on: the first phone that answers its challenge proves
  // the source. A health probe sends at most one request a second.
  perStranger: { capacity: 200, refillMs: 10_000 },
  // Shared by all strangers, since over UDP one host can forge any number of sources: 500 a second cost a twentieth of
  // a core. The burst is a network of 2,500 phones that comes back after a power cut.
  perAllStrangers: { capacity: 5_000, refillMs: 10_000 },
  // More than any one peer needs: a carrier that brings 500 calls a second sends 2,500 messages, a customer's dialler
  // that makes 200 a second sends 1,000. It keeps a peer that is faulty or compromised from using up the platform. All
  // gateways of an account, or of a service provider, have it once more together: an account may enter 500.
  perGateway: { capacity: 20_000, refillMs: 4_000 },
  perUser: { capacity: 10_000, refillMs: 5_000 },
  // Long enough that a phone that refreshes its registration once a day stays proven.
  proven: { lifetimeMs: 25 * 3_600_000, capacity: 100_000 },
  // Callers whose INVITEs are read at a slower rate: as long as one of them is refused each second.
  slowed: { lifetimeMs: 1_000, capacity: 1_000 },
}

/** Wrong passwords before a lockout. */
export const guessLimits = {
  // A phone with a wrong password tries about once a minute; once corrected, it is admitted again within one.
  perUser: { capacity: 10, refillMs: 600_000 },
  // Enough for an office where several phones were given wrong passwords; a list of names is tried at five a minute.
  perStranger: { capacity: 50, refillMs: 600_000 },
  // 200 phones may share an address where some passwords are right and some are wrong.
  perSource: { capacity: 200, refillMs: 600_000 },
  // Sources are cheap: a /48 of IPv6 has 65,536. A user at a new source is locked out only while its password is tried
  // twice a minute; at a source where it succeeded before, it never is.
  perName: { capacity: 100, refillMs: 3_600_000 },
  // Records of refusals; enough to show why the calls of an account are refused.
  perRealm: { capacity: 60, refillMs: 3_600_000 },
  // A phone that is switched off over a weekend is still known on Monday.
  known: { lifetimeMs: 3 * 86_400_000, capacity: 100_000 },
  // The longest a user name can be; characters beyond it do not make another user.
  maxNameChars: 128,
}

export interface ConnectionLimits {
  /** The limit for TCP, and for TLS. */
  readonly maxConnections: number
  /** The limit for clear WebSockets, and for secure ones: each phone has one. */
  readonly maxWebSockets: number
  /**
   * A message must be complete within this time of its first byte; a new connection must bring one in the same time.
   */
  readonly messageMs: number
  /** A connection without traffic is closed after this time. */
  readonly idleMs: number
  /** The silence after which TCP keep-alive probes the far end, and the interval of the pings on a WebSocket. */
  readonly keepAliveMs: number
  readonly connectMs: number
  /** A TLS handshake, or the upgrade of a WebSocket, must be over within this time of the connection. */
  readonly handshakeMs: number
  /** The most handshakes in progress. */
  readonly maxHandshakes: number
  /** The budget of all sources together that have not proved themselves. */
  readonly strangerHandshakes: BucketRule
  /** Bytes written that the far end has not taken yet. */
  readonly maxUnsentBytes: number
  /** The share of the free connections that one source may have. */
  readonly strangerShare: number
  readonly provenShare: number
}

export const connectionLimits: ConnectionLimits = {
  // A quarter of the usual limit of open files; RTP and HTTP need the rest.
  maxConnections: 5_000,
  // With 5,000 phones registered, those of one address can come back before their old connections are known to be gone.
  maxWebSockets: 10_000,
  messageMs: 10_000,
  // RFC 5626 §4.4.1: a client sends its keep-alive at the latest every 14 minutes.
  idleMs: 900_000,
  keepAliveMs: 30_000,
  connectMs: 4_000,
  // Three round trips of a phone at the far end of the world take one second.
  handshakeMs: 5_000,
  // An office of a hundred phones that comes back at the same time needs a tenth of it. A stranger's share is that of
  // connections.
  maxHandshakes: 1_000,
  // A handshake costs a millisecond or two: 100 a second take a tenth of a core at most. The burst is a network of
  // 5,000 phones that comes back after a power cut.
  strangerHandshakes: { capacity: 5_000, refillMs: 50_000 },
  maxUnsentBytes: 1_048_576,
  // 98 connections for one stranger that takes all it can; half of all for the phones behind one NAT.
  strangerShare: 1 / 50,
  provenShare: 1,
}

export const transactionLimits = {
  // A call leaves two behind for 32 s each: this carries 900 calls a second.
  max: 60_000,
  // One unit is the most that a usual INVITE takes; a larger request counts as several.
  unitBytes: 4_096,
  // Shares of the free room: a carrier may have three quarters of all, a stranger 3,500 of 60,000, which are completed
  // in milliseconds.
  provenShare: 3,
  strangerShare: 1 / 16,
  // BYE and CANCEL end transactions and calls, so they are admitted a little beyond the bound.
  endingShare: 1.1,
  // RFC 3261 §18.1.1: the limit when the path MTU is unknown.
  maxDatagramBytes: 1_300,
  // A large request tries TCP for this time. A lost SYN is sent again after a second; what is left of the two seconds
  // that a gateway gets is enough for UDP.
  largeConnectMs: 1_200,
  // If nothing listened on TCP lately, a large request goes over UDP immediately, so that no caller waits for a
  // connection.
  datagramsOnly: { lifetimeMs: 600_000, capacity: 1_000 },
}

/** Places that did not respond: the next call tries another place of the same domain first. */
export const restingLimits = {
  // A restarted server is back by then; callers lose at most two seconds a minute to one that is gone.
  lifetimeMs: 60_000,
  capacity: 10_000,
}

export const registrationLimits = {
  max: 100_000,
  // Phones of one user; a new one replaces the one that registered longest ago.
  maxPerUser: 10,
  // No phone has a longer Contact, and no complete Path is longer.
  maxContactChars: 512,
  maxPathChars: 2_048,
}

/** Session timers: RFC 4028. */
export const sessionLimits = {
  // Recommended by RFC 4028 §4: a lost far end is noticed within half an hour, with one request per quarter of an hour.
  seconds: 1_800,
  // RFC 4028 §5: neither side may require less.
  minSeconds: 90,
  // RFC 4028 §10: the call is given up this long, or a third of the interval, before the interval ends.
  byeBeforeMs: 32_000,
  refreshAgainMs: 10_000,
  // Each proxy on the way may raise the interval once.
  maxRaises: 3,
}

/** Our offers within a dialog. */
export const reofferLimits = {
  // RFC 3261 §14.1: the side that made the Call-ID retries later than the other, so that they do not collide again.
  ours: { fromMs: 2_100, toMs: 4_000 },
  theirs: { fromMs: 0, toMs: 2_000 },
  maxTries: 5,
  // A peer that requests a longer wait is busy with something else: the owner receives its response.
  maxRetryAfterMs: 32_000,
}

/** The offers of the peer within a dialog. */
export const offerLimits = {
  // INVITEs whose 2xx has no ACK yet: each 2xx is sent eleven times, wherever the INVITE said that it came from. A peer
  // that sends its ACKs has one.
  maxUnacknowledged: 4,
}

/** REFERs within a dialog: RFC 3515. */
export const referralLimits = {
  // Longer than a called phone rings. Afterwards the requested call continues without reports.
  subscriptionMs: 180_000,
  // The limit per dialog. A phone transfers a call once.
  maxAtOnce: 4,
}

/** Provisional responses that are sent reliably: RFC 3262. */
export const provisionalLimits = {
  // Responses behind the one whose PRACK has not arrived.
  maxWaiting: 4,
}
