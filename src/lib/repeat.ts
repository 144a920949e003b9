// Work that is repeated until it is stopped.
import type { Clock, Timer } from './clock.ts'

export interface Repetition {
  /** Resolves when work in progress has ended; no further work begins. */
  stop(): Promise<void>
}

export interface RepeatOptions {
  readonly clock: Clock
  readonly everyMs: number
  /** The wait before the first work; `everyMs` if left out. */
  readonly firstMs?: number
  readonly work: () => Promise<void>
  /** Called when the work rejected. It is tried again all the same. */
  readonly failed: (error: unknown) => void
}

/** Runs one at a time: a wait begins when the work before it has ended. */
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
