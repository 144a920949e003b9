// A leaky bucket, kept as one point in time: some things begin immediately, and the others at a steady rate.
import type { Clock } from '../clock.ts'

export interface PaceOptions {
  /** The number that may begin immediately after a rest. */
  readonly burst: number
  readonly perSecond: number
  readonly clock: Pick<Clock, 'monotonic'>
}

export class Pace {
  readonly #options: PaceOptions
  /** The time when all would have begun at the steady rate. */
  #dueMs = -Infinity

  constructor(options: PaceOptions) {
    this.#options = options
  }

  /** Counts one more, or one that weighs as much as several, and returns the ms that it has to wait. */
  take(weight = 1): number {
    const { burst, perSecond, clock } = this.#options
    const now = clock.monotonic()
    const everyMs = 1000 / perSecond
    const dueMs = Math.max(this.#dueMs, now)
    this.#dueMs = dueMs + weight * everyMs
    return Math.max(0, this.#dueMs - burst * everyMs - now)
  }
}
