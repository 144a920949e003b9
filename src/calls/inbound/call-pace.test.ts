import { describe, expect, it } from 'vitest'
import { createFakeClock } from '../../../test/support/fake-clock.ts'
import { CallPace } from './call-pace.ts'

function paceWith(): {
  readonly second: (load: number, calls: Readonly<Record<string, number>>) => Record<string, number>
} {
  const clock = createFakeClock()
  let load = 0
  const pace = new CallPace({ clock, sharePercent: 80, load: () => load })
  return {
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
            expect(error).toMatchObject({ code: 'account_share' })
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
    expect(second(0.95, { many: 400, few: 5 })).toEqual({ many: 324, few: 5 })
    expect(second(0.95, { many: 400, few: 5 })).toEqual({ many: 263, few: 5 })
    for (let round = 0; round < 20; round += 1) second(0.95, { many: 400, few: 5 })
    expect(second(0.95, { many: 400, few: 5 })).toEqual({ many: 20, few: 5 })
    expect(second(0.5, { many: 400, few: 5 })).toEqual({ many: 400, few: 5 })
  })

  it('is its own where no other account has called lately', () => {
    const { second } = paceWith()
    for (let round = 0; round < 3; round += 1) expect(second(1, { many: 400 })).toEqual({ many: 400 })
    second(1, { few: 1 })
    expect(second(1, { many: 400 })).toEqual({ many: 20 })
    for (let round = 0; round < 20; round += 1) second(1, { many: 10 })
    expect(second(1, { many: 400 })).toEqual({ many: 400 })
  })
})
