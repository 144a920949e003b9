import { expect, it } from 'vitest'
import { createFakeClock } from '../../../test/support/fake-clock.ts'
import { Pace } from './pace.ts'

it('lets a burst begin at once, and the others one after the other at the rate', () => {
  const pace = new Pace({ burst: 3, perSecond: 2, clock: createFakeClock() })
  expect(Array.from({ length: 6 }, () => pace.take())).toEqual([0, 0, 0, 500, 1000, 1500])
})

it('gives a burst again after a rest, and no more than that after a long one', () => {
  const clock = createFakeClock()
  const pace = new Pace({ burst: 2, perSecond: 1, clock })
  expect([pace.take(), pace.take(), pace.take()]).toEqual([0, 0, 1000])
  clock.advance(3000)
  expect([pace.take(), pace.take(), pace.take()]).toEqual([0, 0, 1000])
  clock.advance(3_600_000)
  expect([pace.take(), pace.take(), pace.take()]).toEqual([0, 0, 1000])
})

it('lets what weighs more wait longer, and all that comes after it', () => {
  const pace = new Pace({ burst: 10, perSecond: 10, clock: createFakeClock() })
  expect([pace.take(8), pace.take(4), pace.take()]).toEqual([0, 200, 300])
})
