import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { systemClock } from './clock.ts'

const dayMs = 86_400_000

describe('systemClock', () => {
  beforeEach(() => {
    vi.useFakeTimers()
  })
  afterEach(() => {
    vi.useRealTimers()
  })

  it('waits as long as it should, beyond what one timer of the runtime holds too', () => {
    const action = vi.fn<() => void>()
    systemClock.after(60 * dayMs, action)
    vi.advanceTimersByTime(60 * dayMs - 1)
    expect(action).not.toHaveBeenCalled()
    vi.advanceTimersByTime(1)
    expect(action).toHaveBeenCalledOnce()
  })

  it('can be cancelled at any time of a long wait', () => {
    const action = vi.fn<() => void>()
    const timer = systemClock.after(60 * dayMs, action)
    vi.advanceTimersByTime(30 * dayMs)
    timer.cancel()
    vi.advanceTimersByTime(60 * dayMs)
    expect(action).not.toHaveBeenCalled()
  })
})
