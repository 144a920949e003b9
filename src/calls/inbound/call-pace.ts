// The rate at which calls of one account may begin while the main thread is full. Each call is short work, so that
// calls in progress cannot be counted as an account's share; but calls that one account sends too fast delay those of
// all.
import type { Clock } from '../../lib/clock.ts'
import { AppError } from '../../lib/errors.ts'

const windowMs = 1000
/** An account counts as present if it has called within the last one or two of these periods. */
const othersMs = 10_000
/** The working share of the main thread above which incoming work begins to wait. */
const full = 0.85
/** No account is limited to fewer calls in a second than this. */
const fewest = 20

export interface CallPaceOptions {
  readonly clock: Pick<Clock, 'monotonic'>
  /** The most of the calls that begin that one account may have while others call, in percent. */
  readonly sharePercent: number
  /** Returns the working share of the main thread since the last call, from 0 to 1. */
  readonly load: () => number
}

export class CallPace {
  readonly #options: CallPaceOptions
  #windowAt = 0
  readonly #begun = new Map<string, number>()
  #total = 0
  /** The most calls of each account in this window, or undefined while the main thread keeps up. */
  #most: number | undefined
  #callersAt = 0
  #callers = new Set<string>()
  #formerCallers = new Set<string>()

  constructor(options: CallPaceOptions) {
    this.#options = options
  }

  /**
   * Counts a call that begins. Throws AppError account_share if others have the turn now; the call leaves nothing
   * behind.
   */
  enter(account_sid: string): void {
    const now = this.#options.clock.monotonic()
    if (now - this.#windowAt >= windowMs) this.#open(now)
    this.#callers.add(account_sid)
    const begun = this.#begun.get(account_sid) ?? 0
    if (this.#most !== undefined && begun >= this.#most && this.#hasOthers(account_sid))
      throw new AppError(
        'account_share',
        'the account begins more calls than its share while the node is full',
        { detail: { account_sid } },
      )
    this.#begun.set(account_sid, begun + 1)
    this.#total += 1
  }

  /**
   * Opens a window. The limit is a share of the calls that began in the window before: it falls until the node keeps up
   * again.
   */
  #open(now: number): void {
    const share = Math.floor((this.#total * this.#options.sharePercent) / 100)
    this.#most = this.#options.load() < full ? undefined : Math.max(fewest, share)
    this.#windowAt = now
    this.#begun.clear()
    this.#total = 0
    if (now - this.#callersAt < othersMs) return
    this.#formerCallers = now - this.#callersAt < 2 * othersMs ? this.#callers : new Set()
    this.#callers = new Set()
    this.#callersAt = now
  }

  #hasOthers(account_sid: string): boolean {
    return [this.#callers, this.#formerCallers].some(
      (accounts) => accounts.size > (accounts.has(account_sid) ? 1 : 0),
    )
  }
}
