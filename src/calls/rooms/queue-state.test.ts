// The order of callers and takers in a queue.
import { describe, expect, it } from 'vitest'
import { createRandomBelow } from '../../../test/support/random.ts'
import { QueueState, type Place, type Taker } from './queue-state.ts'

const usual = 999

function queue() {
  const state = new QueueState<string, string>()
  const enter = (name: string, priority = usual): Place<string> =>
    state.enter({ caller: name, call_sid: `sid-${name}`, priority })
  const order = (): string[] => {
    const names: string[] = []
    for (let next = state.callerFor(anyone('x')); next !== undefined; next = state.callerFor(anyone('x'))) {
      names.push(next.caller)
      state.leave(next)
    }
    return names
  }
  return { state, enter, order }
}

const anyone = (taker: string): Taker<string> => ({ taker, wants: undefined })
const only = (taker: string, name: string): Taker<string> => ({ taker, wants: `sid-${name}` })

describe('those who wait', () => {
  it.each([
    ['as they came', [usual, usual, usual], ['0', '1', '2']],
    ['the lowest priority first', [5, 1, 3], ['1', '2', '0']],
    ['those of one priority as they came', [5, 1, 5, 1, 0], ['4', '1', '3', '0', '2']],
    ['fractions of a priority too', [1, 0.5, 0.25], ['2', '1', '0']],
  ])('are taken %s', (_, priorities, expected) => {
    const { enter, order } = queue()
    priorities.forEach((priority, index) => enter(String(index), priority))
    expect(order()).toEqual(expected)
  })

  it('know how many are before them, also when some of those leave and others push in', () => {
    const { state, enter } = queue()
    const places = [enter('a'), enter('b'), enter('c')]
    expect(places.map((place) => state.position(place))).toEqual([0, 1, 2])
    enter('urgent', 1)
    expect(places.map((place) => state.position(place))).toEqual([1, 2, 3])
    expect(places[0] && state.leave(places[0])).toBe(true)
    expect(places.slice(1).map((place) => state.position(place))).toEqual([1, 2])
    expect(state.length).toBe(3)
  })

  it('leave once', () => {
    const { state, enter } = queue()
    const place = enter('a')
    enter('b')
    expect([state.leave(place), state.leave(place)]).toEqual([true, false])
    expect(state.length).toBe(1)
  })
})

describe('those who take', () => {
  it('are served in the order in which they began to wait', () => {
    const { state, enter } = queue()
    state.await(anyone('first'))
    state.await(anyone('second'))
    expect(state.takerFor(enter('a'))?.taker).toBe('first')
  })

  it('get the caller whom they want before those who take anyone', () => {
    const { state, enter } = queue()
    const chooser = only('chooser', 'b')
    state.await(anyone('first'))
    state.await(chooser)
    expect(state.takerFor(enter('a'))?.taker).toBe('first')
    expect(state.takerFor(enter('b'))?.taker).toBe('chooser')
    state.quit(chooser)
    expect(state.takerFor(enter('b'))?.taker).toBe('first')
  })

  it('of one caller get no other', () => {
    const { state, enter } = queue()
    enter('a', 1)
    enter('b')
    expect(state.callerFor(only('x', 'b'))?.caller).toBe('b')
    expect(state.callerFor(only('x', 'c'))).toBeUndefined()
  })

  it('quit once, and are counted', () => {
    const { state } = queue()
    const takers = [anyone('x'), only('y', 'a'), only('z', 'a')]
    for (const taker of takers) state.await(taker)
    expect(state.takers).toBe(3)
    expect(takers.map((taker) => state.quit(taker))).toEqual([true, true, true])
    expect(takers.map((taker) => state.quit(taker))).toEqual([false, false, false])
    expect(state.takers).toBe(0)
  })
})

it('any history gives the order that sorting gives', () => {
  for (let seed = 1; seed <= 300; seed += 1) {
    const random = createRandomBelow(seed)
    const state = new QueueState<number, string>()
    const here: Place<number>[] = []
    for (let step = 0; step < 60; step += 1) {
      if (random(3) > 0 || here.length === 0)
        here.push(state.enter({ caller: step, call_sid: `sid-${step}`, priority: random(4) }))
      else for (const place of here.splice(random(here.length), 1)) expect(state.leave(place)).toBe(true)
      const sorted = here.toSorted((a, b) => a.priority - b.priority || a.arrival - b.arrival)
      expect(
        sorted.map((place) => state.position(place)),
        `seed ${seed}`,
      ).toEqual(sorted.map((_, index) => index))
      expect(state.callerFor({ taker: 'x', wants: undefined })).toBe(sorted[0])
      expect(state.length).toBe(here.length)
    }
  }
})
