// The voice of one far end as frames of 20 ms, whatever the length and timing of its packets: buffered, decoded, and
// with gaps concealed. Costs next to nothing while no one listens.
import { clockRateOf, type Encoding, type Rate } from '../codecs/codecs.ts'
import { frameSamples, isLaw, type Coders, type Decoder } from '../codecs/coders.ts'
import type { Frame, SampleFrame } from '../frames/frame.ts'
import type { RtpPacket } from '../rtp/packet.ts'
import { Decoded, maxPacketSamples } from './decoded.ts'
import { Gain } from './gain.ts'
import { JitterBuffer, type Speech } from './jitter-buffer.ts'
import { RecentPackets } from './recent-packets.ts'
import { shorten } from './shorten.ts'

// Packets kept while no one listens, so that a new listener hears no gap. More are kept for a codec whose sound
// depends on earlier packets: a decoder that begins 60 ms before is 10 dB off, one that begins 200 ms before is not.
const recentPackets = { law: 3, adaptive: 10 } as const
// After a longer pause the packets of a far end do not count as regular immediately.
const standstillMs = 200
// Older speech than this is not used to continue from.
const staleMs = 60
// A listener that has read no frame for this long has left, or gets the packets as they come. Nothing is buffered for
// it.
const unaskedMs = 200
// Packets count as regular after this many of 20 ms in a row.
const regularPackets = 5
// After 300 ms of silence the voice has no frames, until speech comes again.
const idleFrames = 15
// For this long after a loss one more packet is kept waiting, if packets of the codec also carry the packet before.
const lossyMs = 10_000

export class Voice {
  // Fields needed for each packet come first, so that they lie together in memory.
  #encoding: Encoding | undefined
  /** A 32-bit number. */
  #ssrc = 0
  #decoder: Decoder | undefined
  #heardMs = 0
  #regular = 0
  readonly #recent = new RecentPackets(recentPackets.law)
  #isHeard = false
  readonly #gain = new Gain()
  readonly #buffer = new JitterBuffer()
  readonly #coders: Coders
  #rate: Rate
  /** The decoder for another rate, which takes over with the next frame. */
  #coming: Decoder | undefined
  #at: Decoded
  #frame: SampleFrame
  #readySamples = 0
  #lastTick = -1
  #askedMs = 0
  #quietFrames = idleFrames
  #wantsWhole = false
  #lossMs = -Infinity
  /** Whether one packet more than the network needs is waiting. */
  #isAhead = false

  /** `rate` is the highest rate that it is heard at. */
  constructor(coders: Coders, rate: Rate = 16_000) {
    this.#coders = coders
    this.#rate = rate
    this.#at = new Decoded(8000)
    this.#frame = this.#at.ownFrame
  }

  /** The highest rate that it is heard at, if its codec has it. */
  get rate(): Rate {
    return this.#rate
  }

