// The packets that one stream sends: in every tick a packet of what its far end hears, or of a key; or packets of
// another far end as they come.
import { isDeepStrictEqual } from 'node:util'
import { clockRateOf, type Encoding } from '../codecs/codecs.ts'
import type { Coders, Encoder } from '../codecs/coders.ts'
import type { Frame, Octets } from '../frames/frame.ts'
import { Hearing } from '../graph/hearing.ts'
import type { LayerEnd, Surroundings } from '../graph/layers.ts'
import { Relay, type Passed, type Relayable } from '../graph/relay.ts'
import { inClock, KeySender } from '../keys/key-sender.ts'
import type { Voice } from '../receive/voice.ts'
import { rtpHeaderBytes, type RtpPacket } from '../rtp/packet.ts'
import { RtpSender, type Outgoing } from '../rtp/sender.ts'
import type { Endpoint } from '../rtp/source.ts'
import { isRekeyed, type Agreement, type Protection } from '../sdp/agreement.ts'
import { tickMs } from '../tick-clock.ts'

export interface SendingOptions {
  readonly session: string
  readonly surroundings: Surroundings & { relayable(id: string): Relayable | undefined }
  readonly coders: Coders
  readonly send: (packet: Buffer, bytes: number, to: Endpoint) => void
  /** Called with each speech packet of another far end that was passed on. */
  readonly onPassed: (packet: RtpPacket, encoding: Encoding) => void
  readonly onLayerEnd: (end: LayerEnd) => void
}

/** The destination of this tick's packet. Without one (`to` undefined) nothing is sent, and time continues. */
export interface Way {
  readonly agreement: Agreement
  readonly to: Endpoint | undefined
}

export class Sending {
  readonly sender = new RtpSender()
  readonly hearing: Hearing
  readonly keys: KeySender
  readonly #options: SendingOptions
  readonly #send: SendingOptions['send']
  #way: Way | undefined
  /**
   * From the way: the destination and payload type of passed packets in this tick. Kept here, since each packet needs
   * them.
   */
  #passTo: Endpoint | undefined
  #passType = 0
  #encoding: Encoding | undefined
  /** Whether taps also receive the packets that are passed on. */
  isTapped = false
  #encoder: Encoder | undefined
  /** Whether the encoder has a state that must follow the packets passed on. */
  #follows = false
  #coding: Pick<Agreement, 'encoding' | 'send'> | undefined
  #protection: Protection | undefined
  #tick = 0
  #isTalking = false
  #lossPercent = 0
  #relay: Relay | undefined
  /** The session whose packets are passed on. */
  #from: Relayable | undefined

  constructor(options: SendingOptions) {
    this.#options = options
    this.#send = options.send
    this.hearing = new Hearing(options)
    this.keys = new KeySender(this.sender)
  }

