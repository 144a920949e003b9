import { describe, expect, it } from 'vitest'
import type { RouteEntry } from '../ports.ts'
import { shareLoad } from './share-load.ts'

const entry = (name: string, priority: number, workload: number): RouteEntry => ({
  voip_carrier_sid: name,
  priority,
  workload,
})
const order = (entries: readonly RouteEntry[], random: () => number): string =>
  shareLoad(entries, random)
    .map(({ voip_carrier_sid }) => voip_carrier_sid)
    .join('')

describe('the carriers of a route', () => {
  it.each([
    ['one', [entry('a', 0, 1)], 0, 'a'],
    ['a lower priority comes first', [entry('b', 2, 9), entry('a', 1, 1), entry('c', 3, 9)], 0.99, 'abc'],
    ['equals, drawn low', [entry('a', 0, 1), entry('b', 0, 3)], 0.24, 'ab'],
    ['equals, drawn high', [entry('a', 0, 1), entry('b', 0, 3)], 0.25, 'ba'],
    ['equals behind a lower one', [entry('a', 1, 1), entry('b', 1, 1), entry('c', 0, 1)], 0.5, 'cba'],
    ['none', [], 0, ''],
  ])('%s', (_, entries, drawn, expected) => {
    expect(order(entries, () => drawn)).toBe(expected)
  })

  it('share the calls of one priority in proportion to their workload, and each is tried', () => {
    const entries = [entry('a', 0, 1), entry('b', 0, 2), entry('c', 0, 5)]
    const first = new Map<string, number>()
    const draws = 8000
    // Draws every point of the scale once, so that the results are the exact shares.
    for (let n = 0; n < draws; n++) {
      const drawn = order(entries, () => n / draws)
      expect(drawn).toMatch(/^(?=.*a)(?=.*b)(?=.*c).{3}$/)
      const head = drawn.slice(0, 1)
      first.set(head, (first.get(head) ?? 0) + 1)
    }
    expect(Object.fromEntries(first)).toEqual({ a: 1000, b: 2000, c: 5000 })
  })
})
