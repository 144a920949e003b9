// A pool that many holders draw from. One holder may have a share of the free units: the fuller the pool, the fewer. So
// a few holders that take all they can leave room for the next one.

export interface Claim {
  /** The free units before the claim is granted. */
  readonly free: number
  /** The units of the holder before the claim is granted. */
  readonly held: number
  readonly units: number
  readonly share: number
}

/** Reports whether a holder may take this many more units. Every holder gets the first unit while one is free. */
export function isWithinShare({ free, held, units, share }: Claim): boolean {
  return units <= free && (held === 0 || held + units <= free * share)
}

export class Shares {
  readonly #capacity: number
  readonly #held = new Map<string, number>()
  #used = 0

  constructor(capacity: number) {
    this.#capacity = capacity
  }

  get used(): number {
    return this.#used
  }

  /**
   * Reports whether `holder` may take this many more units. With a share of 1, one holder gets half of the pool and two
   * get a third each; with 1/16, one gets a seventeenth. Every holder gets the first unit while one is free.
   */
  mayTake(holder: string, share: number, units = 1): boolean {
    const free = this.#capacity - this.#used
    const held = this.#held.get(holder) ?? 0
    return isWithinShare({ free, held, units, share })
  }

  holds(holder: string): boolean {
    return this.#held.has(holder)
  }

  take(holder: string, units = 1): void {
    this.#used += units
    this.#held.set(holder, (this.#held.get(holder) ?? 0) + units)
  }

  give(holder: string, units = 1): void {
    this.#used -= units
    const left = (this.#held.get(holder) ?? 0) - units
    if (left > 0) this.#held.set(holder, left)
    else this.#held.delete(holder)
  }
}
