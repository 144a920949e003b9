// The running timers of one transaction, by name.
import type { Clock, Timer } from '../../lib/clock.ts'

export class TimerSet<Name extends string> {
  readonly #clock: Clock
  readonly #fired: (name: Name) => void
  readonly #running = new Map<Name, Timer>()

  constructor(clock: Clock, fired: (name: Name) => void) {
    this.#clock = clock
    this.#fired = fired
  }

  /** Starts or restarts a timer. */
  start(name: Name, delayMs: number): void {
    this.#running.get(name)?.cancel()
    const timer = this.#clock.after(delayMs, () => {
      this.#running.delete(name)
      this.#fired(name)
    })
    this.#running.set(name, timer)
  }

  stopUnless(keep: (name: Name) => boolean): void {
    for (const [name, timer] of this.#running) {
      if (keep(name)) continue
      timer.cancel()
      this.#running.delete(name)
    }
  }
}
