// Work that is done again and again until it is stopped.
import type { Clock, Timer } from './clock.ts'

export interface Repetition {
  /** Resolves when the work that has begun is over; none begins after it. */
  stop(): Promise<void>
}

export interface RepeatOptions {
  readonly clock: Clock
  readonly everyMs: number
  /** Until it is done for the first time; `everyMs` when left out. */
  readonly firstMs?: number
  readonly work: () => Promise<void>
  /** The work rejected. It is tried again all the same. */
  readonly failed: (error: unknown) => void
}

/** One at a time: a wait begins when the work before it is over. */
export function repeat({ clock, everyMs, firstMs = everyMs, work, failed }: RepeatOptions): Repetition {
  let isStopped = false
  let timer: Timer | undefined
  let running: Promise<void> = Promise.resolve()
  const wait = (ms: number): void => {
    timer = clock.after(ms, () => {
      running = work()
        .catch(failed)
        .then(() => {
          if (!isStopped) wait(everyMs)
        })
    })
  }
  wait(firstMs)
  return {
    async stop() {
      isStopped = true
      timer?.cancel()
      await running
    },
  }
}
