import { describe, expect, it } from 'vitest'
import { refreshDelayMs, retryDelayMs } from './registration-pace.ts'

describe('a registration is refreshed', () => {
  it.each([
    [3600, 1800],
    [120, 60],
    [50, 30],
    [30, 24],
    [10, 8],
  ])('%i s after it was granted in %i s', (granted, seconds) => {
    expect(refreshDelayMs(granted, 0)).toBe(seconds * 1000)
  })

  it('up to a tenth sooner by chance, never later', () => {
    expect(refreshDelayMs(3600, 1)).toBeCloseTo(1_620_000)
  })
})

describe('a registration that failed is tried again', () => {
  const after = (isRefusal: boolean, failures: number, retryAfterSeconds?: number): number =>
    retryDelayMs({ isRefusal, failures, retryAfterSeconds }, 0) / 1000

  it('in half a minute when the registrar is down, and every five minutes in the end', () => {
    expect([1, 2, 3, 4, 5, 60].map((failures) => after(false, failures))).toEqual([
      30, 60, 120, 240, 300, 300,
    ])
  })

  it('in five minutes when it has refused, and every hour in the end', () => {
    expect([1, 2, 3, 4, 5, 60].map((failures) => after(true, failures))).toEqual([
      300, 600, 1200, 2400, 3600, 3600,
    ])
  })

  it('not before Retry-After, which is believed up to an hour', () => {
    expect(after(false, 1, 90)).toBe(90)
    expect(after(false, 1, 10)).toBe(30)
    expect(after(true, 1, 100_000)).toBe(3600)
  })

  it('up to a fifth later by chance', () => {
    expect(retryDelayMs({ isRefusal: false, failures: 1, retryAfterSeconds: undefined }, 1)).toBeCloseTo(
      36_000,
    )
  })
})
