import { describe, expect, it } from 'vitest'
import { createFakeClock } from '../../../test/support/fake-clock.ts'
import { CallPace } from './call-pace.ts'

function paceWith(): {
  readonly second: (load: number, calls: Readonly<Record<string, number>>) => Record<string, number>
  readonly refusals: Set<string>
} {
  const clock = createFakeClock()
  let load = 0
  const pace = new CallPace({ clock, sharePercent: 80, load: () => load })
  const refusals = new Set<string>()
  return {
    refusals,
    /** Returns how many calls of each account begin in a second, after one in which the main thread had this load. */
    second(before, calls) {
      load = before
      clock.advance(1000)
      const begun: Record<string, number> = {}
      for (const [account, wanted] of Object.entries(calls)) {
        begun[account] = 0
        for (let call = 0; call < wanted; call += 1)
          try {
            pace.enter(account)
            begun[account] += 1
          } catch (error) {
            refusals.add((error as { code: string }).code)
          }
      }
      return begun
    },
  }
}

describe('the pace at which calls of an account begin', () => {
  it('is its own while the main thread keeps up', () => {
    const { second } = paceWith()
    for (let round = 0; round < 3; round += 1)
      expect(second(0.8, { many: 400, few: 5 })).toEqual({ many: 400, few: 5 })
  })

  it('falls while the main thread is full, second by second to its least, and that of others does not', () => {
    const { second } = paceWith()
    second(0, { few: 5, many: 400 })
    expect(second(0.9, { many: 400, few: 5 })).toEqual({ many: 324, few: 5 })
    expect(second(0.9, { many: 400, few: 5 })).toEqual({ many: 263, few: 5 })
    for (let round = 0; round < 20; round += 1) second(0.9, { many: 400, few: 5 })
    expect(second(0.9, { many: 400, few: 5 })).toEqual({ many: 20, few: 5 })
    expect(second(0.5, { many: 400, few: 5 })).toEqual({ many: 400, few: 5 })
  })

  it('is its own where no other account has called lately', () => {
    const { second } = paceWith()
    for (let round = 0; round < 3; round += 1) expect(second(0.9, { many: 400 })).toEqual({ many: 400 })
    second(0.9, { few: 1 })
    expect(second(0.9, { many: 400 })).toEqual({ many: 20 })
    for (let round = 0; round < 20; round += 1) second(0.9, { many: 10 })
    expect(second(0.9, { many: 400 })).toEqual({ many: 400 })
  })
})

describe('the pace at which calls of all accounts begin', () => {
  it('falls while the main thread is late, for all callers, and rises slowly once it keeps up', () => {
    const { second, refusals } = paceWith()
    second(0, { one: 100 })
    expect(second(0.96, { one: 100 })).toEqual({ one: 80 })
    expect(second(0.96, { one: 100 })).toEqual({ one: 64 })
    expect([...refusals]).toEqual(['overloaded'])
    expect(second(0.94, { one: 100 })).toEqual({ one: 68 })
    expect(second(0.94, { one: 50 })).toEqual({ one: 50 })
    expect(second(0.94, { one: 100 })).toEqual({ one: 100 })
  })

  it('never falls below twenty a second, which a machine takes that is slow at everything', () => {
    const { second, refusals } = paceWith()
    for (let round = 0; round < 20; round += 1) second(1, { one: 100 })
    expect(second(1, { one: 100 })).toEqual({ one: 20 })
    refusals.clear()
    expect(second(1, { one: 15, other: 5 })).toEqual({ one: 15, other: 5 })
    expect(refusals.size).toBe(0)
  })
})
