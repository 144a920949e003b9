// Those who hear one session of this worker, and get its packets as they come.
import type { RtpPacket } from '../rtp/packet.ts'
import type { Passed } from '../sending.ts'
import type { Member } from './graph.ts'

export class Hearers {
  #all: readonly Member[] = []
  /** Where it is one, as in a bridge: looked at for each packet. */
  #only: Member | undefined

  set(all: readonly Member[]): void {
    this.#all = all
    this.#only = all.length === 1 ? all[0] : undefined
  }

  pass(session: string, packet: RtpPacket, passed: Passed): void {
    if (this.#only !== undefined) return this.#only.pass(session, packet, passed)
    // The memory of a packet can be sent to one only: what the kernel does not take at once is sent later.
    const shared = this.#all.length > 1 ? { ...packet, datagram: undefined } : packet
    for (const hearer of this.#all) hearer.pass(session, shared, passed)
  }
}
