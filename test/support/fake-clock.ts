// A clock that stands still until a test moves it.
import type { Clock, Timer } from '../../src/lib/clock.ts'

export interface FakeClock extends Clock {
  /** Moves time forward and runs what falls due, in order. Timers set meanwhile are run too if they fall due. */
  advance(ms: number): void
  /** The number of waiting timers: zero after a machine has terminated. */
  readonly pending: number
}

export function createFakeClock(startMs = 1_700_000_000_000): FakeClock {
  let elapsed = 0
  let order = 0
  const waiting = new Map<number, { readonly due: number; readonly action: () => void }>()
  return {
    now: () => startMs + elapsed,
    monotonic: () => elapsed,
    after(delayMs, action): Timer {
      const id = order++
      waiting.set(id, { due: elapsed + Math.max(0, delayMs), action })
      return { cancel: () => void waiting.delete(id) }
    },
    advance(ms) {
      const end = elapsed + ms
      for (;;) {
        const due = [...waiting].filter(([, timer]) => timer.due <= end)
        due.sort(([idA, a], [idB, b]) => a.due - b.due || idA - idB)
        const next = due[0]
        if (next === undefined) break
        waiting.delete(next[0])
        elapsed = next[1].due
        next[1].action()
      }
      elapsed = end
    },
    get pending() {
      return waiting.size
    },
  }
}
