import { describe, expect, it } from 'vitest'
import { Shares } from './shares.ts'

function greed(pool: Shares, holder: string, share: number): number {
  let taken = 0
  while (pool.mayTake(holder, share)) {
    pool.take(holder)
    taken += 1
  }
  return taken
}

describe('Shares', () => {
  it.each([
    [1, 1, 500],
    [3, 1, 750],
    [1 / 16, 1, 58],
    [1 / 16, 16, 500],
  ])('with a share of %d leaves room however greedy %d holders are', (share, holders, most) => {
    const pool = new Shares(1_000)
    // The holders take in turns, as real ones would.
    for (let round = 0; round < 1_000; round += 1)
      for (let holder = 0; holder < holders; holder += 1)
        if (pool.mayTake(String(holder), share)) pool.take(String(holder))
    expect(pool.used).toBeLessThanOrEqual(most)
    expect(pool.used).toBeGreaterThan(most * 0.9)
    expect(pool.mayTake('newcomer', share)).toBe(true)
  })

  it('gives everyone a first unit until there is none', () => {
    const pool = new Shares(3)
    expect(['a', 'b', 'c', 'd'].map((holder) => greed(pool, holder, 1 / 16))).toEqual([1, 1, 1, 0])
  })

  it('takes back what is given, and weighs what is large', () => {
    const pool = new Shares(10)
    expect(pool.mayTake('a', 1, 11)).toBe(false)
    pool.take('a', 4)
    expect(pool.mayTake('a', 1, 3)).toBe(false)
    expect(pool.mayTake('a', 1, 2)).toBe(true)
    pool.give('a', 4)
    expect(pool.used).toBe(0)
    expect(greed(pool, 'a', 1)).toBe(5)
  })
})
