// A watch that detects a hanging thread, which neither ends nor reports anything.
import type { Clock, Timer } from '../lib/clock.ts'

export interface ThreadWatchOptions {
  readonly clock: Clock
  /** Sends a ping to the thread. */
  readonly ping: () => void
  /** Called once, when the thread has been silent for too long. */
  readonly onHung: () => void
}

export const pingEveryMs = 500
/** No task of a stream takes a tenth of this time. */
const hangsAfterMs = 4000
/** The time to load its program and open its first sockets, on a machine that may be busy. */
const startLimitMs = 30_000
/** If this thread itself was late by this much, messages of the other one may be here unread. */
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

  /** Notes that a message of the thread has come. */
  heard(): void {
    this.#silentMs = 0
    this.#limitMs = hangsAfterMs
  }

  /** Stops watching until the next `begin`. Idempotent. */
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