  agree({ encoding, send, protection }: Agreement): void {
    if (isRekeyed(this.#protection, protection)) this.sender.changeSource()
    this.#protection = protection
    const former = this.#coding
    this.#coding = { encoding, send }
    this.sender.clock(clockRateOf(encoding), this.#tick + 1)
    // An encoder with a state is kept if neither the codec nor the wishes have changed.
    if (former?.encoding === encoding && isDeepStrictEqual(former.send.wishes, send.wishes)) return
    this.#encoder?.close()
    this.#encoder = this.#options.coders.encoder(encoding, send.wishes)
    this.#encoder.expectLoss?.(this.#lossPercent)
    this.#follows = this.#encoder.follow !== undefined
    this.hearing.forgetSilence()
  }

  /** The RTP timestamp of this tick, for reports. */
  get timestamp(): number {
    const beat = this.sender.timestampAt(this.#tick)
    return this.#relay === undefined ? beat : this.sender.nextTimestamp(this.#tick)
  }

  /**
   * Returns the frame that the far end hears in this tick, or with `isUnsent` would hear if it took a stream;
   * 'passed' while packets of another far end are passed on to it; undefined for silence.
   */
  heard(isUnsent = false): Frame | 'passed' | undefined {
    const isSent = this.#way?.agreement.maySend === true && this.#way.to !== undefined
    if (!isSent && !isUnsent) return undefined
    return this.#relay === undefined ? this.hearing.heard : 'passed'
  }

  /** The voice that decodes the session whose packets are passed on. */
  get passedEars(): Voice | undefined {
    return this.#from?.ears
  }

  /** Sends the packet of this tick. Playback and layers also advance while the far end holds, unheard. */
  tick(tick: number, nowMs: number, way: Way): void {
    this.#tick = tick
    if (way !== this.#way) this.#go(way)
    if (this.#isRelayed(tick, nowMs, way)) return
    const encoder = this.#encoder
    if (encoder === undefined) return
    const { encoding, maySend, send } = way.agreement
    const tone = this.keys.isBusy ? this.keys.tone() : undefined
    const octets = this.hearing.next(tick, nowMs, { encoding, encoder, instead: tone })
    const key = this.keys.isBusy && tone === undefined ? this.keys.tick(tick, send.event) : undefined
    if (!maySend || way.to === undefined) return
    if (key !== undefined) this.#out(key)
    else if (!this.keys.isPassing(tick)) this.#sendFrame(tick, octets, encoder, way.agreement)
  }

  /** Ends the relay if the far end no longer hears that session alone. */
  rewired(): void {
    if (this.#relay !== undefined && this.hearing.onlySession !== this.#relay.source) this.#leaveRelay(false)
  }

  /** Passes on a packet of a session that the far end hears, immediately if it hears nothing else. */
  pass(session: string, packet: RtpPacket, { samples, eventClock }: Passed): void {
    if (eventClock !== undefined) this.#passKey(session, packet, eventClock)
    else this.#passSpeech(session, packet, samples)
  }

  #passSpeech(session: string, packet: RtpPacket, samples: number): void {
    const to = this.#passTo
    const relay = this.#relay
    const encoding = this.#encoding
    if (to === undefined || encoding === undefined || relay?.source !== session) return
    // The codec, the packet duration or the gain has changed since the relay began: this stream sends its own packets
    // again.
    if (this.#from?.isRegular(encoding) !== true) return this.#leaveRelay(true)
    const outgoing = relay.pass(packet, { tick: this.#tick, payloadType: this.#passType, samples })
    if (outgoing === undefined) return
    this.#send(outgoing.packet, outgoing.bytes, to)
    if (this.#follows) this.#encoder?.follow?.(packet.payload)
    if (this.isTapped) this.#options.onPassed(packet, encoding)
  }

  #passKey(session: string, packet: RtpPacket, clock: number): void {
    const way = this.#way
    if (way?.to === undefined || !way.agreement.maySend) return
    const { event } = way.agreement.send
    const relay = this.#relay
    const key = event === undefined ? packet : inClock(packet, clock, event.clockRate)
    if (relay?.source === session) {
      const outgoing = relay.pass(key, { tick: this.#tick, payloadType: event?.payloadType, samples: 0 })
      if (outgoing !== undefined) this.#out(outgoing)
    } else if (event !== undefined && !this.keys.isBusy && this.hearing.hears(session))
      this.#out(this.keys.pass(key, event, this.#tick))
  }

  #go(way: Way): void {
    const { maySend, encoding, send } = way.agreement
    this.#way = way
    this.#passTo = maySend ? way.to : undefined
    this.#passType = send.audio
    this.#encoding = encoding
  }

  /** Sets the loss that the far end reports, in percent. */
  expectLoss(percent: number): void {
    if (percent === this.#lossPercent) return
    this.#lossPercent = percent
    this.#encoder?.expectLoss?.(percent)
  }

  close(): void {
    this.hearing.close()
    this.keys.close()
    this.#encoder?.close()
    this.#encoder = undefined
  }

  /**
   * Returns whether packets of another far end are passed on in this tick. Decided per tick, so that the change falls
   * between two packets.
   */
  #isRelayed(tick: number, nowMs: number, way: Way): boolean {
    const source = this.#relaySource(way)
    const relay = this.#relay
    const { encoding } = way.agreement
    if (relay !== undefined) {
      const goesOn = relay.source === source && !relay.hasStopped(tick)
      if (goesOn && this.#from?.isRegular(encoding) === true) return true
      this.#endRelay(tick)
      return false
    }
    const from = source === undefined ? undefined : this.#options.surroundings.relayable(source)
    if (source === undefined || from?.isRegular(encoding) !== true) return false
    const waiting = from.handOver(nowMs)
    if (waiting === undefined) return false
    this.#relay = new Relay(source, this.sender, tick)
    this.#from = from
    this.#isTalking = true
    // Another session may hear them too, so none of them is sent from its own memory.
    for (const { packet, samples } of waiting)
      this.#passSpeech(source, { ...packet, datagram: undefined }, samples)
    return true
  }

  #relaySource({ agreement, to }: Way): string | undefined {
    const canSend = agreement.maySend && to !== undefined && agreement.send.packetMs === tickMs
    return canSend && !this.keys.isBusy ? this.hearing.onlySession : undefined
  }

  /** Ends the relay between two ticks. */
  #leaveRelay(isLastUnheard: boolean): void {
    const from = this.#from
    this.#endRelay(this.#tick + 1)
    from?.takeOver(this.#tick, isLastUnheard)
  }

  #endRelay(tick: number): void {
    this.#relay?.end(tick)
    this.hearing.forgetSilence()
    this.#relay = undefined
    this.#from = undefined
  }

  /**
   * Sends a packet in every tick, of silence if there is nothing to hear. That opens and holds the NAT binding, lets
   * the far end latch on to us, and keeps phones and carriers that hang up on dead media from doing so. Not sending
   * would need comfort noise (RFC 3389), which many phones play as a hiss or not at all.
   */
  #sendFrame(tick: number, octets: Octets | undefined, encoder: Encoder, { send }: Agreement): void {
    const payloadType = send.audio
    const { bytes, offset, length } = octets ?? this.hearing.silence(encoder)
    const parts = tickMs / send.packetMs
    const startsTalk = octets !== undefined && !this.#isTalking
    this.#isTalking = octets !== undefined
    const first = this.sender.audio(tick, { payloadType, startsTalk, payloadBytes: length / parts, parts })
    first.packet.set(bytes.subarray(offset, offset + length), rtpHeaderBytes)
    this.#out(first)
    for (let part = 1; part < parts; part += 1)
      this.#out(this.sender.rest(first, { tick, payloadType, part, parts }))
  }

  #out({ packet, bytes }: Outgoing): void {
    const to = this.#way?.to
    if (to !== undefined) this.#send(packet, bytes, to)
  }
}
