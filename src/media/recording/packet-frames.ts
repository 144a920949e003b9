// Which frame of a recording a packet belongs to: by its timestamp, from the frame on in which the first one came.
import { frameSamples } from '../codecs/coders.ts'
import type { Encoding } from '../codecs/codecs.ts'
import { timestampDistance } from '../rtp/packet.ts'
import type { RtpPacket } from '../rtp/packet.ts'
import { earlyFrames, lateFrames } from './recording-ring.ts'

// A stall of the network ends within this; what is too late for longer has another clock.
const stallMs = 200
// Packets that are all later than needed for so long, 1 s of them, will stay so: the clocks drift, or the way became longer.
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

  /** What follows begins with the frame in which it comes. */
  leave(): void {
    this.#isPlaced = false
  }

  /** The frame of a packet of 20 ms; undefined: it came too late for its own. `now`: the frame that is heard now. */
  of({ ssrc, timestamp }: RtpPacket, encoding: Encoding, now: number, nowMs: number): number | undefined {
    const units = timestampDistance(this.#timestamp, timestamp)
    const isSame = this.#isPlaced && (ssrc | 0) === this.#ssrc && encoding === this.#encoding
    if (!isSame || units % frameSamples !== 0) return this.#place({ ssrc, timestamp }, encoding, now, nowMs)
    let frame = this.#frame + units / frameSamples
    if (frame > now + earlyFrames) {
      // A clock that is faster than ours gains a frame now and then; one that jumps is another one.
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

  /** By how many frames what comes from now on is put later. */
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
