// The time of the main thread that the answers and messages of accounts take. No account may take more than its part,
// over any number of calls.
import type { Clock } from '../clock.ts'
import { sleep } from '../clock.ts'
import { AppError } from '../errors.ts'

/** A fifth of the thread. An account whose calls fill a node takes a tenth with ordinary answers. */
const msPerSecond = 200
/** The time that an account may take at once after a rest. */
const burstMs = 400
/** Beyond this number, the account that was charged the longest time ago loses its state. */
const maxAccounts = 10_000

export interface ThreadTimeOptions {
  readonly clock: Clock
  /** Returns the time that work is measured by, in ms. */
  readonly measure?: () => number
}

export class ThreadTime {
  readonly #clock: Clock
  readonly #measure: () => number
  /** The time when each account will have paid for all its work, in order of use, the latest last. */
  readonly #paidAt = new Map<string, number>()
  #isMeasured = false

  constructor({ clock, measure = () => performance.now() }: ThreadTimeOptions) {
    this.#clock = clock
    this.#measure = measure
  }

  /** Runs synchronous work and charges its time to the account. Work within work is charged once. */
  charge<T>(account: string | undefined, work: () => T): T {
    if (account === undefined || this.#isMeasured) return work()
    this.#isMeasured = true
    const started = this.#measure()
    try {
      return work()
    } finally {
      this.#isMeasured = false
      this.#add(account, this.#measure() - started)
    }
  }

  /** Returns for how many ms no more may be done for the account. */
  waitMs(account: string): number {
    const owedMs = (this.#paidAt.get(account) ?? -Infinity) - this.#clock.monotonic()
    return Math.max(0, owedMs - (burstMs * 1000) / msPerSecond)
  }

  /**
   * Resolves when more may be done for the account. Throws AppError account_share if that takes longer than `maxMs`, and
   * the reason of the signal.
   */
  async turn(account: string, maxMs: number, signal?: AbortSignal): Promise<void> {
    for (let waitMs = this.waitMs(account); waitMs > 0; waitMs = this.waitMs(account)) {
      if (waitMs > maxMs)
        throw new AppError(
          'account_share',
          'the answers of the application take too long to read for this account',
        )
      await sleep(waitMs, this.#clock, signal)
      signal?.throwIfAborted()
    }
  }

  #add(account: string, ms: number): void {
    const now = this.#clock.monotonic()
    const paidAt = Math.max(this.#paidAt.get(account) ?? now, now) + (ms * 1000) / msPerSecond
    this.#paidAt.delete(account)
    this.#paidAt.set(account, paidAt)
    const [oldest] = this.#paidAt.keys()
    if (this.#paidAt.size > maxAccounts && oldest !== undefined) this.#paidAt.delete(oldest)
  }
}
