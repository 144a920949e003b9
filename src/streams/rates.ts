// The sample rates that a server names. The filter for one takes up to ten milliseconds of the thread of all streams.

// A rate that was not used lately counts like half a second of data.
const bytesOfNew = 256 * 1024
const maxKept = 4

export class Rates {
  readonly #kept = new Set<number>()

  /** Returns the bytes of data that the rate counts as. */
  bytesOf(rate: number): number {
    if (this.#kept.has(rate)) return 0
    if (this.#kept.size >= maxKept) this.#kept.clear()
    this.#kept.add(rate)
    return bytesOfNew
  }
}
