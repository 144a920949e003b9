// The voice of one far end as frames of 20 ms, whatever the length and the rhythm of its packets: buffered, decoded, with
// gaps concealed. Costs next to nothing while no one listens.
import type { Encoding } from '../codecs/codecs.ts'
import { frameSamples } from '../codecs/coders.ts'
import type { Coder, Coders } from '../codecs/coders.ts'
import { SampleFrame } from '../graph/frame.ts'
import type { Frame } from '../graph/frame.ts'
import { Mixer } from '../graph/mixer.ts'
import type { RtpPacket } from '../rtp/packet.ts'
import { Concealment } from './concealment.ts'
import { JitterBuffer } from './jitter-buffer.ts'
import type { Speech } from './jitter-buffer.ts'
import { shorten, shortenedFrom } from './shorten.ts'

// Our SDP takes packets of up to 150 ms.
const maxPacketSamples = 1200
// One behind what shortening looks at.
const maxReady = maxPacketSamples + 2 * frameSamples
// Kept while no one listens, so that a listener who comes hears no hole.
const recentPackets = 3
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

export class Voice {
  readonly #coders: Coders
  readonly #buffer = new JitterBuffer()
  readonly #concealment = new Concealment()
  readonly #ready = new Int16Array(maxReady)
  readonly #mixer = new Mixer()
  readonly #own = new Int16Array(frameSamples)
  readonly #ownFrame = new SampleFrame(this.#own)
  /** A packet that is a frame is heard where it was decoded. */
  readonly #readyFrame = new SampleFrame(this.#ready.subarray(0, frameSamples))
  #frame = this.#ownFrame
  #readySamples = 0
  #recent: Speech[] = []
  #encoding: Encoding | undefined
  #coder: Coder | undefined
  #ssrc: number | undefined
  #heardMs = 0
  #regular = 0
  #lastTick = -1
  #askedMs = 0
  #isHeard = false
  #quietFrames = idleFrames
  #gain = { now: 1, next: 1 }
  #gainMs = 0
  #wantsWhole = false
  /** Throughout the frame. */
  #wasMuted = false

  constructor(coders: Coders) {
    this.#coders = coders
  }

  /** Whether its packets can be passed on as they come: in this codec, in the rhythm of 20 ms, as loud as they are. */
  isRegular(encoding: Encoding): boolean {
    return this.#regular >= regularPackets && this.#isPlain && this.#encoding === encoding
  }

