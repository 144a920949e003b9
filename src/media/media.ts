// The public interface of the media plane. Audio never crosses it: only ids, file paths, SDP text and facts.
import type { ChildProcess } from 'node:child_process'
import type { Worker } from 'node:worker_threads'
import type { Clock } from '../lib/clock.ts'
import type { Logger } from '../lib/log.ts'
import type { Wiring } from './wiring.ts'
import type { PortRange, SilenceLimits, WorkerSetup } from './worker-setup.ts'
import type { PathLoss } from './browsers/messages.ts'
import type { Encoding } from './codecs/codecs.ts'
import type { NonDelivery } from './rtp/delivery.ts'
import type { Endpoint, Trust } from './rtp/source.ts'
import type { FarPlace } from './sdp/far-place.ts'
import type { SuiteName } from './srtp/suites.ts'
import type { RejectedPackets } from './transport/transport.ts'
import type { OfferedProtection } from './sdp/key-exchange.ts'

export type { FarPlace } from './sdp/far-place.ts'
export type { OfferedHandshake, OfferedKeys, OfferedProtection } from './sdp/key-exchange.ts'

/** Audio on disk: a WAV file (PCM 16 bit, or G.711, any rate). Paths are set by the platform, never by a customer. */
export interface AudioClip {
  readonly path: string
}

export interface PlayOptions {
  readonly clip: AudioClip
  /** The position to begin at, in ms. */
  readonly offsetMs?: number
  /** The number of rounds, each from `offsetMs` and without a gap. Infinity repeats until the playback is stopped. */
  readonly rounds?: number
  /** Whether it begins in the tick after the last frame of the current playback, instead of ending that one. */
  readonly follows?: boolean
  /** Ends the playback early; a normal outcome. */
  readonly signal?: AbortSignal
}

export interface PlayResult {
  readonly reason: 'completed' | 'stopped'
  /** The audio that was sent, in ms. */
  readonly playedMs: number
  /** The silence that replaced audio which the disk did not deliver in time, in ms. */
  readonly missedMs?: number
}

export interface StreamStats {
  readonly packetsSent: number
  readonly packetsReceived: number
  /** Computed from sequence numbers (RFC 3550 §6.4.1), cumulative. */
  readonly packetsLost: number
  /** Packets from places other than the far end's. */
  readonly packetsIgnored: number
  /** Packets with a payload type that offer and answer did not agree on. */
  readonly packetsNotAgreed: number
  /**
   * Encrypted packets that were rejected: not authentic, or authentic but seen before. Undefined for a plain stream.
   */
  readonly rejected?: RejectedPackets | undefined
  /** Interarrival jitter in ms (RFC 3550 §6.4.1). */
  readonly jitterMs: number
  /** The figures that the far end reports on our stream; undefined before its first receiver report. */
  readonly remote?: { readonly packetsLost: number; readonly jitterMs: number; readonly roundTripMs?: number }
  readonly codec: string
}

export type MediaEvent =
  /**
   * The first packet from the far end came: the place media really comes from (symmetric RTP), and why it is trusted.
   */
  | { readonly type: 'first-packet'; readonly address: string; readonly port: number; readonly trust: Trust }
  /** The packets of the far end come from another place from now on. */
  | { readonly type: 'moved'; readonly address: string; readonly port: number; readonly trust: Trust }
  /**
   * Packets from a place other than the far end's are dropped. Reported for a few places after each offer or answer.
   */
  | { readonly type: 'ignored'; readonly address: string; readonly port: number }
  /**
   * One pressed key, reported once however often its end packet is repeated (RFC 4733 §2.5.1.4). `isTone`: it was
   * detected in the sound.
   */
  | { readonly type: 'digit'; readonly digit: string; readonly durationMs: number; readonly isTone?: boolean }
  /**
   * No RTP or RTCP came for the limit. Reported again each time that the limit passes. `held`: the far end need not
   * send; `gone`: there was reason to think that it is gone.
   */
  | {
      readonly type: 'timeout'
      readonly cause: 'silent' | 'held' | 'gone'
      readonly silentMs: number
      readonly limitMs: number
    }
  /** A file of the wiring has been played, or could not be played. */
  | {
      readonly type: 'layer-ended'
      readonly layer: string
      readonly reason: PlayResult['reason'] | 'failed'
    }
  /** The reports of the far end show that our packets do not arrive. Repeated with each further such report. */
  | { readonly type: 'undelivered'; readonly to: Endpoint; readonly shown: NonDelivery }
  /** Packets came for an encrypted stream, and none of them was authentic. Reported once. */
  | { readonly type: 'forged'; readonly packets: number }
  /** In a room, if its wiring requests it: the far end begins or stops talking. Reported twice a second at most. */
  | { readonly type: 'talk'; readonly isTalking: boolean }
  /**
   * The path of a browser could not be opened, or has ended: no media will be received or sent in this session again.
   */
  | { readonly type: 'path-lost'; readonly loss: PathLoss }
  /** The media worker of this session died: no media will be received or sent in it again. */
  | { readonly type: 'lost' }

