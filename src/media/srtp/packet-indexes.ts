// The index of each packet of a stream, of which it carries only the lowest 16 bits, and which of them were there already: RFC 3711
// §3.3.1 (with appendix A) and §3.3.2.

export const windowPackets = 64
const sequenceRange = 65_536

export class PacketIndexes {
  #highest = -1
  readonly #seen = new Float64Array(windowPackets).fill(-1)

  /** That of the newest packet; -1 before the first. */
  get highest(): number {
    return this.#highest
  }

  /** Whether a packet with this index was there, or is too old to tell. */
  has(index: number): boolean {
    return index <= this.#highest - windowPackets || this.#seen[index % windowPackets] === index
  }

  add(index: number): void {
    this.#seen[index % windowPackets] = index
    if (index > this.#highest) this.#highest = index
  }

  /** The one that is nearest to the newest packet; negative for one of before the first rollover counter. */
  of(sequence: number): number {
    if (this.#highest < 0) return sequence
    return this.#highest + ((((sequence - this.#highest) & 0xffff) << 16) >> 16)
  }
}

/** How often the sequence numbers began again before this packet. */
export function rolloverOf(index: number): number {
  return Math.floor(index / sequenceRange)
}

/** By SSRC, as RFC 3711 §3.2.3 has it. A source that could name any number of them must not take any amount of memory. */
export class IndexesBySource {
  readonly #max: number
  readonly #sources = new Map<number, PacketIndexes>()

  constructor(max: number) {
    this.#max = max
  }

  get isFull(): boolean {
    return this.#sources.size >= this.#max
  }

  get(ssrc: number): PacketIndexes | undefined {
    return this.#sources.get(ssrc)
  }

  /** In place of the one that came first, where there are too many. */
  add(ssrc: number): PacketIndexes {
    const [oldest] = this.#sources.keys()
    if (this.isFull && oldest !== undefined) this.#sources.delete(oldest)
    const indexes = new PacketIndexes()
    this.#sources.set(ssrc, indexes)
    return indexes
  }
}
