import { beforeEach, describe, expect, it } from 'vitest'
import { Places } from './places.ts'

const onTime = { lateShare: 0.1 }
const late = { lateShare: 0.2 }
const veryLate = { lateShare: 0.6 }

let places: Places

function hold(owner: string | undefined, count: number): (() => void)[] {
  return Array.from({ length: count }, () => places.take(owner))
}

beforeEach(() => {
  places = new Places()
})

describe('a worker that is on time', () => {
  it('accepts a session of any owner, however many there are', () => {
    hold('greedy', 500)
    expect(places.refusal('greedy', onTime)).toBeUndefined()
    expect(places.refusal(undefined, onTime)).toBeUndefined()
  })
})

describe('a worker that is late', () => {
  it('refuses an owner that holds its share, and accepts the others', () => {
    hold('greedy', 60)
    hold('modest', 5)
    expect(places.refusal('greedy', late)).toBe('account_share')
    expect(places.refusal('modest', late)).toBeUndefined()
    expect(places.refusal('newcomer', late)).toBeUndefined()
  })

  it('refuses all owners if they hold the same number', () => {
    hold('one', 30)
    hold('other', 30)
    expect([places.refusal('one', late), places.refusal('other', late)]).toEqual([
      'account_share',
      'account_share',
    ])
  })

  it('accepts an owner again once it has released enough', () => {
    hold('one', 40)
    const [first, second] = hold('other', 41)
    first?.()
    expect(places.refusal('other', late)).toBe('account_share')
    second?.()
    expect(places.refusal('other', late)).toBeUndefined()
  })

  it('refuses what belongs to no account', () => {
    hold('one', 60)
    expect(places.refusal(undefined, late)).toBe('overloaded')
  })

  it('with few sessions accepts all, since the machine itself is slow', () => {
    hold('one', 49)
    expect(places.refusal('one', veryLate)).toBeUndefined()
  })
})

describe('a worker so late that every call suffers', () => {
  it('refuses newcomers too', () => {
    hold('one', 60)
    expect(places.refusal('newcomer', veryLate)).toBe('overloaded')
  })
})
