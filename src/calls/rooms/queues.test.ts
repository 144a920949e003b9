// The bounds on waiting calls and on queues.
import { expect, it } from 'vitest'
import { AppError } from '../../lib/errors.ts'
import type { Party } from './party.ts'
import { Queues, type QueuePlace } from './queues.ts'

const party = (call_sid: string): Party => ({ leg: { call_sid } }) as unknown as Party
const bounds = { maxCallers: 2, maxAgents: 2, maxQueues: 2 }
const nothing = (): undefined => undefined

function queues() {
  const all = new Queues(bounds)
  let count = 0
  const enter = (name: string, account_sid = 'a'): QueuePlace => {
    count += 1
    return all.enter(
      { account_sid, name },
      { party: party(`c${count}`), priority: 1, entered: nothing, taken: nothing },
    )
  }
  const take = (name: string, wants?: string) =>
    all.take({ account_sid: 'a', name }, { party: party('agent'), wants, took: nothing })
  return { all, enter, take }
}

function sentenceOf(work: () => unknown): string {
  try {
    work()
  } catch (error) {
    if (error instanceof AppError && error.code === 'queue_full') return error.message
    throw error
  }
  return 'nothing was thrown'
}

it('one queue holds no more callers than its bound', () => {
  const { enter, all } = queues()
  const first = enter('x')
  enter('x')
  expect(sentenceOf(() => enter('x'))).toBe('2 callers wait in the queue "x"')
  first.leave()
  enter('x')
  expect(all.list('a')).toEqual([{ name: 'x', length: 2 }])
})

it('no more agents than the bound wait for the callers of one', () => {
  const { take } = queues()
  const first = take('x')
  take('x', 'someone')
  expect(sentenceOf(() => take('x'))).toBe('2 calls wait for callers of the queue "x"')
  expect(first.quit()).toBe(true)
  take('x')
})

it('an account has no more of them than the bound, whatever another one has', () => {
  const { enter, take } = queues()
  enter('x', 'b')
  enter('y', 'b')
  const first = enter('x')
  take('y')
  expect(sentenceOf(() => enter('z'))).toBe('the account has 2 queues with callers or agents in them')
  first.leave()
  enter('z')
})

it('one that no one waits in is forgotten', () => {
  const { all, enter, take } = queues()
  for (let count = 0; count < 10; count += 1) {
    enter(`x${count}`).leave()
    take(`y${count}`).quit()
    enter(`z${count}`)
    take(`z${count}`)
  }
  expect(all.list('a')).toEqual([])
})

it('lists by name', () => {
  const { all, enter } = queues()
  enter('b')
  enter('a')
  expect(all.list('a').map(({ name }) => name)).toEqual(['a', 'b'])
})
