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
    expect(second(0.9, { many: 400 })).toEqual({ many: 40 })
    for (let round = 0; round < 20; round += 1) second(0.9, { many: 10 })
    expect(second(0.9, { many: 400 })).toEqual({ many: 400 })
  })
})

describe('an account whose calls keep the main thread late', () => {
  it('is held to twenty a second within a second, while others with fewer are never refused', () => {
    const clock = createFakeClock()
    let load = 0
    const pace = new CallPace({ clock, sharePercent: 80, load: () => load })
    const slowed: number[] = []
    const begins = (account: string): boolean => {
      try {
        pace.enter(account, (perSecond) => slowed.push(perSecond))
        return true
      } catch {
        return false
      }
    }
    const flood = (ms: number): { many: number; refused: number } => {
      let [many, refused] = [0, 0]
      for (let at = 0; at < ms; at += 1) {
        clock.advance(1)
        if (begins('many')) many += 1
        if (at % 53 === 0 && !begins('few')) refused += 1
      }
      return { many, refused }
    }
    expect(flood(1000)).toEqual({ many: 1000, refused: 0 })
    load = 1
    const first = flood(1000)
    expect(first.many).toBeLessThan(350)
    for (let round = 0; round < 20; round += 1) {
      const next = flood(1000)
      expect(next.many).toBeLessThanOrEqual(21)
      expect([first.refused, next.refused]).toEqual([0, 0])
    }
    expect(slowed.at(-1)).toBe(40)
    // Those of three seconds, which the thread reads at once.
    clock.advance(1500)
    for (let call = 0; call < 400; call += 1) begins('many')
    expect(Array.from({ length: 40 }, () => begins('few'))).not.toContain(false)
    clock.advance(1500)
    // The thread still has the work of the calls that it took.
    for (let call = 0; call < 80; call += 1) {
      clock.advance(53)
      expect(begins('few')).toBe(true)
    }
  })

  it('may begin more again, a little more each second, once the thread keeps up', () => {
    const { second } = paceWith()
    second(0, { one: 100 })
    expect(second(1, { one: 100 })).toEqual({ one: 23 })
    expect(second(0.5, { one: 100 })).toEqual({ one: 23 })
    for (let round = 0; round < 500; round += 1) second(0.5, { one: 100 })
    expect(second(0.5, { one: 100 })).toEqual({ one: 100 })
  })
})

describe('INVITEs of one source', () => {
  it('are read more slowly while more than a hundred wait until their callers are known', () => {
    const pace = new CallPace({ clock: createFakeClock(), sharePercent: 80, load: () => 0 })
    const slowed: string[] = []
    const arrive = (source: string) => pace.arrive(source, () => slowed.push(source))
    const known = Array.from({ length: 100 }, () => arrive('192.0.2.1'))
    for (let count = 0; count < 100; count += 1) arrive('192.0.2.2')
    expect(slowed).toEqual([])
    arrive('192.0.2.1')()
    expect(slowed).toEqual(['192.0.2.1'])
    for (const isKnown of known) isKnown()
    arrive('192.0.2.1')
    expect(slowed).toHaveLength(1)
  })
})

describe('the pace at which calls of all accounts begin', () => {
  const crowd = Object.fromEntries(Array.from({ length: 10 }, (_, count) => [`account ${count}`, 10]))
  const sum = (calls: Record<string, number>): number => Object.values(calls).reduce((a, b) => a + b, 0)

  it('falls while the main thread is late, if no account has many, and rises slowly once it keeps up', () => {
    const { second, refusals } = paceWith()
    second(0, crowd)
    expect(sum(second(0.96, crowd))).toBe(80)
    expect(sum(second(0.96, crowd))).toBe(64)
    expect([...refusals]).toEqual(['overloaded'])
    expect(sum(second(0.94, crowd))).toBe(68)
    expect(sum(second(0.94, { one: 50 }))).toBe(50)
    expect(sum(second(0.94, crowd))).toBe(100)
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
