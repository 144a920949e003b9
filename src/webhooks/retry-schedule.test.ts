import { describe, expect, it } from 'vitest'
import { maxAgeMs, nextAttemptAt, retryAfterMs, retryDelaysMs } from './retry-schedule.ts'

const now = 1_700_000_000_000
const hourMs = 3_600_000
const failure = { attempts: 0, created_at: now, now, retryAfterMs: undefined, random: 0.5 }

describe('nextAttemptAt', () => {
  it('follows the documented delays', () => {
    const delays = [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11].map(
      (attempts) => ((nextAttemptAt({ ...failure, attempts }) ?? 0) - now) / 1000,
    )
    expect(delays).toEqual([1, 5, 15, 60, 300, 900, 1800, 3600, 7200, 14_400, 21_600, 21_600])
  })

  it('stays within a tenth of them', () => {
    for (const [attempts, delayMs] of retryDelaysMs.entries()) {
      expect(nextAttemptAt({ ...failure, attempts, random: 0 })).toBe(now + Math.round(delayMs * 0.9))
      expect(nextAttemptAt({ ...failure, attempts, random: 1 })).toBe(now + Math.round(delayMs * 1.1))
    }
  })

  it('waits as long as the receiver asks, but not shorter than its own delay nor beyond a day', () => {
    expect(nextAttemptAt({ ...failure, retryAfterMs: 60_000 })).toBe(now + 60_000)
    expect(nextAttemptAt({ ...failure, retryAfterMs: 1 })).toBe(now + 1000)
    expect(nextAttemptAt({ ...failure, retryAfterMs: 1e12 })).toBe(now + 24 * hourMs)
  })

  it('gives a receiver that asks for a long wait one more attempt before the notification is given up', () => {
    const old = { ...failure, attempts: 15, retryAfterMs: 24 * hourMs }
    const created_at = now - 50 * hourMs
    expect(nextAttemptAt({ ...old, created_at })).toBe(created_at + maxAgeMs)
    expect(nextAttemptAt({ ...old, created_at, now: created_at + maxAgeMs })).toBeUndefined()
    expect(nextAttemptAt({ ...old, created_at: now - 67 * hourMs })).toBeUndefined()
  })

  it('gives up after three days', () => {
    expect(nextAttemptAt({ ...failure, created_at: now - maxAgeMs + 1000 })).toBe(now + 1000)
    expect(nextAttemptAt({ ...failure, created_at: now - maxAgeMs + 999 })).toBeUndefined()
  })
})

describe('retryAfterMs', () => {
  it.each([
    ['120', 120_000],
    [new Date(now + 5000).toUTCString(), 5000],
    [new Date(now - 5000).toUTCString(), undefined],
    ['soon', undefined],
    ['-3', undefined],
    ['', undefined],
    ['0', undefined],
  ])('reads %j', (text, expected) =>
    expect(retryAfterMs({ headers: { 'retry-after': text } }, now)).toBe(expected),
  )
})
