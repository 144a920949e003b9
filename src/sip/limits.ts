// The bounds of the SIP stack, each with its reason: what a source, a guess, a connection, a transaction and a registration
// may take. What bounds the text of one message stands in message/.
import type { BucketRule } from '../lib/token-buckets.ts'

/** Stands in every 503: long enough for a dispatcher to try another node, short enough for a phone to come back to this one. */
export const retryAfterSeconds = 5

/** Messages that a source may send before one of them is read; `capacity` at once, refilled over `refillMs`. */
export const sourceLimits = {
  // An office of a hundred phones that is switched on: the first of them that has answered its challenge proves the source.
  // A probe that asks for our health does so every second at most.
  perStranger: { capacity: 200, refillMs: 10_000 },
  // Holds for all strangers together, since over UDP one host can claim to be any number: 500 a second cost a twentieth of a core.
  // The burst is a network of 2,500 phones that comes back after a power cut.
  perAllStrangers: { capacity: 5_000, refillMs: 10_000 },
  // More than any one peer needs: a carrier that brings 500 calls a second sends 2,500 messages, a dialler of a customer
  // that makes 200 a second 1,000. It keeps one that has gone mad, or been taken over, from having the platform to itself.
  perGateway: { capacity: 20_000, refillMs: 4_000 },
  perUser: { capacity: 10_000, refillMs: 5_000 },
  // A phone that refreshes its registration once a day is proven in between.
  proven: { lifetimeMs: 25 * 3_600_000, capacity: 100_000 },
}

/** Wrong passwords that are listened to. */
export const guessLimits = {
  // A phone with a wrong password tries about once a minute; corrected, it is heard again within one.
  perUser: { capacity: 10, refillMs: 600_000 },
  // An office where several phones were given wrong passwords; a list of names is tried at five a minute.
  perStranger: { capacity: 50, refillMs: 600_000 },
  // 200 phones may share an address that has proved itself with some that are wrong.
  perSource: { capacity: 200, refillMs: 600_000 },
  // Sources are cheap: a /48 of IPv6 has 65,536. A user who comes from a new place finds the door open unless it is tried
  // twice a minute just then, and from where it has been before it always does.
  perName: { capacity: 100, refillMs: 3_600_000 },
  // Records of refusals; enough to say why the calls of an account are refused.
  perRealm: { capacity: 60, refillMs: 3_600_000 },
  // A phone that is away over a weekend is still known on Monday.
  known: { lifetimeMs: 3 * 86_400_000, capacity: 100_000 },
  // As long as a user name can be; the rest of a longer one makes no other user.
  maxNameChars: 128,
}

export interface ConnectionLimits {
  /** Of TCP, and of TLS. */
  readonly maxConnections: number
  /** Of WebSockets in clear, and of secure ones: each phone has one. */
  readonly maxWebSockets: number
  /** A message must be complete this long after its first byte; a new connection must bring one in the same time. */
  readonly messageMs: number
  /** A connection without traffic is closed after this. */
  readonly idleMs: number
  /** How long a connection is silent before the operating system asks whether the far end is still there; and how often a WebSocket is asked. */
  readonly keepAliveMs: number
  readonly connectMs: number
  /** TLS, and the upgrade of a WebSocket: over this long after the connection came. */
  readonly handshakeMs: number
  /** Handshakes that are not over. */
  readonly maxHandshakes: number
  /** Of all sources together that have not proved themselves. */
  readonly strangerHandshakes: BucketRule
  /** Written but not taken by the far end. */
  readonly maxUnsentBytes: number
  /** The share of the free connections that one source may have. */
  readonly strangerShare: number
  readonly provenShare: number
}

export const connectionLimits: ConnectionLimits = {
  // A quarter of the usual limit of open files; RTP and HTTP need the rest.
  maxConnections: 5_000,
  // With 5,000 registered there is room for the phones of one address to come back before the old ones are known to be gone.
  maxWebSockets: 10_000,
  messageMs: 10_000,
  // RFC 5626 §4.4.1: a client sends its keep-alive at the latest every 14 minutes.
  idleMs: 900_000,
  keepAliveMs: 30_000,
  connectMs: 4_000,
  // Three round trips of a phone at the far end of the world take one second.
  handshakeMs: 5_000,
  // An office of a hundred phones that comes back at once needs a tenth of it. A stranger has a share as of connections.
  maxHandshakes: 1_000,
  // One costs a millisecond or two: 100 a second take a tenth of a core at most. The burst is a network of 5,000 phones that
  // comes back after a power cut.
  strangerHandshakes: { capacity: 5_000, refillMs: 50_000 },
  maxUnsentBytes: 1_048_576,
  // 98 connections for one stranger that takes all it can, half of all for the phones behind one NAT.
  strangerShare: 1 / 50,
  provenShare: 1,
}

export const transactionLimits = {
  // A call leaves two behind for 32 s each: this carries 900 calls a second.
  max: 60_000,
  // One unit is what a usual INVITE takes at most; a larger request counts as several.
  unitBytes: 4_096,
  // Shares of what is free: a carrier may have three quarters of all, a stranger 3,500 of 60,000, which are answered in
  // milliseconds.
  provenShare: 3,
  strangerShare: 1 / 16,
  // BYE and CANCEL end what takes room, so they are let in a little beyond the bound.
  endingShare: 1.1,
  // RFC 3261 §18.1.1: without knowledge of the path MTU.
  maxDatagramBytes: 1_300,
  // Where nothing listened on TCP lately, a large request goes over UDP at once, and no caller waits for it.
  datagramsOnly: { lifetimeMs: 600_000, capacity: 1_000 },
}

/** Places that said nothing: the next call tries another one of the same domain first. */
export const restingLimits = {
  // A server that is restarted is back by then; callers lose two seconds a minute at most to one that is gone.
  lifetimeMs: 60_000,
  capacity: 10_000,
}

export const registrationLimits = {
  max: 100_000,
  // Phones of one user; the one that registered longest ago gives way to a new one.
  maxPerUser: 10,
  // A Contact that is longer is no address a phone has; nor is all of a Path.
  maxContactChars: 512,
  maxPathChars: 2_048,
}

/** Session timers: RFC 4028. */
export const sessionLimits = {
  // RFC 4028 §4 names it: a far end that is gone is noticed within half an hour, by a request every quarter of one.
  seconds: 1_800,
  // RFC 4028 §5: no side may ask for less.
  minSeconds: 90,
  // RFC 4028 §10: so long before the end of an interval, or a third of it, the call is given up.
  byeBeforeMs: 32_000,
  refreshAgainMs: 10_000,
  // Proxies on the way may each raise the interval once.
  maxRaises: 3,
}

/** Our offers within a dialog. */
export const reofferLimits = {
  // RFC 3261 §14.1: the side that made the Call-ID tries again later than the other one, so that they do not collide once more.
  ours: { fromMs: 2_100, toMs: 4_000 },
  theirs: { fromMs: 0, toMs: 2_000 },
  maxTries: 5,
  // A peer that asks for more patience is busy with something else: the owner receives its response.
  maxRetryAfterMs: 32_000,
}

/** REFERs within a dialog: RFC 3515. */
export const referralLimits = {
  // Longer than a called phone rings. The call that is asked for goes on without a listener afterwards.
  subscriptionMs: 180_000,
  // Per dialog. A phone transfers one call once.
  maxAtOnce: 4,
}

/** Provisional responses that are sent reliably: RFC 3262. */
export const provisionalLimits = {
  // Behind the one whose PRACK has not come.
  maxWaiting: 4,
}
