// A pool that many draw from. What one of them may hold is a share of what is free: the fuller the pool, the less, so
// that a few who take all they can leave room for the next one who asks.

export interface Claim {
  /** What is free in the pool before the claim is granted. */
  readonly free: number
  /** By the holder, before the claim is granted. */
  readonly held: number
  readonly units: number
  readonly share: number
}

/** Whether a holder may take this many units more; the first is given to everyone while there is one. */
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
   * Whether `holder` may take this many units more. With a share of 1 one holder gets half of the pool and two get a third
   * each; with 1/16 one gets a seventeenth. The first unit is given to everyone while there is one.
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
