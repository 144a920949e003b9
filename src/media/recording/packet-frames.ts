// Places packets in the frames of a recording by their timestamps, counted from the frame in which the first one came.
import { frameSamples } from '../codecs/coders.ts'
import type { Encoding } from '../codecs/codecs.ts'
import { timestampDistance, type RtpPacket } from '../rtp/packet.ts'
import { earlyFrames, lateFrames } from './recording-ring.ts'

// A stall of the network ends within this time. Packets that stay too late for longer have another clock.
const stallMs = 200
// If all packets of 1 s are later than needed, they will stay so: the clocks drift, or the network path became longer.
const windowPackets = 50
const spareFrames = 2

export class PacketFrames {
  #isPlaced = false
  #encoding: Encoding | undefined
  #ssrc = 0
  #timestamp = 0
  #frame = 0
  #inTimeMs = 0
  #packets = 0
  #leastLate = Infinity

  /** Makes the next packet begin in the frame in which it comes. */
  leave(): void {
    this.#isPlaced = false
  }

  /** Returns the frame of a packet of 20 ms; undefined if it came too late for its own. `now` is the present frame. */
  of({ ssrc, timestamp }: RtpPacket, encoding: Encoding, now: number, nowMs: number): number | undefined {
    const units = timestampDistance(this.#timestamp, timestamp)
    const isSame = this.#isPlaced && (ssrc | 0) === this.#ssrc && encoding === this.#encoding
    if (!isSame || units % frameSamples !== 0) return this.#place({ ssrc, timestamp }, encoding, now, nowMs)
    let frame = this.#frame + units / frameSamples
    if (frame > now + earlyFrames) {
      // A clock faster than ours gains a frame now and then. A larger step is another clock.
      if (frame > now + 2 * earlyFrames) return this.#place({ ssrc, timestamp }, encoding, now, nowMs)
      frame = now + earlyFrames
    }
    if (frame < now - lateFrames) {
      if (units > 0 && nowMs - this.#inTimeMs > stallMs)
        return this.#place({ ssrc, timestamp }, encoding, now, nowMs)
      return undefined
    }
    this.#inTimeMs = nowMs
    frame += this.#drifted(now - frame)
    this.#timestamp = timestamp | 0
    this.#frame = frame
    return frame
  }

  #place(
    { ssrc, timestamp }: Pick<RtpPacket, 'ssrc' | 'timestamp'>,
    encoding: Encoding,
    now: number,
    nowMs: number,
  ): number {
    this.#isPlaced = true
    this.#encoding = encoding
    this.#ssrc = ssrc | 0
    this.#timestamp = timestamp | 0
    this.#frame = now
    this.#inTimeMs = nowMs
    this.#packets = 0
    this.#leastLate = Infinity
    return now
  }

  /** Returns the number of frames by which packets are moved later from now on. */
  #drifted(late: number): number {
    if (late < this.#leastLate) this.#leastLate = late
    this.#packets += 1
    if (this.#packets < windowPackets) return 0
    const least = this.#leastLate
    this.#packets = 0
    this.#leastLate = Infinity
    return least > spareFrames ? least : 0
  }
}
