// The rate at which calls may begin while the main thread is full: those of all accounts together, since a thread that is
// late answers no message of running calls in time, and those of one account. Each call is short work, so that calls in
// progress cannot be counted as an account's share; but calls that one account sends too fast delay those of all.
import type { Clock } from '../../lib/clock.ts'
import { AppError } from '../../lib/errors.ts'
import { tooLate } from '../admission.ts'

const windowMs = 1000
/** An account counts as present if it has called within the last one or two of these periods. */
const othersMs = 10_000
/** The working share of the main thread above which incoming work begins to wait. */
const full = 0.85
/** The working share above which messages wait so long that far ends repeat them: at 96 % every ninth BYE was. */
const late = 0.95
/** The change of the calls that may begin in a second: quickly down while the thread is late, slowly up afterwards. */
const [fall, rise] = [0.8, 1.05]
/** Neither an account nor the node is limited to fewer calls in a second than this. */
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
  /** The most calls of all accounts in this window, or undefined while the main thread keeps up. */
  #mostOfAll: number | undefined
  #hasRefused = false
  /** The most calls of each account in this window, or undefined while the main thread keeps up. */
  #most: number | undefined
  #callersAt = 0
  #callers = new Set<string>()
  #formerCallers = new Set<string>()

  constructor(options: CallPaceOptions) {
    this.#options = options
  }

  /**
   * Counts a call that begins. Throws AppError overloaded if the main thread is late, account_share if others have the
   * turn now; the call leaves nothing behind.
   */
  enter(account_sid: string): void {
    this.demandTime()
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

  /** Throws AppError overloaded if the main thread is late and no more calls may begin now. */
  demandTime(): void {
    const now = this.#options.clock.monotonic()
    if (now - this.#windowAt >= windowMs) this.#open(now)
    if (this.#mostOfAll === undefined || this.#total < this.#mostOfAll) return
    this.#hasRefused = true
    throw tooLate()
  }

  /**
   * Opens a window. The limit is a share of the calls that began in the window before: it falls until the node keeps up
   * again.
   */
  #open(now: number): void {
    const share = Math.floor((this.#total * this.#options.sharePercent) / 100)
    const load = this.#options.load()
    this.#most = load < full ? undefined : Math.max(fewest, share)
    this.#mostOfAll = this.#nextMost(load)
    this.#hasRefused = false
    this.#windowAt = now
    this.#begun.clear()
    this.#total = 0
    if (now - this.#callersAt < othersMs) return
    this.#formerCallers = now - this.#callersAt < 2 * othersMs ? this.#callers : new Set()
    this.#callers = new Set()
    this.#callersAt = now
  }

  /** Without a limit as soon as the thread keeps up and no call was refused for that. */
  #nextMost(load: number): number | undefined {
    if (load >= late) return Math.max(fewest, Math.floor(this.#total * fall))
    return this.#mostOfAll === undefined || !this.#hasRefused ? undefined : Math.ceil(this.#mostOfAll * rise)
  }

  #hasOthers(account_sid: string): boolean {
    return [this.#callers, this.#formerCallers].some(
      (accounts) => accounts.size > (accounts.has(account_sid) ? 1 : 0),
    )
  }
}
