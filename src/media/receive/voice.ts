// The voice of one far end as frames of 20 ms, whatever the length and the rhythm of its packets: buffered, decoded, with
// gaps concealed. Costs next to nothing while no one listens.
import { clockRateOf } from '../codecs/codecs.ts'
import type { Encoding, Rate } from '../codecs/codecs.ts'
import { frameSamples, isLaw } from '../codecs/coders.ts'
import type { Coders, Decoder } from '../codecs/coders.ts'
import type { Frame, SampleFrame } from '../graph/frame.ts'
import type { RtpPacket } from '../rtp/packet.ts'
import { Decoded, maxPacketSamples } from './decoded.ts'
import { Gain } from './gain.ts'
import { JitterBuffer } from './jitter-buffer.ts'
import type { Speech } from './jitter-buffer.ts'
import { RecentPackets } from './recent-packets.ts'
import { shorten } from './shorten.ts'

// Kept while no one listens, so that a listener who comes hears no hole; more of a codec whose sound depends on what came before:
// a decoder that begins 60 ms before is 10 dB off, one that begins 200 ms before is not.
const recentPackets = { law: 3, adaptive: 10 } as const
// A far end that paused for longer is not in its rhythm again at once.
const standstillMs = 200
// What was said before that is nothing to go on from.
const staleMs = 60
// One who has not asked for a frame for so long has left, or gets the packets as they come: nothing may pile up for them.
const unaskedMs = 200
// This many packets of 20 ms in a row are a rhythm.
const regularPackets = 5
// 300 ms without anything heard is the end of a voice, until it is heard again.
const idleFrames = 15
// So long after a loss one packet more is kept waiting, where it tells what the lost one before it was like.
const lossyMs = 10_000

export class Voice {
  // What is looked at for each packet comes first, and lies together in memory.
  #encoding: Encoding | undefined
  /** In 32 bits. */
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
  /** Takes over with the next frame: at another rate. */
  #coming: Decoder | undefined
  #at: Decoded
  #frame: SampleFrame
  #readySamples = 0
  #lastTick = -1
  #askedMs = 0
  #quietFrames = idleFrames
  #wantsWhole = false
  #lossMs = -Infinity
  /** One packet more than the network needs is waiting. */
  #isAhead = false

  /** `rate`: that it is heard at, where a codec could do better. */
  constructor(coders: Coders, rate: Rate = 16_000) {
    this.#coders = coders
    this.#rate = rate
    this.#at = new Decoded(8000)
    this.#frame = this.#at.ownFrame
  }

  /** That it is heard at, where its codec has it. */
  get rate(): Rate {
    return this.#rate
  }

  /** From the next frame on, in which it goes on. */
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

  /** Whether its packets can be passed on as they come: in this codec, in the rhythm of 20 ms, as loud as they are. */
  isRegular(encoding: Encoding): boolean {
    return this.#regular >= regularPackets && this.#gain.isPlain && this.#encoding === encoding
  }

  setGain(gain: number, nowMs: number): void {
    this.#gain.set(gain, nowMs)
  }

  /** A sign of life that is no speech: a key is pressed, and what follows is in the rhythm of before. */
  live(nowMs: number): void {
    this.#heardMs = nowMs
  }

  /** Returns how much time the packet holds, in 1/8000 s; 0 when it is none that can be heard. */
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

  /** The frame of this tick; undefined: there is nothing but silence. The same one until the next tick. */
  frame(tick: number, nowMs: number): Frame | undefined {
    if (tick !== this.#lastTick) {
      // A tick was left out: no one listened.
      if (tick - this.#lastTick > 1) this.#stop()
      this.#lastTick = tick
      this.#askedMs = nowMs
      this.#take(nowMs)
    }
    return this.#quietFrames < idleFrames && !this.#gain.wasMuted ? this.#frame : undefined
  }

  /**
   * For one who passes packets on as they come from now on: those that were not heard yet. Undefined while a part of one
   * is left over; the next frame then ends with a whole packet, where it can.
   */
  handOver(nowMs: number): readonly Speech[] | undefined {
    if (nowMs - this.#heardMs >= standstillMs) return undefined
    if (!this.#isHeard) return []
    // What is made up joins only what is decoded.
    if (this.#at.concealment.isMakingUp) return undefined
    this.#wantsWhole = this.#readySamples > 0
    return this.#wantsWhole ? undefined : this.#buffer.queued()
  }

  /** Whose packets were passed on until this tick is listened to from now on; the last one may not have been passed on. */
  takeOver(tick: number, isLastUnheard: boolean): void {
    // Another one listens already.
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

  /** What was heard last is decoded once more, since a decoder depends on that; what is left over of it is still to be heard. */
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

  /** The first listener comes: what was said just before is where concealment goes on from. */
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
    // Before the first packet nothing is lost, and a decoder that makes something up is off for a while.
    const isLoss = this.#buffer.hasBegun
    if (isLoss && !concealment.isSilent && this.#decoder?.conceal?.(ready, at, count, next) === true)
      concealment.madeByCodec(ready, at, count)
    else concealment.fill(ready, at, count)
    if (!isLoss || !this.#isKeptAhead(isFirst, nowMs)) this.#buffer.makeUp(count / perUnit)
    this.#readySamples += count
    if (concealment.isSilent) this.#quietFrames += 1
  }

  /**
   * Whether what was made up now is added to the delay, as if the packet were late: once, so that from then on the packet after
   * a lost one is there in time, which carries the lost one too.
   */
  #isKeptAhead(isFirst: boolean, nowMs: number): boolean {
    if (this.#decoder?.conceal === undefined || this.#quietFrames >= idleFrames) return false
    this.#lossMs = nowMs
    const keeps = isFirst && !this.#isAhead && this.#buffer.next === undefined
    if (keeps) this.#isAhead = true
    return keeps
  }

  /** Leaves out up to a frame when there is more delay than needed, or when the end must be that of a packet. */
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
