// The writer of a session's recording: G.711 packets as they come, and decoded or mixed samples in each tick.
import type { Ring } from '../../lib/audio/audio-ring.ts'
import type { Encoding } from '../codecs/codecs.ts'
import { frameSamples, isLaw } from '../codecs/coders.ts'
import type { RtpPacket } from '../rtp/packet.ts'
import { PacketFrames } from './packet-frames.ts'
import { RecordingRing, type Side } from './recording-ring.ts'

export class RecordingTap {
  readonly id: string
  readonly #ring: RecordingRing
  readonly #in = new PacketFrames()
  readonly #out = new PacketFrames()

  constructor({ id, memory }: Ring) {
    this.id = id
    this.#ring = new RecordingRing(memory)
    this.#ring.begin()
  }

  /** Returns whether it takes such packets; others must be decoded first. */
  takes({ payload }: RtpPacket, encoding: Encoding): boolean {
    return isLaw(encoding) && payload.length === frameSamples
  }

  put(side: Side, packet: RtpPacket, encoding: Encoding, nowMs: number): void {
    if (!isLaw(encoding)) return
    const frame = (side === 'in' ? this.#in : this.#out).of(packet, encoding, this.#ring.now, nowMs)
    if (frame !== undefined) this.#ring.putPacket(frame, side, encoding, packet.payload)
  }

  /** Writes a side that does not come in packets, in each tick; undefined is silence. */
  putSamples(side: Side, samples: Int16Array | undefined): void {
    ;(side === 'in' ? this.#in : this.#out).leave()
    this.#ring.putSamples(side, samples)
  }

  /** Ends the frame of the tick. */
  next(): void {
    this.#ring.next()
  }
}
