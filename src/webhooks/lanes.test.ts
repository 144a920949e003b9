import { expect, it } from 'vitest'
import { createLanes, type LaneKey } from './lanes.ts'

const bounds = { ofAccount: 4, active: 3, activeFailing: 1, waitingFailing: 2 }

function setUp() {
  const running: LaneKey[] = []
  const letGo: LaneKey[] = []
  const lanes = createLanes<LaneKey>(
    bounds,
    (item) => running.push(item),
    (item) => letGo.push(item),
  )
  const admit = (account_sid: string, ...destinations: readonly string[]): boolean[] =>
    destinations.map((destination) => lanes.admit({ account_sid, destination }))
  const names = (items: readonly LaneKey[]): string[] => items.map(({ destination }) => destination)
  return { lanes, running, letGo, admit, names }
}

it('a destination has its bound, and all of an account have theirs: no other account waits for them', () => {
  const { lanes, running, admit, names } = setUp()
  admit('a', 'x', 'x', 'x', 'x', 'y', 'z')
  expect(names(running)).toEqual(['x', 'x', 'x', 'y'])
  expect(lanes.busy()).toEqual({ accounts: ['a'], lanes: [] })
  admit('b', 'x', 'x', 'x')
  expect(running).toHaveLength(7)
  expect(lanes.busy()).toEqual({ accounts: ['a'], lanes: [{ account_sid: 'b', destination: 'x' }] })
})

it('waiting items take turns by destination, however many wait for each', () => {
  const { lanes, running, admit, names } = setUp()
  admit('a', 'x', 'x', 'x', 'y')
  admit('a', 'x', 'x', 'x', 'y', 'z')
  for (const item of running.splice(0)) lanes.done(item, true)
  expect(names(running)).toEqual(['x', 'y', 'z', 'x'])
  expect(names(lanes.drain())).toEqual(['x'])
})

it('a destination that fails holds less, its account may send elsewhere, and it is forgotten when it has nothing to do', () => {
  const { lanes, running, letGo, admit, names } = setUp()
  admit('a', 'x', 'x', 'x', 'x', 'x', 'x', 'x')
  for (const item of running.splice(0)) lanes.done(item, false)
  expect([names(running), names(letGo)]).toEqual([['x'], ['x', 'x']])
  // The item took the place of the first that waited.
  expect(admit('a', 'x', 'x')).toEqual([true, false])
  expect(lanes.busy().lanes).toEqual([{ account_sid: 'a', destination: 'x' }])
  admit('a', 'y', 'y', 'y')
  expect(names(running)).toEqual(['x', 'y', 'y', 'y'])
  lanes.drain()
  for (const item of running.splice(0)) lanes.done(item, false)
  expect(lanes.busy()).toEqual({ accounts: [], lanes: [] })
  admit('a', 'x', 'x', 'x')
  expect(running).toHaveLength(3)
})

it('an item that was not sent leaves its destination as it was: one that fails still holds less', () => {
  const { lanes, running, admit, names } = setUp()
  admit('a', 'x', 'x', 'x', 'x', 'x')
  for (const item of running.splice(0)) lanes.done(item, false)
  for (const item of running.splice(0)) lanes.done(item, undefined)
  expect(names(running)).toEqual(['x'])
  expect(admit('a', 'x', 'x', 'x')).toEqual([true, true, false])
  for (const item of running.splice(0)) lanes.done(item, true)
  expect(names(running)).toEqual(['x', 'x'])
})
