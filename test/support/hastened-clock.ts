// A clock that runs faster than the machine's, so that a wait of minutes takes seconds beside real programs.
import { systemClock, type Clock } from '../../src/lib/clock.ts'

export function createHastenedClock(factor: number): Clock {
  const [epoch, origin] = [Date.now(), performance.now()]
  const elapsed = (): number => (performance.now() - origin) * factor
  return {
    now: () => epoch + elapsed(),
    monotonic: elapsed,
    after: (delayMs, action) => systemClock.after(delayMs / factor, action),
  }
}
