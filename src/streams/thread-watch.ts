// Watches that a thread answers: one that hangs neither ends nor says so.
import type { Clock, Timer } from '../lib/clock.ts'

export interface ThreadWatchOptions {
  readonly clock: Clock
  /** Asks the thread for a word. */
  readonly ping: () => void
  /** It has said nothing for too long. Called once. */
  readonly onHung: () => void
}

export const pingEveryMs = 500
/** Nothing that a stream asks for takes a tenth of it. */
const hangsAfterMs = 4000
/** Its program is read and its first sockets are made, on a machine that may have more to do. */
const startLimitMs = 30_000
/** This thread was late itself, and what the other one has said may lie here unread. */
const lateMs = 100

export class ThreadWatch {
  readonly #options: ThreadWatchOptions
  #silentMs = 0
  #limitMs = startLimitMs
  #timer: Timer | undefined

  constructor(options: ThreadWatchOptions) {
    this.#options = options
  }

  /** Idempotent. */
  begin(): void {
    if (this.#timer !== undefined) return
    this.#silentMs = 0
    this.#options.ping()
    this.#arm()
  }

  /** The thread has said something. */
  heard(): void {
    this.#silentMs = 0
    this.#limitMs = hangsAfterMs
  }

  /** Until the next `begin`. Idempotent. */
  end(): void {
    this.#timer?.cancel()
    this.#timer = undefined
  }

  #arm(): void {
    const { clock } = this.#options
    const armedMs = clock.monotonic()
    this.#timer = clock.after(pingEveryMs, () => this.#look(clock.monotonic() - armedMs))
  }

  #look(afterMs: number): void {
    if (afterMs <= pingEveryMs + lateMs) this.#silentMs += pingEveryMs
    if (this.#silentMs >= this.#limitMs) {
      this.#timer = undefined
      return this.#options.onHung()
    }
    this.#options.ping()
    this.#arm()
  }
}
