// The time of the main thread that the answers and messages of accounts take. No account may take more than its part,
// over any number of calls, and none takes more than some milliseconds between two other events.
import { sleep, type Clock, type Timer } from '../clock.ts'
import { AppError } from '../errors.ts'
import { FairLine } from './fair-line.ts'

/** A fifth of the thread. An account whose calls fill a node takes a tenth with ordinary answers. */
const msPerSecond = 200
/** The time that an account may take at once after a rest. */
const burstMs = 400
/** The time that work in turn may take in one turn of the event loop, over all accounts. One step may exceed it. */
const turnMs = 2
/** Beyond this number, the account that was charged the longest time ago loses its state. */
const maxAccounts = 10_000

export interface ThreadTimeOptions {
  readonly clock: Clock
  /** Returns the time that work is measured by, in ms. */
  readonly measure?: () => number
}

/** Work that is done step by step. The last step returns its result. */
export type Steps<T> = Iterator<unknown, T>

/** Returns work that is done in one step, as parsing JSON is. */
export function oneStep<T>(work: () => T): Steps<T> {
  return { next: () => ({ done: true, value: work() }) }
}

export interface TurnOptions {
  /** How long the work may wait for its turn. */
  readonly maxMs?: number
  readonly signal?: AbortSignal | undefined
}

interface Job {
  readonly account: string
  /** Does one step. Returns true when no more steps are left. */
  readonly step: () => boolean
}

/** The account of the platform's own work, which is not charged. */
const platform = ''

export class ThreadTime {
  readonly #clock: Clock
  readonly #measure: () => number
  readonly #line = new FairLine<Job>()
  /** The time that is left in this turn of the event loop. */
  #leftMs = turnMs
  /** True until the next turn of the event loop, once work has been done in this one. */
  #hasWorked = false
  #again: Timer | undefined
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
      this.owe(account, this.#measure() - started)
    }
  }

  /**
   * Does work in steps, some milliseconds in each turn of the event loop, accounts in turn, and charges its time. Work of
   * an account that has used up its time waits. Rejects as a step throws, with the reason of the signal, and with
   * AppError account_share after `maxMs`.
   */
  inTurn<T>(
    account: string | undefined,
    steps: Steps<T>,
    { maxMs = Infinity, signal }: TurnOptions = {},
  ): Promise<T> {
    if (signal?.aborted === true) return Promise.reject(signal.reason as Error)
    const { promise, resolve, reject } = Promise.withResolvers<T>()
    let isOver = false
    let timer: Timer | undefined
    const end = (settle: () => void): true => {
      isOver = true
      timer?.cancel()
      signal?.removeEventListener('abort', giveUp)
      settle()
      return true
    }
    const step = (): boolean => {
      try {
        const { done, value } = steps.next()
        return done === true && end(() => resolve(value))
      } catch (error) {
        return end(() => reject(error as Error))
      }
    }
    const job: Job = { account: account ?? platform, step }
    const giveUp = (): void => {
      this.#line.take((waiting) => waiting === job)
      end(() => reject(signal?.aborted === true ? (signal.reason as Error) : tooMuch()))
    }
    this.#line.push(job.account, job)
    this.#work()
    if (isOver) return promise
    signal?.addEventListener('abort', giveUp, { once: true })
    if (maxMs !== Infinity) timer = this.#clock.after(maxMs, giveUp)
    return promise
  }

  /** Works while time is left in this turn of the event loop, and arranges for more. */
  #work(): void {
    this.#again?.cancel()
    this.#again = undefined
    let heldMs = Infinity
    const mayGo = (account: string): boolean => {
      const waitMs = account === platform ? 0 : this.waitMs(account)
      if (waitMs > 0) heldMs = Math.min(heldMs, waitMs)
      return waitMs === 0
    }
    let isDone = false
    while (this.#leftMs > 0 && !isDone) {
      const job = this.#line.shift(mayGo)
      if (job === undefined) isDone = true
      else this.#advance(job)
    }
    if (this.#hasWorked) return
    if (this.#leftMs < turnMs) {
      this.#hasWorked = true
      setImmediate(() => {
        this.#hasWorked = false
        this.#leftMs = turnMs
        if (this.#line.length > 0) this.#work()
      })
    } else if (heldMs !== Infinity) this.#again = this.#clock.after(heldMs, () => this.#work())
  }

  /** Does the next steps of a job, and puts it back if the time is up before the last. */
  #advance(job: Job): void {
    const started = this.#measure()
    const account = job.account === platform ? undefined : job.account
    let isOver = false
    this.charge(account, () => {
      do isOver = job.step()
      while (!isOver && this.#measure() - started < this.#leftMs)
    })
    this.#leftMs -= this.#measure() - started
    if (!isOver) this.#line.putBack(job.account, job)
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
      if (waitMs > maxMs) throw tooMuch()
      await sleep(waitMs, this.#clock, signal)
      signal?.throwIfAborted()
    }
  }

  /** Charges time that was not measured here. */
  owe(account: string, ms: number): void {
    const now = this.#clock.monotonic()
    const paidAt = Math.max(this.#paidAt.get(account) ?? now, now) + (ms * 1000) / msPerSecond
    this.#paidAt.delete(account)
    this.#paidAt.set(account, paidAt)
    const [oldest] = this.#paidAt.keys()
    if (this.#paidAt.size > maxAccounts && oldest !== undefined) this.#paidAt.delete(oldest)
  }
}

function tooMuch(): AppError {
  return new AppError('account_share', 'what the account and its applications send takes too long to read')
}
