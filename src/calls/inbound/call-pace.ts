// How many calls of one account may begin in a second while the main thread is full. Each call is short work, so none is ever in
// progress long enough to be counted as a share; what one account sends too fast is late for all of them.
import type { Clock } from '../../lib/clock.ts'
import { AppError } from '../../lib/errors.ts'

const windowMs = 1000
/** Others are there when they have called within the last one or two of these. */
const othersMs = 10_000
/** How much of its time the main thread works: beyond it, what comes in begins to wait. */
const full = 0.85
/** No account is held to fewer calls in a second. */
const fewest = 20

export interface CallPaceOptions {
  readonly clock: Pick<Clock, 'monotonic'>
  /** The most of what begins that one account may have while others call, in percent. */
  readonly sharePercent: number
  /** How much of its time the main thread has worked since it was asked last, from 0 to 1. */
  readonly load: () => number
}

export class CallPace {
  readonly #options: CallPaceOptions
  #windowAt = 0
  readonly #begun = new Map<string, number>()
  #total = 0
  /** Of each account, in this window; undefined while the main thread keeps up. */
  #most: number | undefined
  #callersAt = 0
  #callers = new Set<string>()
  #formerCallers = new Set<string>()

  constructor(options: CallPaceOptions) {
    this.#options = options
  }

  /** Counts a call that begins. Throws AppError account_share where it is for others now; nothing is kept of it. */
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

  /** What an account may have is a part of what the node could begin in the window before: less, until it keeps up again. */
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
