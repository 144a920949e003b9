import { describe, expect, it } from 'vitest'
import { dueTicks } from './tick-clock.ts'

describe('due ticks', () => {
  it.each<[string, number, number, { first: number; count: number }]>([
    ['the first at once', 0, 0, { first: 0, count: 1 }],
    ['none before its time', 1, 19, { first: 1, count: 0 }],
    ['one a hair early', 1, 19.6, { first: 1, count: 1 }],
    ['one when late by less than a tick', 1, 39, { first: 1, count: 1 }],
    ['two when one was missed', 1, 41, { first: 1, count: 2 }],
    ['three at most, the latest ones', 1, 250, { first: 10, count: 3 }],
    ['none again right after', 13, 250, { first: 13, count: 0 }],
  ])('%s', (_name, next, elapsedMs, expected) => {
    expect(dueTicks(next, elapsedMs)).toEqual(expected)
  })

  it('keep to the schedule for hours however late each wake is', () => {
    let next = 0
    let elapsedMs = 0
    for (let round = 0; round < 500_000; round += 1) {
      elapsedMs += 1 + ((round * 7919) % 45)
      const due = dueTicks(next, elapsedMs)
      expect(due.count).toBeLessThanOrEqual(3)
      expect(due.first).toBeGreaterThanOrEqual(next)
      next = due.first + due.count
      expect(Math.abs(next * 20 - elapsedMs)).toBeLessThanOrEqual(20.5)
    }
  })
})
