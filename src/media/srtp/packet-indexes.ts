// The index of each packet of a stream, and the indexes received already: RFC 3711 §3.3.1 (with appendix A) and
// §3.3.2. A packet carries only the lowest 16 bits of its index.

export const windowPackets = 64
const sequenceRange = 65_536

export class PacketIndexes {
  #highest = -1
  readonly #seen = new Float64Array(windowPackets).fill(-1)

  /** The index of the newest packet; -1 before the first. */
  get highest(): number {
    return this.#highest
  }

  /** Returns whether a packet with this index was received, or may have been because it is too old. */
  has(index: number): boolean {
    return index <= this.#highest - windowPackets || this.#seen[index % windowPackets] === index
  }

  add(index: number): void {
    this.#seen[index % windowPackets] = index
    if (index > this.#highest) this.#highest = index
  }

  /** Returns the index nearest to that of the newest packet; negative if it is before the first rollover. */
  of(sequence: number): number {
    if (this.#highest < 0) return sequence
    return this.#highest + ((((sequence - this.#highest) & 0xffff) << 16) >> 16)
  }
}

/** Returns the rollover counter of the index. */
export function rolloverOf(index: number): number {
  return Math.floor(index / sequenceRange)
}

/**
 * The indexes by SSRC: RFC 3711 §3.2.3. Limited, since a source that names any number of SSRCs must not use any
 * amount of memory.
 */
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

  /** Adds a source. If there are too many, it replaces the oldest one. */
  add(ssrc: number): PacketIndexes {
    const [oldest] = this.#sources.keys()
    if (this.isFull && oldest !== undefined) this.#sources.delete(oldest)
    const indexes = new PacketIndexes()
    this.#sources.set(ssrc, indexes)
    return indexes
  }
}
