// One RTP stream pair of one call leg, in its worker: what happens at each tick and with each datagram.
import { AudioRing } from '../lib/audio-ring.ts'
import { AppError } from '../lib/errors.ts'
import { clockRateOf } from './codecs/codecs.ts'
import type { Encoding } from './codecs/codecs.ts'
import type { Coders } from './codecs/coders.ts'
import { FarEndWatch } from './far-end-watch.ts'
import type { Frame } from './graph/frame.ts'
import type { Graph, Member } from './graph/graph.ts'
import { Taps } from './graph/taps.ts'
import { silentWiring, toFactor } from './graph/wiring.ts'
import type { WorkerWiring } from './graph/wiring.ts'
import type { KeysToSend } from './messages.ts'
import type { MediaEvent, PlayResult, StreamStats } from './media.ts'
import type { PlayOrder } from './playbacks.ts'
import { PressedKeys } from './pressed-keys.ts'
import type { Speech } from './receive/jitter-buffer.ts'
import { Voice } from './receive/voice.ts'
import { parseRtp } from './rtp/packet.ts'
import type { RtpPacket } from './rtp/packet.ts'
import { encodingOf, eventClockOf, notAgreed, toPayloadKinds } from './rtp/payload-kinds.ts'
import type { PayloadKinds } from './rtp/payload-kinds.ts'
import { Reception } from './rtp/reception.ts'
import { Reporter } from './rtp/reporter.ts'
import { reportsTo } from './rtp/reports-to.ts'
import { SourceLatch } from './rtp/source.ts'
import type { Endpoint } from './rtp/source.ts'
import type { Agreement } from './sdp/agreement.ts'
import { Sending } from './sending.ts'
import type { Passed, Way } from './sending.ts'
import type { Form, PacketTransport } from './transport/transport.ts'
import type { SilenceLimits } from './worker-setup.ts'

export interface StreamOptions {
  readonly id: string
  /** On what the session stands on; once for each form that it takes. */
  readonly openTransport: (form: Form) => PacketTransport
  readonly graph: Graph
  readonly coders: Coders
  readonly limits: SilenceLimits
  readonly onEvent: (event: MediaEvent) => void
  /** Monotonic, on the scale of epoch ms. */
  readonly now: () => number
}

export class Stream implements Member {
  readonly id: string
  readonly #options: StreamOptions
  readonly #sending: Sending
  readonly #voice: Voice
  readonly #taps: Taps
  readonly #reception = new Reception()
  readonly #source = new SourceLatch()
  readonly #keys: PressedKeys
  readonly #reporter: Reporter
  readonly #watch: FarEndWatch
  #transport: PacketTransport
  #agreement: Agreement | undefined
  #wiring: WorkerWiring = silentWiring
  /** For other workers. */
  #voices: readonly AudioRing[] = []
  #kinds: PayloadKinds = new Uint8Array()
  /** Of timestamps, in the codec of the agreement. */
  #unitsPerMs = 8
  #remoteRtcp: Endpoint | undefined
  /** What the last tick had, and the next one has while nothing has changed. */
  #way: Way | undefined
  #isClosed = false
  #hearers: readonly Member[] = []

