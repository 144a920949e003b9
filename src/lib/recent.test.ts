import { describe, expect, it } from 'vitest'
import { createFakeClock } from '../../test/support/fake-clock.ts'
import { createRecent } from './recent.ts'

describe('createRecent', () => {
  it('has a key for its time, counted from when it was noted last', () => {
    const clock = createFakeClock()
    const recent = createRecent({ clock, lifetimeMs: 1_000, capacity: 10 })
    recent.note('a')
    clock.advance(600)
    recent.note('a')
    clock.advance(999)
    expect(recent.has('a')).toBe(true)
    clock.advance(1)
    expect(recent.has('a')).toBe(false)
    expect(recent.has('b')).toBe(false)
  })

  it('forgets the key that was noted longest ago when there is no room', () => {
    const recent = createRecent({ clock: createFakeClock(), lifetimeMs: 1_000, capacity: 2 })
    for (const key of ['a', 'b', 'a', 'c']) recent.note(key)
    expect(['a', 'b', 'c'].map((key) => recent.has(key))).toEqual([true, false, true])
  })
})
