// Lets a number of things begin at once, and the others at a steady rate: a leaky bucket, kept as one point in time.
import type { Clock } from './clock.ts'

export interface PaceOptions {
  /** How many may begin at once after a rest. */
  readonly burst: number
  readonly perSecond: number
  readonly clock: Pick<Clock, 'monotonic'>
}

export class Pace {
  readonly #options: PaceOptions
  /** When all that has begun would have begun at the steady rate. */
  #dueMs = -Infinity

  constructor(options: PaceOptions) {
    this.#options = options
  }

  /** Counts one more, or one that weighs as much as several, and returns how many ms it has to wait. */
  take(weight = 1): number {
    const { burst, perSecond, clock } = this.#options
    const now = clock.monotonic()
    const everyMs = 1000 / perSecond
    const dueMs = Math.max(this.#dueMs, now)
    this.#dueMs = dueMs + weight * everyMs
    return Math.max(0, this.#dueMs - burst * everyMs - now)
  }
}
