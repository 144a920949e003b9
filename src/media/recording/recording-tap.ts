// What a recording is given of one session: packets of G.711 as they come, and what is decoded or mixed on the beat.
import type { Ring } from '../../lib/audio-ring.ts'
import type { Encoding } from '../codecs/codecs.ts'
import { frameSamples, isLaw } from '../codecs/coders.ts'
import type { RtpPacket } from '../rtp/packet.ts'
import { PacketFrames } from './packet-frames.ts'
import { RecordingRing } from './recording-ring.ts'
import type { Side } from './recording-ring.ts'

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

  /** Whether it takes such packets; others are to be decoded first. */
  takes({ payload }: RtpPacket, encoding: Encoding): boolean {
    return isLaw(encoding) && payload.length === frameSamples
  }

  put(side: Side, packet: RtpPacket, encoding: Encoding, nowMs: number): void {
    if (!isLaw(encoding)) return
    const frame = (side === 'in' ? this.#in : this.#out).of(packet, encoding, this.#ring.now, nowMs)
    if (frame !== undefined) this.#ring.putPacket(frame, side, encoding, packet.payload)
  }

  /** What is heard in this tick of a side that does not come in packets; undefined: silence. */
  putSamples(side: Side, samples: Int16Array | undefined): void {
    ;(side === 'in' ? this.#in : this.#out).leave()
    this.#ring.putSamples(side, samples)
  }

  /** The tick is over. */
  next(): void {
    this.#ring.next()
  }
}
