// The RTP stream of one call leg, in its worker: the work of each tick and of each datagram.
import { AppError } from '../../lib/errors.ts'
import { clockRateOf, type Encoding } from '../codecs/codecs.ts'
import { FarEndWatch } from './far-end-watch.ts'
import type { Frame } from '../frames/frame.ts'
import type { Member } from '../graph/graph.ts'
import { Hearers } from '../graph/hearers.ts'
import { Taps } from '../graph/taps.ts'
import { silentWiring, toFactor, type WorkerWiring } from '../wiring.ts'
import type { KeysToSend } from '../keys/key-sender.ts'
import type { PlayResult, StreamStats } from '../media.ts'
import type { PlayOrder } from '../clips/playbacks.ts'
import { PressedKeys } from '../keys/pressed-keys.ts'
import type { Speech } from '../receive/jitter-buffer.ts'
import { Voice } from '../receive/voice.ts'
import { parseRtp, type RtpPacket } from '../rtp/packet.ts'
import { encodingOf, eventClockOf, KindsOfPackets, notAgreed } from './payload-kinds.ts'
import { Reception } from '../rtp/reception.ts'
import { Reports } from './reports.ts'
import { SourceLatch, type Endpoint } from '../rtp/source.ts'
import { UnheardGate } from '../rtp/unheard-gate.ts'
import type { Agreement } from '../sdp/agreement.ts'
import { Sending, type Way } from './sending.ts'
import type { StreamOptions } from './stream-options.ts'
import type { Passed } from '../graph/relay.ts'
import type { Form, PacketTransport } from '../transport/transport.ts'

export class Stream implements Member {
  readonly id: string
  readonly #now: () => number
  readonly #options: StreamOptions
  readonly #sending: Sending
  readonly #voice: Voice
  readonly #taps: Taps
  readonly #reception = new Reception()
  readonly #source = new SourceLatch()
  readonly #gate = new UnheardGate()
  readonly #keys: PressedKeys
  readonly #reports: Reports
  readonly #watch: FarEndWatch
  #transport: PacketTransport
  #agreement: Agreement | undefined
  #wiring: WorkerWiring = silentWiring
  readonly #kinds = new KindsOfPackets()
  /** Timestamp units, in the codec of the agreement. */
  #unitsPerMs = 8
  /** The way of the last tick, reused while nothing changes. */
  #way: Way | undefined
  #isClosed = false
  #notAgreed = 0
  readonly #hearers = new Hearers()
  #isTapped = false
  #listensForKeys = false
  /** The time before which no report is due and no silence shows. 0 if encrypted: the key may be wrong. */
  #checkMs = 0

