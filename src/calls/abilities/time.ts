// The ability to wait, and to limit the duration of something else.
import { sleep, type Clock } from '../../lib/clock.ts'
import { stopped } from '../session/stop.ts'
import type { Time } from '../verb/abilities.ts'

export function createTime(clock: Clock): Time {
  return {
    wait: (ms, signal) => sleep(ms, clock, signal),
    limit(ms, signal) {
      const limited = new AbortController()
      const abort = (): void => limited.abort(signal.reason)
      const timer = clock.after(ms, () => limited.abort(stopped('timed-out')))
      signal.addEventListener('abort', abort, { once: true })
      if (signal.aborted) abort()
      return {
        signal: limited.signal,
        release() {
          timer.cancel()
          signal.removeEventListener('abort', abort)
        },
      }
    },
  }
}