/** The far end as its offer or answer describes it. */
export interface FarEnd {
  readonly codec: string
  /** The place that it wants its media sent to; undefined while it holds without an address (RFC 2543). */
  readonly remote: Endpoint | undefined
  /** Whether the far end does not want to receive our stream. */
  readonly isHeld: boolean
  /** Whether it sends to the other far end that our SDP named, instead of to us. */
  readonly isPast: boolean
  /**
   * Whether packets of it must come as soon as the call is answered. False while it holds, only listens or sends past
   * us, and over DTLS-SRTP, whose handshake takes its own time and reports its own failure.
   */
  readonly owesMedia: boolean
  /** The suite that encrypts and authenticates its packets; undefined for plain RTP. */
  readonly encryption?: SuiteName | 'DTLS-SRTP' | undefined
}

export interface ReofferOptions {
  readonly past?: FarPlace | undefined
  /** The one codec to continue with. */
  readonly only?: Encoding | undefined
}

/**
 * How keys are sent: as RTP events (RFC 4733), which is usual; in SIP, outside the media; or as tones in the sound.
 * If no events were agreed on, tones are detected in any case.
 */
export type KeyWay = 'rfc2833' | 'info' | 'tones'

/** One RTP stream pair of one call leg, in a worker thread. */
export interface MediaSession {
  readonly id: string
  /** Our address, as the SDP names it. */
  readonly address: string
  /** Our port for its packets, as the SDP names it: all far ends with ICE share that of browsers. */
  readonly port: number
  /**
   * Sets the address that signalling is exchanged with. It decides which of our addresses the next SDP names, and
   * media may come from it. `branch` numbers one of several places that each get their own offer.
   */
  face(peer: string, branch?: number): void
  /**
   * Applies the far end's offer and returns our answer (RFC 3264); also for re-offers. Packets are sent from then
   * on, so it must be called when the answer is sent. Throws media_not_acceptable and leaves the stream as it was.
   */
  answer(offer: string): Promise<FarEnd & { readonly sdp: string }>
  /**
   * Makes an offer, for an INVITE without SDP or an outgoing leg; a fresh one each time until one is answered.
   * `protection` is for a stream that is not agreed on yet; plain RTP if left out. Throws browsers_unavailable.
   */
  offer(protection?: OfferedProtection): Promise<string>
  /**
   * Applies the answer to `offer()` or `reoffer()`. `isEarly`: it comes in a provisional response, and another place
   * that was made an offer may still answer (RFC 3261 §13.2.2.4), so all offers stay valid, and new places get their own.
   */
  acceptAnswer(sdp: string, options?: { readonly isEarly?: boolean }): Promise<FarEnd>
  /** Notes that the answer that was applied early is the one that counts. */
  settle(): void
  /** The place where the far end receives its stream; undefined while it holds, or if we may not send there. */
  readonly place: FarPlace | undefined
  /**
   * Makes an offer within the call, to be sent immediately. `past`: the offer names the place of this other far end,
   * and the two send to each other once both have answered. Throws media_not_acceptable if this far end takes no
   * stream.
   */
  reoffer(options?: ReofferOptions): string
  /** Forgets the last offer within the call, which the far end has refused: all stays as it was (RFC 3261 §14.1). */
  withdraw(): void
  /** While the far end sends past us, or is about to, nothing is sent to it and its silence is ignored. */
  goPast(isPast: boolean): Promise<void>
  /** Notes a sign of life of the far end in signalling: the silence limits begin again. */
  live(): void
  /** Notes that the far end may be gone: unless a packet of it comes, its silence is reported within seconds. */
  doubt(): void
  /**
   * Plays a clip. A second playback ends the first one as 'stopped', unless it follows it. The position advances while
   * the far end holds. Throws audio_not_found, audio_not_supported, overloaded, or internal if the worker died.
   */
  play(options: PlayOptions): Promise<PlayResult>
  /**
   * States what the far end hears in addition to playbacks, and where it is heard, and replaces the former statement.
   * It is applied between two packets. A layer with the same id and source as before continues undisturbed.
   */
  wire(wiring: Wiring): Promise<void>
  /** Sets how keys are sent to the far end and received from it, from the next offer or answer on. */
  goBy(keyWay: KeyWay): void
  /**
   * Presses keys, and resolves when the last one was sent. `w` waits for half a second. Throws media_not_acceptable
   * if keys are sent outside the media.
   */
  sendKeys(digits: string, options?: { readonly durationMs?: number }): Promise<void>
  onEvent(listener: (event: MediaEvent) => void): void
  stats(): Promise<StreamStats>
  /** Frees the port; resolves with the final figures. Idempotent. */
  close(): Promise<StreamStats>
}

