import { describe, expect, it } from 'vitest'
import { mayTakeOne, TenantPool } from './tenant-pool.ts'

/** Takes one unit after the other until one is refused. */
function fill(size: number, percent: number, used: number): number {
  let held = 0
  while (mayTakeOne({ size, used: used + held, held, percent })) held += 1
  return held
}

describe('a pool of all tenants', () => {
  it.each([
    [200, 80, [160, 32, 7]],
    [500, 80, [400, 80, 16]],
    [200, 50, [100, 50, 25]],
    [200, 100, [200, 0, 0]],
    [1, 80, [1, 0, 0]],
  ])('of %i at %i %%: as many as %j for one after the other', (size, percent, expected) => {
    let used = 0
    const counts = expected.map(() => {
      const held = fill(size, percent, used)
      used += held
      return held
    })
    expect(counts).toEqual(expected)
  })

  it('refuses a share with account_share, a full pool with overloaded, and gives again what came back', () => {
    const pool = new TenantPool({ size: 10, tooMany: 'too much' })
    pool.take('a', 8)
    expect(() => pool.take('a', 1)).toThrow(
      expect.objectContaining({ code: 'account_share', message: 'too much for this account' }),
    )
    pool.take('b', 1)
    pool.take(undefined, 1)
    expect(() => pool.take('c', 1)).toThrow(expect.objectContaining({ code: 'overloaded' }))
    pool.give('a', 8)
    pool.take('c', 5)
  })
})
