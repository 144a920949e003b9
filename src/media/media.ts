// The public face of the media plane. Audio never crosses it: only ids, file paths, SDP text and facts.
import type { ChildProcess } from 'node:child_process'
import type { Worker } from 'node:worker_threads'
import type { Clock } from '../lib/clock.ts'
import type { Logger } from '../lib/log.ts'
import type { Wiring } from './graph/wiring.ts'
import type { PortRange, SilenceLimits, WorkerSetup } from './worker-setup.ts'
import type { PathLoss } from './browsers/messages.ts'
import type { Encoding } from './codecs/codecs.ts'
import type { Endpoint, Trust } from './rtp/source.ts'
import type { FarPlace } from './sdp/far-place.ts'
import type { SuiteName } from './srtp/suites.ts'
import type { RejectedPackets } from './transport/transport.ts'
import type { OfferedProtection } from './sdp/key-exchange.ts'

export type { FarPlace } from './sdp/far-place.ts'
export type { OfferedHandshake, OfferedKeys, OfferedProtection } from './sdp/key-exchange.ts'

/** Audio on disk: a WAV file (PCM 16 bit, or G.711, any rate). Paths are ours, never a customer's text. */
export interface AudioClip {
  readonly path: string
}

export interface PlayOptions {
  readonly clip: AudioClip
  /** Where to begin, in ms. */
  readonly offsetMs?: number
  /** How often, each time from `offsetMs` and without a gap; Infinity: until it is stopped. */
  readonly rounds?: number
  /** Begins in the tick after the last frame of what plays now, instead of ending it. */
  readonly follows?: boolean
  /** Ends the playback early; a normal outcome. */
  readonly signal?: AbortSignal
}

export interface PlayResult {
  readonly reason: 'completed' | 'stopped'
  /** How much was sent, in ms. */
  readonly playedMs: number
  /** How much silence stood in for audio that the disk did not bring in time. */
  readonly missedMs?: number
}

export interface StreamStats {
  readonly packetsSent: number
  readonly packetsReceived: number
  /** From sequence numbers (RFC 3550 §6.4.1), cumulative. */
  readonly packetsLost: number
  /** From places that are not the far end's. */
  readonly packetsIgnored: number
  /** Of those that came encrypted: not authentic, and authentic but seen before. Undefined where none should. */
  readonly rejected?: RejectedPackets | undefined
  /** Interarrival jitter in ms (RFC 3550 §6.4.1). */
  readonly jitterMs: number
  /** What the far end reports of our stream; undefined before its first receiver report. */
  readonly remote?: { readonly packetsLost: number; readonly jitterMs: number; readonly roundTripMs?: number }
  readonly codec: string
}

export type MediaEvent =
  /** The first packet from the far end: where media really comes from (symmetric RTP), and why it is believed. */
  | { readonly type: 'first-packet'; readonly address: string; readonly port: number; readonly trust: Trust }
  /** The far end's packets come from another place from now on. */
  | { readonly type: 'moved'; readonly address: string; readonly port: number; readonly trust: Trust }
  /** Packets from a place that is not the far end's are dropped. Reported for a few places after each offer or answer. */
  | { readonly type: 'ignored'; readonly address: string; readonly port: number }
  /** One pressed key, reported once however often its end packet is repeated (RFC 4733 §2.5.1.4); `isTone`: heard in the sound. */
  | { readonly type: 'digit'; readonly digit: string; readonly durationMs: number; readonly isTone?: boolean }
  /** Neither RTP nor RTCP for the limit; reported again each time that it passes. `held`: the far end need not send; `gone`: it was doubted. */
  | {
      readonly type: 'timeout'
      readonly cause: 'silent' | 'held' | 'gone'
      readonly silentMs: number
      readonly limitMs: number
    }
  /** A file of the wiring has been played, or could not be. */
  | {
      readonly type: 'layer-ended'
      readonly layer: string
      readonly reason: PlayResult['reason'] | 'failed'
    }
  /** Packets came for an encrypted stream, and not one of them was authentic. Reported once. */
  | { readonly type: 'forged'; readonly packets: number }
  /** In a room, where its wiring wants to know: the far end begins or ends to talk. Said twice in a second at most. */
  | { readonly type: 'talk'; readonly isTalking: boolean }
  /** The path of a browser was never there, or is no more: nothing of this session will be heard or sent again. */
  | { readonly type: 'path-lost'; readonly loss: PathLoss }
  /** Our media worker died, and nothing of this session will be heard or sent again. */
  | { readonly type: 'lost' }

/** The far end as its offer or answer describes it. */
export interface FarEnd {
  readonly codec: string
  /** Where it wants its media; undefined while it holds without an address (RFC 2543). */
  readonly remote: Endpoint | undefined
  /** The far end does not want to hear us. */
  readonly isHeld: boolean
  /** It sends to the other far end that our SDP has named, and not to us. */
  readonly isPast: boolean
  /** What its packets are encrypted and authenticated with; undefined for plain RTP. */
  readonly encryption?: SuiteName | 'DTLS-SRTP' | undefined
}