export interface OpenOptions {
  /** The codecs that its offers may name; all if left out. */
  readonly offers?: readonly Encoding[]
  /**
   * Whether packets may be sent to an address that SDP names; to any address if left out. If not, nothing is sent
   * until packets from the far end have shown its place.
   */
  readonly maySendTo?: (address: string) => boolean
  /**
   * Whether a packet must come from an address that SDP names before more than a second of packets is sent there; none
   * if left out.
   */
  readonly mustBeHeard?: (address: string) => boolean
  /**
   * The id of a session that it will hear. In one worker, packets between the two take the short way. Its offer
   * begins with the codec of that session, if it has one.
   */
  readonly near?: string
  /** The codec that its offer begins with otherwise. */
  readonly prefers?: Encoding
  /**
   * The account that owns it. While the workers are late, an owner that holds its share of them gets no further
   * session.
   */
  readonly owner?: string
}

export interface Media {
  readonly name: string
  start(): Promise<void>
  stop(): Promise<void>
  /**
   * Allocates an even RTP port, with RTCP on the next one. Throws no_media_port, or account_share or overloaded when
   * the workers are late.
   */
  open(options?: OpenOptions): Promise<MediaSession>
  /** Throws media_not_acceptable if `answer` of any session would, and opens no session. */
  demandServable(offer: string): void
  /** The number of open sessions. */
  readonly openSessions: number
}

export interface MediaOptions {
  readonly bind: string
  /**
   * The address that SDP names instead of the bound one. If undefined, each session finds the address that faces its
   * peer.
   */
  readonly publicAddress: string | undefined
  readonly ports: PortRange
  /** The UDP port shared by all browsers; any free port if left out. */
  readonly browserPort?: number
  /** The user of the process of browsers; that of the platform if undefined. */
  readonly browserUser?: { readonly uid: number; readonly gid: number } | undefined
  readonly workers: number
  /** The directory for clips that are too long for memory. Removed when media stops. */
  readonly scratchDir: string
  readonly limits: SilenceLimits
  readonly log: Logger
  readonly clock?: Clock
  readonly createWorker?: (setup: WorkerSetup, name: string) => Worker
  /** Starts the process that serves browsers. */
  readonly createProcess?: () => ChildProcess
}
