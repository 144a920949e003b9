// A decoded voice: the samples to be heard next, and everything else that depends on their rate.
import type { Rate } from '../codecs/codecs.ts'
import { frameSamples, frameSamplesAt, type Decoder } from '../codecs/coders.ts'
import { OtherRate, SampleFrame } from '../frames/frame.ts'
import { Mixer } from '../frames/mixer.ts'
import { Concealment } from './concealment.ts'
import type { Speech } from './jitter-buffer.ts'

/** 150 ms, the longest packet that our SDP accepts. */
export const maxPacketSamples = 1200

export class Decoded {
  readonly rate: Rate
  /** The samples of a frame, and of 1/8000 s. */
  readonly frame: number
  readonly perUnit: number
  readonly concealment: Concealment
  /** Room for a packet after the two frames that shortening uses. */
  readonly ready: Int16Array
  readonly mixer: Mixer
  readonly own: Int16Array
  readonly ownFrame: SampleFrame
  /** A view of `ready`: a packet of exactly one frame is heard without a copy. */
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

  /** Copies the next frame out of `ready` unchanged and returns its length. */
  takeWhole(): number {
    // A loop, since creating a view for each frame costs more than copying its samples.
    for (let index = 0; index < this.frame; index += 1) this.own[index] = this.ready[index] ?? 0
    return this.frame
  }

  /**
   * Decodes the packets that were heard last, to continue from them. `leftOver`, in 1/8000 s, is the end of the last
   * one that was not heard yet. Returns the number of samples of it that are ready.
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