export interface ReofferOptions {
  readonly past?: FarPlace | undefined
  /** The one codec to go on with. */
  readonly only?: Encoding | undefined
}

/**
 * Keys as RTP events (RFC 4733), which is usual; in SIP, past media; or as tones in the sound. Where no events were agreed on,
 * tones are listened for in any case.
 */
export type KeyWay = 'rfc2833' | 'info' | 'tones'

/** One RTP stream pair of one call leg, in a worker thread. */
export interface MediaSession {
  readonly id: string
  /** Ours, as the SDP names it. */
  readonly address: string
  readonly port: number
  /** The address that signalling is exchanged with: decides which of our addresses the next SDP names, and is one that
   *  media may come from. `branch`: which of several places that are each made an offer of their own. */
  face(peer: string, branch?: number): void
  /** Applies the far end's offer and returns our answer (RFC 3264); also for re-offers. From here on packets are sent,
   *  so call it when the answer goes out. Throws media_not_acceptable and leaves the stream as it was. */
  answer(offer: string): Promise<FarEnd & { readonly sdp: string }>
  /** Makes an offer, for an INVITE without SDP or an outgoing leg; a fresh one each time until one is answered.
   *  `protection`: of a stream that is not agreed on yet; plain RTP when left out. Throws browsers_unavailable. */
  offer(protection?: OfferedProtection): Promise<string>
  /** Applies the answer to `offer()` or `reoffer()`. */
  acceptAnswer(sdp: string): Promise<FarEnd>
  /** Where the far end takes its stream; undefined while it holds, or where it may not be sent to. */
  readonly place: FarPlace | undefined
  /**
   * An offer within the call, to be made when it is about to be sent. `past`: it names the place of this other far end, and the two
   * send to each other once both have answered. Throws media_not_acceptable when this one takes no stream.
   */
  reoffer(options?: ReofferOptions): string
  /** While the far end sends past us, or is about to, nothing is sent to it, and its silence means nothing. */
  goPast(isPast: boolean): Promise<void>
  /** The far end gave a sign of life in signalling: the time-outs begin again. */
  live(): void
  /** The far end may be gone: unless something comes of it, its silence is reported within seconds. */
  doubt(): void
  /** A second play while one runs ends the first as 'stopped', unless it follows it. Time goes on while the far end
   *  holds. Throws audio_not_found, audio_not_supported, overloaded, or internal when the worker died. */
  play(options: PlayOptions): Promise<PlayResult>
  /**
   * States what the far end hears besides playbacks, and where it is heard; the former statement no longer holds. It is
   * applied between two packets. A layer with the id and source that it had goes on undisturbed.
   */
  wire(wiring: Wiring): Promise<void>
  /** How keys go to the far end and come from it, from the next offer or answer on. */
  goBy(keyWay: KeyWay): void
  /** Presses keys, and resolves when the last one was sent; `w` waits for half a second. Throws media_not_acceptable where they
   *  do not go with media. */
  sendKeys(digits: string, options?: { readonly durationMs?: number }): Promise<void>
  onEvent(listener: (event: MediaEvent) => void): void
  stats(): Promise<StreamStats>
  /** Frees the port; resolves with the final figures. Idempotent. */
  close(): Promise<StreamStats>
}

export interface OpenOptions {
  /** The codecs that its offers may name; all when left out. */
  readonly offers?: readonly Encoding[]
  /**
   * Whether packets may go to an address that SDP names; to any when left out. Where they may not, nothing is sent until the far
   * end's own packets have said where it is.
   */
  readonly maySendTo?: (address: string) => boolean
  /**
   * The id of a session that it will hear: in one worker, packets between the two take the short way. Its offer begins with the
   * codec of that session.
   */
  readonly near?: string
  /** What its offer begins with otherwise. */
  readonly prefers?: Encoding
  /** Whose it is. While the workers lag, one who holds his part of them gets no more, and the others do. */
  readonly owner?: string
}

export interface Media {
  readonly name: string
  start(): Promise<void>
  stop(): Promise<void>
  /** Allocates an even RTP port (RTCP on the next one). Throws no_media_port, or account_share or overloaded when the workers lag. */
  open(options?: OpenOptions): Promise<MediaSession>
  /** Throws media_not_acceptable where `answer` of any session would, and opens none. */
  demandServable(offer: string): void
  /** Sessions open now. */
  readonly openSessions: number
}

export interface MediaOptions {
  readonly bind: string
  /** What SDP names instead of the bound address; undefined lets each session find the address that faces its peer. */
  readonly publicAddress: string | undefined
  readonly ports: PortRange
  /** The UDP port of all browsers; any when left out. */
  readonly browserPort?: number
  readonly workers: number
  /** For clips that are too long for memory; removed when media stops. */
  readonly scratchDir: string
  readonly limits: SilenceLimits
  readonly log: Logger
  readonly clock?: Clock
  readonly createWorker?: (setup: WorkerSetup, name: string) => Worker
  /** The process of browsers. */
  readonly createProcess?: () => ChildProcess
}
