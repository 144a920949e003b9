import { afterEach, describe, expect, it, vi } from 'vitest'
import { createSid, isSid, randomUuid } from './ids.ts'

// RFC 9562 §5.4: the characters that clients check for version 4.
const version4 = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/

afterEach(() => vi.useRealTimers())

describe('createSid', () => {
  it('reads as a UUID of version 4', () => {
    const sid = createSid()
    expect(sid).toMatch(version4)
    expect(isSid(sid)).toBe(true)
  })

  it('sorts behind those of an earlier millisecond', () => {
    const times = [0, 1, 255, 256, Date.UTC(2026, 0), Date.UTC(2026, 0) + 1, Date.UTC(3000, 0)]
    const sids = times.map((time) => {
      vi.setSystemTime(time)
      return createSid()
    })
    expect(sids.toSorted()).toEqual(sids)
  })

  it('is another one each time, within a millisecond too', () => {
    vi.setSystemTime(Date.UTC(2026, 0))
    expect(new Set(Array.from({ length: 100_000 }, () => createSid())).size).toBe(100_000)
  })
})

describe('randomUuid', () => {
  it('is a UUID of version 4 that tells nothing of the time', () => {
    vi.setSystemTime(Date.UTC(2026, 0))
    const tokens = Array.from({ length: 100 }, randomUuid)
    for (const token of tokens) expect(token).toMatch(version4)
    expect(new Set(tokens.map((token) => token.slice(0, 8))).size).toBeGreaterThan(90)
  })
})