  constructor(options: StreamOptions) {
    this.id = options.id
    this.#options = options
    this.#voice = new Voice(options.coders)
    this.#taps = new Taps(options.coders)
    this.#sending = new Sending({
      session: options.id,
      surroundings: options.graph,
      coders: options.coders,
      send: (packet, bytes, to) => this.#transport.sendRtp(packet, bytes, to),
      onPassed: (packet, encoding) => {
        // Where taps of the other side hear it already, it is not heard once more for ours.
        const isHeard = !this.#taps.isOpen || this.#sending.passedEars !== undefined
        if (!isHeard) this.#taps.pass(packet, encoding, options.now())
      },
      onLayerEnd: (end) => options.onEvent({ type: 'layer-ended', ...end }),
    })
    this.#keys = new PressedKeys(options)
    this.#watch = new FarEndWatch(options)
    this.#reporter = new Reporter({
      sender: this.#sending.sender,
      reception: this.#reception,
      now: options.now,
    })
    this.#transport = this.#openTransport('plain')
  }

  agree(agreement: Agreement): void {
    const isFirst = this.#agreement === undefined
    const { form } = agreement.protection
    if (form !== this.#transport.form) this.#transport = this.#openTransport(form)
    this.#transport.agree(agreement)
    this.#agreement = agreement
    this.#sending.agree(agreement)
    // What it shall hear may have been said before it could be known in which codec.
    if (isFirst) this.#wireHearing(agreement)
    this.#kinds = toPayloadKinds(agreement.receive)
    this.#unitsPerMs = clockRateOf(agreement.encoding) / 1000
    this.#reporter.clock(this.#unitsPerMs)
    this.#keys.agree(agreement)
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

  async play(order: PlayOrder): Promise<PlayResult> {
    if (this.#agreement === undefined) throw new Error('play before offer and answer')
    return await this.#sending.hearing.play(order, this.#agreement.encoding)
  }

  stopPlay(id: number): void {
    this.#sending.hearing.stopPlay(id)
  }

  /** From the next tick on. */
  wire(wiring: WorkerWiring): void {
    this.#options.graph.rewire(this, this.#wiring, wiring)
    this.#wiring = wiring
    const { voices = [], taps = [], isMuted = false, gainDb = 0 } = wiring
    const nowMs = this.#options.now()
    this.#voices = voices.map(({ memory }) => new AudioRing(memory))
    this.#voice.setGain(isMuted ? 0 : toFactor(gainDb), nowMs)
    this.#taps.wire(taps, isMuted, nowMs)
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
    this.#hearers = hearers
  }

  /** A packet of another session that the far end may hear. */
  pass(session: string, packet: RtpPacket, passed: Passed): void {
    this.#sending.pass(session, packet, passed)
  }

  /** The beat. */
  tick(tick: number, nowMs: number): void {
    const agreement = this.#agreement
    if (agreement === undefined) return
    const to = this.#source.destination
    if (this.#way?.agreement !== agreement || this.#way.to !== to) this.#way = { agreement, to }
    this.#sending.tick(tick, nowMs, this.#way)
    for (const voice of this.#voices) voice.write(this.voice(tick, nowMs)?.samples())
    if (this.#taps.isOpen) this.#taps.tick(tick, nowMs, this.#sending.heard(), this.#sending.passedEars)
    this.#keys.tick(tick, nowMs)
    this.#watch.check(agreement, nowMs, this.#transport.rejected)
    if (this.#reporter.isDue(nowMs)) this.#sendReport(false)
  }

  stats(): StreamStats {
    const { remote } = this.#reporter
    return {
      packetsSent: this.#sending.sender.packets,
      packetsReceived: this.#reception.packetsReceived,
      packetsLost: this.#reception.packetsLost,
      packetsIgnored: this.#watch.ignored,
      rejected: this.#transport.rejected,
      jitterMs: this.#reception.jitter / this.#unitsPerMs,
      ...(remote === undefined ? {} : { remote }),
      codec: this.#agreement?.encoding ?? '',
    }
  }

  /** Says goodbye (RFC 3550 §6.6), ends what runs, and resolves when the ports are free. */
  async close(): Promise<StreamStats> {
    this.#isClosed = true
    this.wire(silentWiring)
    this.#sending.close()
    this.#voice.close()
    this.#taps.close()
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
    const kind = this.#kinds[packet.payloadType] ?? notAgreed
    if (kind === notAgreed) return
    const nowMs = this.#options.now()
    // Without a right to send, a new source has no business here; the known one may still be draining.
    if (!agreement.mayReceive && this.#source.latched === undefined) return
    const verdict = this.#source.accept(from, packet, nowMs, agreement.protection.form !== 'plain')
    if (verdict === 'foreign') return this.#watch.ignore(from)
    if (verdict === 'latched') this.#watch.latched(from, this.#transport.trust ?? this.#source.trust ?? 'sdp')
    this.#watch.live(nowMs)
    const eventClock = eventClockOf(kind)
    const isEvent = eventClock !== undefined
    // Events repeat one timestamp, so it does not tell when the packet was sent.
    const arrival = this.#reception.accept(packet, Math.round(nowMs * this.#unitsPerMs), !isEvent)
    if (arrival === 'duplicate' || arrival === 'stray') return
    if (isEvent) {
      this.#voice.live(nowMs)
      this.#taps.live(nowMs)
      this.#keys.event(packet, { isLate: arrival === 'late', clockRate: eventClock }, nowMs)
    }
    const encoding = encodingOf(kind)
    const samples = encoding === undefined ? 0 : this.#voice.hear(packet, encoding, nowMs)
    // What others hear may still be draining; no recording has what a far end says that has said it says nothing.
    if (encoding !== undefined && agreement.mayReceive) {
      this.#taps.hear(packet, encoding, nowMs)
      this.#keys.hear(packet, encoding, nowMs)
    }
    // Comfort noise is not passed on: what is missing is silence.
    if (isEvent || samples > 0) this.#passOn(packet, { samples, eventClock })
  }

  /** As it came, to those who hear it. */
  #passOn(packet: RtpPacket, passed: Passed): void {
    // The memory of a packet can be sent to one only: what the kernel does not take at once is sent later.
    const shared = this.#hearers.length > 1 ? { ...packet, datagram: undefined } : packet
    for (const hearer of this.#hearers) hearer.pass(this.id, shared, passed)
  }

  #onRtcp(datagram: Buffer, from: Endpoint): void {
    const agreement = this.#agreement
    if (agreement === undefined) return
    // Only from the machine whose media we take, or that signalling named.
    if (!this.#source.isNamed(from.address) && from.address !== agreement.remoteRtcp?.address) return
    if (this.#reporter.accept(datagram) === undefined) return
    this.#sending.expectLoss(this.#reporter.lossPercent)
    this.#remoteRtcp = from
    this.live()
  }

  #sendReport(isBye: boolean): void {
    const agreement = this.#agreement
    const { latched, destination } = this.#source
    const to = agreement && reportsTo(agreement, { heard: this.#remoteRtcp, latched, destination })
    if (to === undefined) return
    const packet = this.#reporter.report(this.#sending.timestamp, isBye)
    this.#transport.sendRtcp(packet, to)
  }
}
