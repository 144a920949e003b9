// Admission of further sessions to a worker. While its ticks are late, owners that already hold their share of it
// are refused, and the others are admitted. Once it is so late that every call suffers, all are refused.
import type { WorkerLoad } from '../tick-clock.ts'

// A worker that is late in more than one tick of ten cannot take another call without harm to the others.
const lateShare = 0.1
const fullShare = 0.5
// With few sessions the machine itself is slow, and refusing calls would not help.
const alwaysAdmitted = 50

export class Places {
  readonly #held = new Map<string, number>()
  #taken = 0

  /**
   * Counts a session, from when it is being opened, until the returned function is called. One without an owner
   * counts for the platform.
   */
  take(owner: string | undefined): () => void {
    const holder = owner ?? platform
    this.#taken += 1
    this.#held.set(holder, this.#heldBy(holder) + 1)
    return () => {
      this.#taken -= 1
      const left = this.#heldBy(holder) - 1
      if (left > 0) this.#held.set(holder, left)
      else this.#held.delete(holder)
    }
  }

  /** Returns why this owner gets no place now, or undefined if it does. */
  refusal(owner: string | undefined, load: WorkerLoad): 'overloaded' | 'account_share' | undefined {
    if (this.#taken < alwaysAdmitted || load.lateShare <= lateShare) return undefined
    if (owner === undefined || load.lateShare > fullShare) return 'overloaded'
    const held = this.#heldBy(owner)
    return held > 0 && held >= this.#taken / this.#held.size ? 'account_share' : undefined
  }

  #heldBy(holder: string): number {
    return this.#held.get(holder) ?? 0
  }
}

// The sid of an account is never empty.
const platform = ''