  get #isPlain(): boolean {
    return this.#gain.now === 1 && this.#gain.next === 1
  }

  setGain(gain: number, nowMs: number): void {
    if (gain === this.#gain.next) return
    this.#gain.next = gain
    this.#gainMs = nowMs
  }

  /** A sign of life that is no speech: a key is pressed, and what follows is in the rhythm of before. */
  live(nowMs: number): void {
    this.#heardMs = nowMs
  }

  /** Returns how many samples the packet holds; 0 when it is none that can be heard. */
  hear(packet: RtpPacket, encoding: Encoding, nowMs: number): number {
    if (encoding !== this.#encoding || packet.ssrc !== this.#ssrc) this.#restart(packet, encoding)
    const samples = this.#coder?.samplesOf(packet.payload) ?? 0
    if (samples === 0 || samples > maxPacketSamples) return 0
    const isRegular = samples === frameSamples && nowMs - this.#heardMs < standstillMs
    this.#regular = isRegular ? this.#regular + 1 : 0
    this.#heardMs = nowMs
    const speech = { packet, samples }
    this.#recent.push(speech)
    if (this.#recent.length > recentPackets) this.#recent.shift()
    if (this.#isHeard && nowMs - this.#askedMs > unaskedMs) this.#stop()
    if (this.#isHeard) this.#buffer.put(speech, nowMs)
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
    return this.#quietFrames < idleFrames && !this.#wasMuted ? this.#frame : undefined
  }

  /**
   * For one who passes packets on as they come from now on: those that were not heard yet. Undefined while a part of one
   * is left over; the next frame then ends with a whole packet, where it can.
   */
  handOver(nowMs: number): readonly Speech[] | undefined {
    if (nowMs - this.#heardMs >= standstillMs) return undefined
    if (!this.#isHeard) return []
    // What is made up joins only what is decoded.
    if (this.#concealment.isMakingUp) return undefined
    this.#wantsWhole = this.#readySamples > 0
    return this.#wantsWhole ? undefined : this.#buffer.queued()
  }

  /** Whose packets were passed on until this tick is listened to from now on; the last one may not have been passed on. */
  takeOver(tick: number, isLastUnheard: boolean): void {
    // Another one listens already.
    if (tick - this.#lastTick <= 1) return
    const unheard = isLastUnheard ? this.#recent.pop() : undefined
    this.#stop()
    this.#start(this.#heardMs)
    this.#lastTick = tick
    this.#askedMs = this.#heardMs
    if (unheard !== undefined) this.#buffer.put(unheard, this.#heardMs)
  }

  #restart({ ssrc }: RtpPacket, encoding: Encoding): void {
    this.#coder = this.#coders[encoding]()
    this.#encoding = encoding
    this.#ssrc = ssrc
    this.#recent = []
    this.#regular = 0
    this.#buffer.reset()
  }

  #stop(): void {
    this.#isHeard = false
    this.#buffer.reset()
    this.#readySamples = 0
  }

  /** The first listener comes: what was said just before is where concealment goes on from. */
  #start(nowMs: number): void {
    this.#isHeard = true
    this.#concealment.forget()
    // A gain that is as old as that was not a change for anyone who listens.
    if (nowMs - this.#gainMs > staleMs) this.#gain.now = this.#gain.next
    if (nowMs - this.#heardMs > staleMs) this.#recent = []
    for (const { packet, samples } of this.#recent) {
      this.#coder?.decode(packet.payload, this.#ready, 0)
      this.#concealment.hear(this.#ready, 0, samples)
    }
    this.#quietFrames = this.#recent.length === 0 ? idleFrames : 0
    this.#recent = []
  }

  #take(nowMs: number): void {
    if (!this.#isHeard) this.#start(nowMs)
    this.#fillTo(frameSamples, nowMs)
    const shortened = this.#shortened(nowMs)
    if (shortened === undefined && this.#readySamples === frameSamples && this.#isPlain) {
      this.#frame = this.#readyFrame
      this.#readySamples = 0
      this.#wasMuted = false
      return
    }
    this.#frame = this.#ownFrame
    const used = shortened ?? this.#whole()
    if (used < this.#readySamples) this.#ready.copyWithin(0, used, this.#readySamples)
    this.#readySamples -= used
    this.#applyGain()
  }

  #fillTo(wanted: number, nowMs: number): void {
    while (this.#readySamples < wanted) {
      const speech = this.#buffer.take(nowMs)
      if (speech !== undefined) this.#append(speech)
      else this.#conceal(Math.min(wanted - this.#readySamples, this.#buffer.missing))
    }
  }

  #append({ packet, samples }: Speech): void {
    this.#coder?.decode(packet.payload, this.#ready, this.#readySamples)
    this.#concealment.hear(this.#ready, this.#readySamples, samples)
    this.#readySamples += samples
    this.#quietFrames = 0
  }

  #conceal(samples: number): void {
    const count = Math.max(1, samples)
    this.#concealment.fill(this.#ready, this.#readySamples, count)
    this.#buffer.makeUp(count)
    this.#readySamples += count
    if (this.#concealment.isSilent) this.#quietFrames += 1
  }

  #whole(): number {
    // A loop, since a view for each frame costs more than its samples.
    for (let index = 0; index < frameSamples; index += 1) this.#own[index] = this.#ready[index] ?? 0
    return frameSamples
  }

  /** Leaves out up to a frame when there is more delay than needed, or when the end must be that of a packet. */
  #shortened(nowMs: number): number | undefined {
    const leftOver = this.#readySamples - frameSamples
    const hasSpare = this.#buffer.hasSpare(leftOver)
    if (this.#wantsWhole && leftOver > 0 && leftOver <= frameSamples) {
      this.#wantsWhole = false
      return shorten(this.#ready, this.#own, leftOver)
    }
    if (!hasSpare) return undefined
    const isThere =
      leftOver >= frameSamples || (this.#buffer.missing <= 0 && this.#buffer.ahead >= frameSamples)
    if (!isThere) return undefined
    this.#fillTo(shortenedFrom, nowMs)
    const used = shorten(this.#ready, this.#own)
    this.#buffer.shortened(used - frameSamples)
    return used
  }

  #applyGain(): void {
    const { now, next } = this.#gain
    this.#wasMuted = now === 0 && next === 0
    if (this.#isPlain || this.#wasMuted) return
    this.#mixer.begin()
    this.#mixer.add(this.#own, now, next)
    this.#own.set(this.#mixer.end())
    this.#gain.now = next
  }
}
