// The listeners of one session: sessions of this worker, which get its packets as they come, and other workers, by
// rings.
import { AudioRing, type Ring } from '../../lib/audio/audio-ring.ts'
import type { RtpPacket } from '../rtp/packet.ts'
import type { Passed } from './relay.ts'
import type { Frame } from '../frames/frame.ts'
import type { Member } from './graph.ts'

const none: readonly AudioRing[] = []

export class Hearers {
  #all: readonly Member[] = []
  /** The only listener, as in a bridge. Kept apart, since it is needed for each packet. */
  #only: Member | undefined
  #rings = none

  set(all: readonly Member[]): void {
    this.#all = all
    this.#only = all.length === 1 ? all[0] : undefined
  }

  setRings(rings: readonly Ring[]): void {
    this.#rings = rings.length === 0 ? none : rings.map(({ memory }) => new AudioRing(memory))
  }

  /** Whether other workers listen. */
  get areElsewhere(): boolean {
    return this.#rings !== none
  }

  /** Writes a frame for other workers, wide in those rings where a listener wants that. */
  write(frame: Frame | undefined): void {
    for (const ring of this.#rings) ring.write(frame?.samples(ring.isWholeWanted ? frame.rate : 8000))
  }

  pass(session: string, packet: RtpPacket, passed: Passed): void {
    if (this.#only !== undefined) return this.#only.pass(session, packet, passed)
    // The memory of a packet can be sent to only one listener: the kernel may send it later than the call returns.
    const shared = this.#all.length > 1 ? { ...packet, datagram: undefined } : packet
    for (const hearer of this.#all) hearer.pass(session, shared, passed)
  }
}
