// One RTP stream pair of one call leg, in its worker: what happens at each tick and with each datagram.
import { AppError } from '../lib/errors.ts'
import type { Clips } from './clips.ts'
import { createTranscoder } from './codecs/g711.ts'
import type { Law, Laws } from './codecs/g711.ts'
import { DigitReceiver } from './digit-receiver.ts'
import type { Digit } from './digit-receiver.ts'
import { FarEndWatch } from './far-end-watch.ts'
import { frameBytes } from './frame-reader.ts'
import type { MediaEvent, PlayResult, StreamStats } from './media.ts'
import type { SilenceLimits } from './worker-setup.ts'
import { Player } from './player.ts'
import type { PlayedFrame } from './player.ts'
import type { SocketPair } from './ports.ts'
import { isRtcp, parseRtp, rtpHeaderBytes } from './rtp/packet.ts'
import type { RtpPacket } from './rtp/packet.ts'
import { notAgreed, telephoneEvent, toPayloadKinds } from './rtp/payload-kinds.ts'
import type { PayloadKinds } from './rtp/payload-kinds.ts'
import { Reception } from './rtp/reception.ts'
import { Reporter } from './rtp/reporter.ts'
import { RtpSender } from './rtp/sender.ts'
import { SourceLatch } from './rtp/source.ts'
import type { Endpoint } from './rtp/source.ts'
import { parseTelephoneEvent } from './rtp/telephone-event.ts'
import type { Agreement } from './sdp/negotiation.ts'

export interface StreamOptions {
  readonly sockets: SocketPair
  readonly laws: Laws
  readonly clips: Clips
  readonly limits: SilenceLimits
  readonly onEvent: (event: MediaEvent) => void
  /** Monotonic, on the scale of epoch ms. */
  readonly now: () => number
}

const unitsPerMs = 8

// One plays, one is ready to follow, and one more may cross the end of the first on its way here.
const maxFollowing = 3

export interface PlayOrder {
  readonly id: number
  readonly path: string
  readonly offsetMs: number
  readonly rounds: number
  readonly follows: boolean
}

/** What goes out in one tick. */
interface Beat {
  readonly tick: number
  readonly frame: PlayedFrame | undefined
}

export class Stream {
  readonly #options: StreamOptions
  readonly #sender = new RtpSender()
  readonly #reception = new Reception()
  readonly #source = new SourceLatch()
  readonly #digits = new DigitReceiver()
  readonly #reporter: Reporter
  readonly #watch: FarEndWatch
  #agreement: Agreement | undefined
  /** The first one plays, the others follow without a gap. */
  #players: readonly { readonly id: number; readonly player: Player }[] = []
  #isTalking = false
  #kinds: PayloadKinds = new Uint8Array()
  #transcoder: { readonly from: Law; readonly to: Law; readonly table: Uint8Array } | undefined
  #remoteRtcp: Endpoint | undefined
  #tick = 0

