import { describe, expect, it } from 'vitest'
import { createFakeClock } from '../../../test/support/fake-clock.ts'
import { ThreadTime } from './thread-time.ts'

function setUp() {
  const clock = createFakeClock()
  let ms = 0
  const time = new ThreadTime({ clock, measure: () => ms })
  const take = (account: string | undefined, tookMs: number) => time.charge(account, () => (ms += tookMs))
  return { clock, time, take }
}

describe('the time of the main thread', () => {
  it('is a burst for each account, and then a fifth of the thread', () => {
    const { clock, time, take } = setUp()
    take('a', 400)
    expect(time.waitMs('a')).toBe(0)
    take('a', 10)
    expect([time.waitMs('a'), time.waitMs('b')]).toEqual([50, 0])
    clock.advance(50)
    expect(time.waitMs('a')).toBe(0)
    take('a', 100)
    expect(time.waitMs('a')).toBe(500)
    clock.advance(3_600_000)
    take('a', 401)
    expect(time.waitMs('a')).toBe(5)
  })

  it('is charged also for work that fails, once for work within work, and never to the platform', () => {
    const { time, take } = setUp()
    const fail = (): never => {
      take('b', 410)
      throw new Error('broken')
    }
    expect(() => time.charge('a', fail)).toThrow('broken')
    expect([time.waitMs('a'), time.waitMs('b')]).toEqual([50, 0])
    take(undefined, 10_000)
    expect(time.waitMs('a')).toBe(50)
  })

  it('is waited for, and refused by name where that takes too long', async () => {
    const { clock, time, take } = setUp()
    take('a', 500)
    await expect(time.turn('a', 400)).rejects.toMatchObject({ code: 'account_share' })
    await time.turn('b', 0)
    let isTurn = false
    const turn = time.turn('a', 600).then(() => (isTurn = true))
    clock.advance(499)
    await Promise.resolve()
    expect(isTurn).toBe(false)
    clock.advance(1)
    await turn
    const gone = new AbortController()
    take('a', 100)
    const waiting = time.turn('a', 600, gone.signal)
    gone.abort(new Error('gone'))
    await expect(waiting).rejects.toThrow('gone')
  })
})
