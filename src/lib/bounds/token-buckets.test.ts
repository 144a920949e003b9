import { describe, expect, it } from 'vitest'
import { createFakeClock } from '../../../test/support/fake-clock.ts'
import { createTokenBuckets } from './token-buckets.ts'

const rule = { capacity: 3, refillMs: 60_000 }

describe('token buckets', () => {
  it('let a burst of the capacity through, then one after each part of the refill time', () => {
    const clock = createFakeClock()
    const buckets = createTokenBuckets(clock)
    expect([1, 2, 3].map(() => buckets.take('a', rule))).toEqual([0, 0, 0])
    expect(buckets.take('a', rule)).toBe(20_000)
    clock.advance(19_999)
    expect(buckets.take('a', rule)).toBe(1)
    clock.advance(1)
    expect(buckets.take('a', rule)).toBe(0)
    expect(buckets.take('a', rule)).toBe(20_000)
  })

  it('hold no more than their capacity, however long nothing is taken', () => {
    const clock = createFakeClock()
    const buckets = createTokenBuckets(clock)
    buckets.take('a', rule)
    clock.advance(3_600_000)
    expect([1, 2, 3, 4].map(() => buckets.take('a', rule) === 0)).toEqual([true, true, true, false])
  })

  it('tell how long to wait without taking anything', () => {
    const clock = createFakeClock()
    const buckets = createTokenBuckets(clock)
    for (let count = 0; count < 5; count++) expect(buckets.wait('a', rule)).toBe(0)
    for (let count = 0; count < 3; count++) buckets.take('a', rule)
    expect(buckets.wait('a', rule)).toBe(20_000)
    clock.advance(20_000)
    expect(buckets.wait('a', rule)).toBe(0)
  })

  it('are one per key', () => {
    const buckets = createTokenBuckets(createFakeClock())
    for (let count = 0; count < 4; count++) buckets.take('a', rule)
    expect(buckets.take('b', rule)).toBe(0)
  })

  it('are bounded in number: the one unused for longest is forgotten', () => {
    const buckets = createTokenBuckets(createFakeClock(), 2)
    for (let count = 0; count < 4; count++) buckets.take('a', rule)
    buckets.take('b', rule)
    buckets.take('c', rule)
    expect(buckets.take('a', rule)).toBe(0)
  })
})