  constructor(options: StreamOptions) {
    this.id = options.id
    this.#options = options
    this.#now = options.now
    this.#voice = new Voice(options.coders)
    this.#taps = new Taps(options.coders)
    this.#sending = new Sending({
      session: options.id,
      surroundings: options.graph,
      coders: options.coders,
      send: (packet, bytes, to) => {
        if (this.#gate.isOpen || this.#gate.admits(options.now())) this.#transport.sendRtp(packet, bytes, to)
      },
      onPassed: (packet, encoding) => {
        // If the other side's taps decode it already, it is not decoded once more for ours.
        const isHeard = this.#taps.shares(this.#sending.passedEars)
        this.#taps.pass(packet, encoding, options.now(), isHeard)
      },
      onLayerEnd: (end) => options.onEvent({ type: 'layer-ended', ...end }),
    })
    this.#keys = new PressedKeys(options)
    this.#watch = new FarEndWatch(options)
    const { sender } = this.#sending
    this.#reports = new Reports({
      sender,
      reception: this.#reception,
      source: this.#source,
      now: options.now,
    })
    this.#transport = this.#openTransport('plain')
  }

  agree(agreement: Agreement): void {
    const isOther = this.#agreement?.encoding !== agreement.encoding
    const { form } = agreement.protection
    if (form !== this.#transport.form) {
      this.#transport.leave?.()
      this.#transport = this.#openTransport(form)
    }
    this.#transport.agree(agreement)
    this.#agreement = agreement
    this.#sending.agree(agreement)
    this.#taps.agree(agreement.encoding)
    // The wiring may have come before the codec was agreed on.
    if (isOther) this.#wireHearing(agreement)
    this.#kinds.agree(agreement.receive)
    this.#unitsPerMs = clockRateOf(agreement.encoding) / 1000
    this.#reports.agree(this.#unitsPerMs)
    this.#keys.agree(agreement)
    this.#listensForKeys = this.#keys.isListening
    this.#way = undefined
    const nowMs = this.#options.now()
    const { remote, barred, peer } = agreement
    this.#source.signal({ remote: remote ?? barred, isBarred: barred !== undefined, peer }, nowMs)
    const isUnheard = remote !== undefined && agreement.mustBeHeardAt?.includes(remote.address) === true
    if (isUnheard && this.#source.latched === undefined) this.#gate.close(remote.address, agreement.isThin)
    else this.#gate.open()
    this.#watch.agreed(nowMs)
    this.#checkMs = 0
  }

  /** Notes a sign of life of the far end outside of media. */
  live(): void {
    this.#watch.live(this.#options.now())
  }

  doubt(): void {
    this.#watch.doubt(this.#options.now())
    this.#checkMs = 0
  }

  async play(order: PlayOrder): Promise<PlayResult> {
    if (this.#agreement === undefined) throw new Error('play before offer and answer')
    return await this.#sending.hearing.play(order, this.#agreement.encoding)
  }

  stopPlay(id: number): void {
    this.#sending.hearing.stopPlay(id)
  }

  /** Applies the wiring from the next tick on. */
  wire(wiring: WorkerWiring): void {
    this.#options.graph.rewire(this, this.#wiring, wiring)
    this.#wiring = wiring
    const { voices = [], taps = [], isMuted = false, gainDb = 0 } = wiring
    const nowMs = this.#options.now()
    this.#hearers.setRings(voices)
    this.#voice.setGain(isMuted ? 0 : toFactor(gainDb), nowMs)
    this.#taps.wire(taps, isMuted, nowMs)
    this.#isTapped = this.#sending.isTapped = this.#taps.isOpen
    if (this.#agreement !== undefined) this.#wireHearing(this.#agreement)
  }

  /** Resolves when the last key was pressed. */
  async sendKeys({ digits, durationMs, isTone }: KeysToSend): Promise<void> {
    if (!isTone && this.#agreement?.send.event === undefined)
      throw new AppError('media_not_acceptable', 'the far end takes no keys as RTP events')
    await this.#sending.keys.press(digits, durationMs, isTone)
  }

  voice(tick: number, nowMs: number): Frame | undefined {
    return this.#voice.frame(tick, nowMs)
  }

  isRegular(encoding: Encoding): boolean {
    return !this.#isClosed && this.#voice.isRegular(encoding)
  }

  handOver(nowMs: number): readonly Speech[] | undefined {
    return this.#voice.handOver(nowMs)
  }

  takeOver(tick: number, isLastUnheard: boolean): void {
    this.#voice.takeOver(tick, isLastUnheard)
  }

  get ears(): Voice | undefined {
    return this.#taps.ears
  }

  heardBy(hearers: readonly Member[]): void {
    this.#hearers.set(hearers)
  }

  /** Passes on a packet of another session if the far end hears it. */
  pass(session: string, packet: RtpPacket, passed: Passed): void {
    this.#sending.pass(session, packet, passed)
  }

  /** Runs the work of one tick. */
  tick(tick: number, nowMs: number): void {
    const agreement = this.#agreement
    if (agreement === undefined) return
    this.#way ??= { agreement, to: this.#source.destination }
    this.#sending.tick(tick, nowMs, this.#way)
    if (this.#hearers.areElsewhere) this.#hearers.write(this.voice(tick, nowMs))
    if (this.#isTapped)
      this.#taps.tick(tick, nowMs, this.#sending.heard(this.#wiring.tapsUnsent), this.#sending.passedEars)
    if (this.#listensForKeys) {
      this.#keys.tick(tick, nowMs)
      this.#listensForKeys = this.#keys.isListening
    }
    if (nowMs >= this.#checkMs) this.#check(agreement, nowMs)
  }

  #check(agreement: Agreement, nowMs: number): void {
    const { heardMs } = this.#source
    this.#watch.check(agreement, nowMs, { rejected: this.#transport.rejected, heardMs })
    if (this.#reports.isDue(nowMs)) this.#sendReport(false)
    const isPlain = agreement.protection.form === 'plain'
    this.#checkMs = isPlain ? Math.min(this.#watch.dueMs(agreement), this.#reports.dueMs) : 0
  }

  stats(): StreamStats {
    const { remote } = this.#reports
    return {
      packetsSent: this.#sending.sender.packets,
      packetsReceived: this.#reception.packetsReceived,
      packetsLost: this.#reception.packetsLost,
      packetsIgnored: this.#watch.ignored,
      packetsNotAgreed: this.#notAgreed,
      rejected: this.#transport.rejected,
      jitterMs: this.#reception.jitter / this.#unitsPerMs,
      ...(remote === undefined ? {} : { remote }),
      codec: this.#agreement?.encoding ?? '',
    }
  }

  /** Sends an RTCP BYE (RFC 3550 §6.6), ends playbacks and keys, and resolves when the ports are free. */
  async close(): Promise<StreamStats> {
    this.#isClosed = true
    this.wire(silentWiring)
    this.#sending.close()
    this.#voice.close()
    this.#taps.close()
    this.#isTapped = this.#sending.isTapped = false
    this.#keys.close()
    if (this.#sending.sender.packets + this.#reception.packetsReceived > 0) this.#sendReport(true)
    await this.#transport.close()
    return this.stats()
  }

  #wireHearing({ encoding }: Agreement): void {
    const { hears, hearsGainDb = 0 } = this.#wiring
    this.#sending.hearing.wire(hears, encoding, toFactor(hearsGainDb))
    this.#sending.rewired()
  }

  #openTransport(form: Form): PacketTransport {
    const transport = this.#options.openTransport(form)
    transport.listen(
      (datagram, from) => {
        const packet = parseRtp(datagram)
        if (packet !== undefined) this.#onRtp(packet, from)
      },
      (datagram, from) => this.#onRtcp(datagram, from),
    )
    return transport
  }

  #onRtp(packet: RtpPacket, from: Endpoint): void {
    const agreement = this.#agreement
    if (agreement === undefined) return
    const kind = this.#kinds.of(packet.payloadType)
    if (kind === notAgreed) {
      this.#notAgreed += 1
      return
    }
    const nowMs = this.#now()
    // While the far end may not send, a new source is ignored; the known one may still be draining.
    if (!agreement.mayReceive && this.#source.latched === undefined) return
    const verdict = this.#source.accept(from, packet, nowMs, agreement.protection.form !== 'plain')
    if (verdict === 'foreign') return this.#watch.ignore(from)
    if (verdict === 'latched') {
      this.#way = undefined
      this.#gate.open()
      this.#watch.latched(from, this.#transport.trust ?? this.#source.trust ?? 'sdp')
    }
    const eventClock = eventClockOf(kind)
    const isEvent = eventClock !== undefined
    // Events repeat one timestamp, so it does not show when the packet was sent.
    const arrival = this.#reception.accept(packet, Math.round(nowMs * this.#unitsPerMs), !isEvent)
    if (arrival === 'duplicate' || arrival === 'stray') return
    if (isEvent) {
      this.#voice.live(nowMs)
      this.#taps.live(nowMs)
      this.#keys.event(packet, { isLate: arrival === 'late', clockRate: eventClock }, nowMs)
      this.#listensForKeys = this.#keys.isListening
    }
    const encoding = encodingOf(kind)
    const samples = encoding === undefined ? 0 : this.#voice.hear(packet, encoding, nowMs)
    // Recordings and taps get no packets that drain from a far end that has stopped sending.
    if (encoding !== undefined && agreement.mayReceive) {
      if (this.#isTapped) this.#taps.hear(packet, encoding, nowMs)
      if (agreement.hearsTones === true) this.#keys.hear(packet, encoding, nowMs)
    }
    // Comfort noise is not passed on: a missing packet is silence.
    if (isEvent || samples > 0) this.#hearers.pass(this.id, packet, { samples, eventClock })
  }

  #onRtcp(datagram: Buffer, from: Endpoint): void {
    const agreement = this.#agreement
    if (agreement === undefined || !this.#reports.accept(datagram, from, agreement)) return
    this.#gate.heardFrom(from.address)
    this.#sending.expectLoss(this.#reports.lossPercent)
    this.live()
    const { destination: to } = this.#source
    const shown = this.#reports.nonDelivery
    if (shown !== undefined && to !== undefined && agreement.maySend)
      this.#options.onEvent({ type: 'undelivered', to, shown })
  }

  #sendReport(isBye: boolean): void {
    const agreement = this.#agreement
    const report = agreement && this.#reports.next(agreement, this.#sending.timestamp, isBye)
    if (report !== undefined && this.#mayReportTo(report.to, agreement))
      this.#transport.sendRtcp(report.packet, report.to)
  }

  /** Returns whether reports may be sent to an address: only a packet from there proves one that must be heard. */
  #mayReportTo({ address }: Endpoint, agreement: Agreement | undefined): boolean {
    if (agreement?.mustBeHeardAt?.includes(address) !== true) return true
    return this.#source.latched?.address === address || this.#reports.heardAddress === address
  }
}