  constructor(options: StreamOptions) {
    this.#options = options
    this.#watch = new FarEndWatch(options)
    this.#reporter = new Reporter({
      sender: this.#sender,
      reception: this.#reception,
      now: options.now,
    })
    options.sockets.listen(
      (datagram, from) => this.#onRtpPort(datagram, from),
      (datagram, from) => this.#onRtcp(datagram, from),
    )
  }

  agree(agreement: Agreement): void {
    this.#agreement = agreement
    this.#kinds = toPayloadKinds(agreement.receive)
    const nowMs = this.#options.now()
    const { remote, barred, peer } = agreement
    this.#source.signal({ remote: remote ?? barred, isBarred: barred !== undefined, peer }, nowMs)
    this.#watch.agreed(nowMs)
    this.#remoteRtcp = undefined
  }

  /** The far end gave a sign of life outside of media. */
  live(): void {
    this.#watch.live(this.#options.now())
  }

  /** Ends what plays as stopped, or follows it at the tick after its last frame. */
  async play({ id, follows, path, offsetMs, rounds }: PlayOrder): Promise<PlayResult> {
    if (this.#agreement === undefined) throw new Error('play before offer and answer')
    if (!follows) this.#stopPlayers()
    if (this.#players.length > maxFollowing)
      throw new AppError('overloaded', 'too many playbacks of one call wait for each other')
    const { clips } = this.#options
    const player = new Player({ clips, path, offsetMs, rounds, law: this.#agreement.law })
    this.#players = [...this.#players, { id, player }]
    return await player.result
  }

  stopPlay(id: number): void {
    this.#players.find((one) => one.id === id)?.player.stop()
  }

  /** The beat. Playback goes on in time also while the far end holds us; it just does not hear it. */
  tick(tick: number, nowMs: number): void {
    this.#tick = tick
    const agreement = this.#agreement
    if (agreement === undefined) return
    const frame = this.#nextFrame(nowMs)
    const to = this.#source.destination
    if (agreement.maySend && to !== undefined) this.#send({ tick, frame }, agreement, to)
    const expired = this.#digits.expire(nowMs)
    if (expired !== undefined) this.#report([expired])
    this.#watch.checkSilence(agreement, nowMs)
    if (this.#reporter.isDue()) this.#sendReport(false)
  }

  stats(): StreamStats {
    const { remote } = this.#reporter
    return {
      packetsSent: this.#sender.packets,
      packetsReceived: this.#reception.packetsReceived,
      packetsLost: this.#reception.packetsLost,
      packetsIgnored: this.#watch.ignored,
      jitterMs: this.#reception.jitter / unitsPerMs,
      ...(remote === undefined ? {} : { remote }),
      codec: this.#agreement?.law ?? '',
    }
  }

  /** Says goodbye (RFC 3550 §6.6), ends what runs, and resolves when the ports are free. */
  async close(): Promise<StreamStats> {
    this.#stopPlayers()
    if (this.#sender.packets + this.#reception.packetsReceived > 0) this.#sendReport(true)
    await this.#options.sockets.close()
    return this.stats()
  }

  #stopPlayers(): void {
    for (const { player } of this.#players) player.stop()
    this.#players = []
  }

  /** The next one begins in the tick in which its predecessor has nothing left. */
  #nextFrame(nowMs: number): PlayedFrame | undefined {
    for (;;) {
      const player = this.#players[0]?.player
      const frame = player?.next(nowMs)
      if (player?.hasEnded !== true) return frame
      this.#players = this.#players.slice(1)
    }
  }

  /**
   * Sound in every tick, silence when there is nothing to say: it opens and holds the NAT binding, lets the far
   * end latch on to us, and keeps phones and carriers that hang up on dead media from doing so. Not sending
   * would need comfort noise (RFC 3389), which many phones play as a hiss or not at all.
   */
  #send({ tick, frame }: Beat, { send, law }: Agreement, to: Endpoint): void {
    const { sockets, laws } = this.#options
    const payloadType = send.audio
    const payloadBytes = send.packetMs * unitsPerMs
    const startsTalk = frame !== undefined && !this.#isTalking
    this.#isTalking = frame !== undefined
    const first = this.#sender.audio(tick, { payloadType, startsTalk, payloadBytes })
    if (frame === undefined) first.packet.fill(laws[law].silence, rtpHeaderBytes)
    else this.#copyFrame(first.packet, frame, law)
    sockets.sendRtp(first.packet, first.bytes, to)
    for (let from = payloadBytes; from < frameBytes; from += payloadBytes) {
      const { packet, bytes } = this.#sender.rest(first, { tick, payloadType, from })
      sockets.sendRtp(packet, bytes, to)
    }
  }

  #copyFrame(packet: Buffer, { law: from, bytes, offset }: PlayedFrame, to: Law): void {
    bytes.copy(packet, rtpHeaderBytes, offset, offset + packet.length - rtpHeaderBytes)
    if (from === to) return
    // A re-offer changed the law in the middle of the clip.
    const table = this.#transcoderOf(from, to)
    for (let at = rtpHeaderBytes; at < packet.length; at += 1) packet[at] = table[packet[at] ?? 0] ?? 0
  }

  #transcoderOf(from: Law, to: Law): Uint8Array {
    if (this.#transcoder?.from !== from || this.#transcoder.to !== to) {
      const { laws } = this.#options
      this.#transcoder = { from, to, table: createTranscoder(laws[from], laws[to]) }
    }
    return this.#transcoder.table
  }

  #onRtpPort(datagram: Buffer, from: Endpoint): void {
    if (this.#agreement?.hasRtcpMux === true && isRtcp(datagram)) return this.#onRtcp(datagram, from)
    const packet = parseRtp(datagram)
    if (packet !== undefined) this.#onRtp(packet, from)
  }

  #onRtp(packet: RtpPacket, from: Endpoint): void {
    const agreement = this.#agreement
    if (agreement === undefined) return
    const kind = this.#kinds[packet.payloadType] ?? notAgreed
    if (kind === notAgreed) return
    const nowMs = this.#options.now()
    // Without a right to send, a new source has no business here; the known one may still be draining.
    if (!agreement.mayReceive && this.#source.latched === undefined) return
    const verdict = this.#source.accept(from, packet, nowMs)
    if (verdict === 'foreign') return this.#watch.ignore(from)
    if (verdict === 'latched') this.#watch.latched(from, this.#source.trust ?? 'sdp')
    this.#watch.live(nowMs)
    const isEvent = kind === telephoneEvent
    // Events repeat one timestamp, so it does not tell when the packet was sent.
    const arrival = this.#reception.accept(packet, Math.round(nowMs * unitsPerMs), !isEvent)
    if (arrival === 'duplicate' || arrival === 'stray') return
    if (isEvent) this.#onEvent(packet, arrival === 'late', nowMs)
    // Received speech (packet.payload, when the kind is a law) ends here: recognition and recording attach at this place,
    // behind a jitter buffer.
  }

  #onEvent(packet: RtpPacket, isLate: boolean, nowMs: number): void {
    const event = parseTelephoneEvent(packet.payload)
    if (event === undefined) return
    const { timestamp, marker, ssrc } = packet
    this.#report(this.#digits.accept({ ...event, timestamp, marker, ssrc, isLate }, nowMs))
  }

  #report(digits: readonly Digit[]): void {
    for (const { digit, durationMs } of digits) this.#options.onEvent({ type: 'digit', digit, durationMs })
  }

  #onRtcp(datagram: Buffer, from: Endpoint): void {
    const agreement = this.#agreement
    if (agreement === undefined) return
    // Only from the machine whose media we take, or that signalling named.
    if (!this.#source.isNamed(from.address) && from.address !== agreement.remoteRtcp?.address) return
    if (this.#reporter.accept(datagram) === undefined) return
    this.#remoteRtcp = from
    this.live()
  }

  #sendReport(isBye: boolean): void {
    const to = this.#rtcpDestination()
    if (to === undefined) return
    const packet = this.#reporter.report(this.#sender.timestampAt(this.#tick), isBye)
    if (this.#agreement?.hasRtcpMux === true) this.#options.sockets.sendRtp(packet, packet.length, to)
    else this.#options.sockets.sendRtcp(packet, to)
  }

  /** Where its reports come from; else beside its media, which NAT may have moved; else what the SDP says. */
  #rtcpDestination(): Endpoint | undefined {
    const agreement = this.#agreement
    if (agreement?.remote === undefined) return undefined
    if (agreement.hasRtcpMux) return this.#source.destination
    if (this.#remoteRtcp !== undefined) return this.#remoteRtcp
    const latched = this.#source.latched
    if (latched === undefined || latched.address === agreement.remote.address) return agreement.remoteRtcp
    return latched.port === 65_535 ? undefined : { address: latched.address, port: latched.port + 1 }
  }
}
