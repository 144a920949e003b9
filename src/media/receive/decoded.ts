// A voice once it is decoded: what is heard of it next, and all that depends on the rate of its samples.
import type { Rate } from '../codecs/codecs.ts'
import { frameSamples, frameSamplesAt } from '../codecs/coders.ts'
import type { Decoder } from '../codecs/coders.ts'
import { OtherRate, SampleFrame } from '../graph/frame.ts'
import { Mixer } from '../graph/mixer.ts'
import { Concealment } from './concealment.ts'
import type { Speech } from './jitter-buffer.ts'

/** Our SDP takes packets of up to 150 ms. */
export const maxPacketSamples = 1200

export class Decoded {
  readonly rate: Rate
  /** Samples of a frame, and in 1/8000 s. */
  readonly frame: number
  readonly perUnit: number
  readonly concealment: Concealment
  /** One packet behind what shortening looks at. */
  readonly ready: Int16Array
  readonly mixer: Mixer
  readonly own: Int16Array
  readonly ownFrame: SampleFrame
  /** A packet that is a frame is heard where it was decoded. */
  readonly readyFrame: SampleFrame
  readonly other: OtherRate

  constructor(rate: Rate) {
    this.rate = rate
    this.frame = frameSamplesAt(rate)
    this.perUnit = rate / 8000
    this.concealment = new Concealment(rate)
    this.ready = new Int16Array((maxPacketSamples + 2 * frameSamples) * this.perUnit)
    this.mixer = new Mixer(rate)
    this.own = new Int16Array(this.frame)
    this.other = new OtherRate(rate)
    this.ownFrame = new SampleFrame(this.own, rate, this.other)
    this.readyFrame = new SampleFrame(this.ready.subarray(0, this.frame), rate, this.other)
  }

  /** The next frame of what is ready as it is; returns its length. */
  takeWhole(): number {
    // A loop, since a view for each frame costs more than its samples.
    for (let index = 0; index < this.frame; index += 1) this.own[index] = this.ready[index] ?? 0
    return this.frame
  }

  /**
   * Goes on from what was heard before; `leftOver`, in 1/8000 s, is still to be heard of the last of it. Returns how many samples
   * of that are ready.
   */
  recall(decoder: Decoder, heard: readonly Speech[], leftOver = 0): number {
    let decoded = 0
    for (const { packet, samples } of heard) {
      decoded = samples * this.perUnit
      decoder.decode(packet.payload, this.ready, 0)
      this.concealment.hear(this.ready, 0, decoded)
    }
    const ready = Math.min(decoded, leftOver * this.perUnit)
    this.ready.copyWithin(0, decoded - ready, decoded)
    return ready
  }
}
