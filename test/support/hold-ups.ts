// The time that a busy machine held this process up. Tests subtract it from a measured time to get what the code took.

const everyMs = 20

export class HoldUps {
  readonly #seen: { readonly atMs: number; readonly lateMs: number }[] = []
  #lastMs = performance.now()
  readonly #timer = setInterval(() => this.#look(), everyMs)

  /** Returns the time from `fromMs` until now, without the time in which this process did not run. */
  ranMs(fromMs: number): number {
    this.#look()
    const late = this.#seen.filter(({ atMs }) => atMs > fromMs)
    return performance.now() - fromMs - late.reduce((sum, { lateMs }) => sum + lateMs, 0)
  }

  close(): void {
    clearInterval(this.#timer)
  }

  #look(): void {
    const atMs = performance.now()
    // A timer may be late by one round although nothing is wrong.
    const lateMs = atMs - this.#lastMs - 2 * everyMs
    this.#lastMs = atMs
    if (lateMs > 0) this.#seen.push({ atMs, lateMs })
  }
}