  /** Changes the rate from the next frame on, without a break. */
  hearAt(rate: Rate): void {
    if (rate === this.#rate) return
    this.#rate = rate
    this.#leaveComing()
    const coming = this.#encoding && this.#coders.decoder(this.#encoding, rate)
    if (coming?.rate === this.#at.rate) coming.close()
    else this.#coming = coming
  }

  close(): void {
    this.#leaveComing()
    this.#decoder?.close()
    this.#decoder = undefined
    this.#encoding = undefined
  }

  /** Returns whether its packets can be passed on as they come: in this codec, every 20 ms, and without a gain. */
  isRegular(encoding: Encoding): boolean {
    return this.#regular >= regularPackets && this.#gain.isPlain && this.#encoding === encoding
  }

  setGain(gain: number, nowMs: number): void {
    this.#gain.set(gain, nowMs)
  }

  /** Notes a sign of life other than speech. After a key press, packets are as regular as before it. */
  live(nowMs: number): void {
    this.#heardMs = nowMs
  }

  /** Takes a packet and returns its duration in 1/8000 s; 0 if it cannot be heard. */
  hear(packet: RtpPacket, encoding: Encoding, nowMs: number): number {
    if (encoding !== this.#encoding || (packet.ssrc | 0) !== this.#ssrc) this.#restart(packet, encoding)
    const samples = this.#decoder?.timeOf(packet.payload) ?? 0
    if (samples === 0 || samples > maxPacketSamples) return 0
    const isRegular = samples === frameSamples && nowMs - this.#heardMs < standstillMs
    this.#regular = isRegular ? this.#regular + 1 : 0
    this.#heardMs = nowMs
    this.#recent.keep(packet, samples)
    if (this.#isHeard && nowMs - this.#askedMs > unaskedMs) this.#stop()
    if (this.#isHeard) this.#buffer.put({ packet, samples }, nowMs)
    return samples
  }

  /** Returns the frame of this tick; undefined for silence. The same frame until the next tick. */
  frame(tick: number, nowMs: number): Frame | undefined {
    if (tick !== this.#lastTick) {
      // A tick was skipped, so no one listened in it.
      if (tick - this.#lastTick > 1) this.#stop()
      this.#lastTick = tick
      this.#askedMs = nowMs
      this.#take(nowMs)
    }
    return this.#quietFrames < idleFrames && !this.#gain.wasMuted ? this.#frame : undefined
  }

  /**
   * Returns the packets not heard yet, for a listener that passes packets on from now on. Undefined while part of a
   * packet is left over; the next frame then ends with a whole packet if possible.
   */
  handOver(nowMs: number): readonly Speech[] | undefined {
    if (nowMs - this.#heardMs >= standstillMs) return undefined
    if (!this.#isHeard) return []
    // Made-up sound can be joined only to decoded sound.
    if (this.#at.concealment.isMakingUp) return undefined
    this.#wantsWhole = this.#readySamples > 0
    return this.#wantsWhole ? undefined : this.#buffer.queued()
  }

  /** Listens to a far end whose packets were passed on until now. `isLastUnheard`: the last one was not passed on. */
  takeOver(tick: number, isLastUnheard: boolean): void {
    // Another listener reads it already.
    if (tick - this.#lastTick <= 1) return
    const unheard = isLastUnheard ? this.#recent.takeLast() : undefined
    this.#stop()
    this.#start(this.#heardMs)
    this.#lastTick = tick
    this.#askedMs = this.#heardMs
    if (unheard !== undefined) this.#buffer.put(unheard, this.#heardMs)
  }

  #restart({ ssrc }: RtpPacket, encoding: Encoding): void {
    this.#leaveComing()
    this.#become(this.#coders.decoder(encoding, this.#rate))
    this.#encoding = encoding
    this.#recent.restart(isLaw(encoding) ? recentPackets.law : recentPackets.adaptive)
    this.#ssrc = ssrc | 0
    this.#regular = 0
    this.#isAhead = false
    this.#buffer.restart(clockRateOf(encoding))
  }

  #leaveComing(): void {
    this.#coming?.close()
    this.#coming = undefined
  }

  #become(decoder: Decoder): void {
    this.#decoder?.close()
    this.#decoder = decoder
    if (decoder.rate === this.#at.rate) return
    this.#at = new Decoded(decoder.rate)
    this.#frame = this.#at.ownFrame
    this.#readySamples = 0
  }

  /**
   * Decodes the last packets again with another decoder, since its state depends on them. The part not yet heard
   * stays ready.
   */
  #change(decoder: Decoder): void {
    const waiting = new Set(this.#buffer.queued().map(({ packet }) => packet.timestamp))
    const leftOver = this.#readySamples / this.#at.perUnit
    const isOver = !this.#isHeard || this.#at.concealment.isSilent
    this.#become(decoder)
    if (isOver) return
    this.#readySamples = this.#at.recall(
      decoder,
      this.#recent.all().filter(({ packet }) => !waiting.has(packet.timestamp)),
      leftOver,
    )
  }

  #stop(): void {
    this.#isHeard = false
    this.#buffer.reset()
    this.#readySamples = 0
  }

  /** Begins for the first listener. Concealment continues from the speech just before. */
  #start(nowMs: number): void {
    this.#isHeard = true
    this.#at.concealment.forget()
    this.#gain.settle(nowMs - staleMs)
    if (nowMs - this.#heardMs > staleMs) this.#recent.restart()
    if (this.#decoder !== undefined) this.#at.recall(this.#decoder, this.#recent.all())
    this.#quietFrames = this.#recent.isEmpty ? idleFrames : 0
    this.#recent.restart()
  }

  #take(nowMs: number): void {
    if (this.#coming !== undefined) this.#change(this.#coming)
    this.#coming = undefined
    if (!this.#isHeard) this.#start(nowMs)
    const { frame, ready, readyFrame, ownFrame, other } = this.#at
    other.forget()
    this.#fillTo(frame, nowMs)
    const shortened = this.#shortened(nowMs)
    if (shortened === undefined && this.#readySamples === frame && this.#gain.isPlain) {
      this.#frame = readyFrame
      this.#readySamples = 0
      this.#gain.wasMuted = false
      return
    }
    this.#frame = ownFrame
    const used = shortened ?? this.#at.takeWhole()
    if (used < this.#readySamples) ready.copyWithin(0, used, this.#readySamples)
    this.#readySamples -= used
    this.#gain.apply(this.#at.own, this.#at.mixer)
  }

  #fillTo(wanted: number, nowMs: number): void {
    while (this.#readySamples < wanted) {
      const speech = this.#buffer.take(nowMs)
      if (speech === undefined) this.#conceal(wanted - this.#readySamples, nowMs)
      else this.#append(speech)
    }
  }

  #append({ packet, samples }: Speech): void {
    const { concealment, ready, perUnit } = this.#at
    this.#decoder?.decode(packet.payload, ready, this.#readySamples)
    concealment.hear(ready, this.#readySamples, samples * perUnit)
    this.#readySamples += samples * perUnit
    this.#quietFrames = 0
  }

  #conceal(wanted: number, nowMs: number): void {
    const { concealment, ready, perUnit } = this.#at
    const missing = this.#buffer.missing * perUnit
    const count = Math.max(perUnit, Math.min(wanted, missing))
    const at = this.#readySamples
    const next = missing <= count ? this.#buffer.next : undefined
    const isFirst = !concealment.isMakingUp
    // Before the first packet nothing is lost, and a decoder that conceals then is off for a while.
    const isLoss = this.#buffer.hasBegun
    if (isLoss && !concealment.isSilent && this.#decoder?.conceal?.(ready, at, count, next) === true)
      concealment.madeByCodec(ready, at, count)
    else concealment.fill(ready, at, count)
    if (!isLoss || !this.#isKeptAhead(isFirst, nowMs)) this.#buffer.makeUp(count / perUnit)
    this.#readySamples += count
    if (concealment.isSilent) this.#quietFrames += 1
  }

  /**
   * Returns whether the sound made up now is added to the delay, as if the packet were late. Done once: from then on
   * the packet after a lost one, which carries the lost one too, is there in time.
   */
  #isKeptAhead(isFirst: boolean, nowMs: number): boolean {
    if (this.#decoder?.conceal === undefined || this.#quietFrames >= idleFrames) return false
    this.#lossMs = nowMs
    const keeps = isFirst && !this.#isAhead && this.#buffer.next === undefined
    if (keeps) this.#isAhead = true
    return keeps
  }

  /** Leaves out up to a frame if the delay is larger than needed, or if the frame must end with a packet. */
  #shortened(nowMs: number): number | undefined {
    const { frame, own, ready, perUnit } = this.#at
    const leftOver = this.#readySamples - frame
    const isKept = this.#isAhead && nowMs - this.#lossMs < lossyMs
    const hasSpare = this.#buffer.hasSpare(leftOver / perUnit - (isKept ? frameSamples : 0))
    if (this.#wantsWhole && leftOver > 0 && leftOver <= frame) {
      this.#wantsWhole = false
      return shorten(ready, own, leftOver)
    }
    if (!hasSpare) return undefined
    const isThere = leftOver >= frame || (this.#buffer.missing <= 0 && this.#buffer.ahead >= frameSamples)
    if (!isThere) return undefined
    this.#fillTo(2 * frame, nowMs)
    const used = shorten(ready, own)
    this.#buffer.shortened((used - frame) / perUnit)
    if (!isKept) this.#isAhead = false
    return used
  }
}
