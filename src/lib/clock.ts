// Time as a value that is passed in, so that tests move it by hand.

export interface Timer {
  cancel(): void
}

export interface Clock {
  /** Epoch milliseconds, for records. May jump when the operator sets the machine's clock. */
  now(): number
  /** Monotonic milliseconds, for durations and deadlines. */
  monotonic(): number
  /** Calls `action` once after `delayMs`. The timer does not keep the process alive. */
  after(delayMs: number, action: () => void): Timer
}

export const systemClock: Clock = {
  now: () => Date.now(),
  monotonic: () => performance.now(),
  after(delayMs, action) {
    let handle: NodeJS.Timeout
    const arm = (leftMs: number): void => {
      const partMs = Math.min(leftMs, maxTimeoutMs)
      handle = setTimeout(() => (leftMs > partMs ? arm(leftMs - partMs) : action()), partMs)
      handle.unref()
    }
    arm(delayMs)
    return { cancel: () => clearTimeout(handle) }
  },
}

/** The longest delay that setTimeout accepts, 24.8 days: a longer one would end immediately. */
const maxTimeoutMs = 2 ** 31 - 1

/**
 * Resolves after `delayMs`, or immediately when `signal` aborts: callers treat a shortened wait as a normal outcome.
 */
export function sleep(delayMs: number, clock: Clock, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal?.aborted) return resolve()
    const finish = (): void => {
      timer.cancel()
      signal?.removeEventListener('abort', finish)
      resolve()
    }
    const timer = clock.after(delayMs, finish)
    signal?.addEventListener('abort', finish, { once: true })
  })
}
