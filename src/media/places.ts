// Who may take one more session of a worker. While its ticks are late, those who hold their part of it already are refused,
// and the others go on; once it is so late that everybody hears it, all are.
import type { WorkerLoad } from './messages.ts'

// A worker that is late in more than one tick of ten cannot take a call more without a cost to the others.
const lateShare = 0.1
const fullShare = 0.5
// With few sessions it is the machine that is slow, and refusing calls would not help.
const alwaysAdmitted = 50

export class Places {
  readonly #held = new Map<string, number>()
  #taken = 0

  /** Counts a session, one that is still being opened too, until the returned function is called. Without an owner it has no part. */
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

  /** Why this owner may take no place now, or undefined. */
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

// No sid of an account is empty.
const platform = ''
