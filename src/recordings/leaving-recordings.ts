// Recordings that are over but belong to this process until the database has their end, which may be slow or gone.
import type { CallStore } from '../contracts/call-record.ts'
import type { Clock, Timer } from '../lib/clock.ts'

/** The delay from the end of a recording until it is due for storing. */
export const dueAfterMs = 1100

export interface LeavingOptions {
  readonly calls: Pick<CallStore, 'flush'>
  readonly clock: Clock
  /** Called with recordings whose end is in the database. */
  readonly left: (call_sids: readonly string[]) => void
}

export class LeavingRecordings {
  readonly #options: LeavingOptions
  /** The recordings, with the time at which the database should have their end, the earliest first. */
  readonly #due = new Map<string, number>()
  #timer: Timer | undefined
  #isStopped = false

  constructor(options: LeavingOptions) {
    this.#options = options
  }

  add(call_sid: string): void {
    this.#addAll([call_sid])
    this.#waitForFirst()
  }

  stop(): void {
    this.#isStopped = true
    this.#timer?.cancel()
  }

  #addAll(call_sids: readonly string[]): void {
    const at = this.#options.clock.monotonic() + dueAfterMs
    for (const call_sid of call_sids) this.#due.set(call_sid, at)
  }

  /** Waits for the first recording that is due, unless those before it are being left. */
  #waitForFirst(): void {
    const { clock } = this.#options
    const [first] = this.#due.values()
    if (first === undefined) return
    this.#timer ??= clock.after(Math.max(0, first - clock.monotonic()), () => void this.#leaveDue())
  }

  /** Leaves all that are due with one flush: during an outage there may be thousands. */
  async #leaveDue(): Promise<void> {
    if (this.#isStopped) return
    const { calls, clock, left } = this.#options
    const due = [...this.#due].filter(([, at]) => at <= clock.monotonic()).map(([call_sid]) => call_sid)
    for (const call_sid of due) this.#due.delete(call_sid)
    try {
      await calls.flush()
      left(due)
    } catch {
      // The database is away: they are due again, with those that have ended meanwhile.
      this.#addAll(due)
    }
    this.#timer = undefined
    this.#waitForFirst()
  }
}
