import { describe, expect, it } from 'vitest'
import { createFakeClock } from '../../../test/support/fake-clock.ts'
import { oneStep, ThreadTime, type TurnOptions } from './thread-time.ts'

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

describe('work in turn', () => {
  /** Steps of 1 ms, which note who has worked. */
  function setUpSteps() {
    const { clock, time, take } = setUp()
    const seen: string[] = []
    function* steps(account: string, count: number): Generator<undefined, string> {
      for (let step = 1; step <= count; step += 1) {
        take(undefined, 1)
        seen.push(account)
        yield
      }
      return `${account} is done`
    }
    const work = (account: string | undefined, count: number, options?: TurnOptions) =>
      time.inTurn(account, steps(account ?? 'platform', count), options)
    return { clock, time, take, seen, work }
  }
  const turn = () => new Promise((resolve) => setImmediate(resolve))

  it('is done immediately if it is short, and otherwise in pieces between which other events are handled', async () => {
    const { seen, work, time } = setUpSteps()
    await expect(work('a', 1)).resolves.toBe('a is done')
    await turn()
    const long = work('a', 7)
    const lengths: number[] = []
    for (let count = 0; count < 4; count += 1) {
      lengths.push(seen.length)
      await turn()
    }
    await expect(long).resolves.toBe('a is done')
    expect(lengths).toEqual([3, 5, 7, 8])
    expect(time.waitMs('a')).toBe(0)
  })

  it('alternates between accounts, and is done in order for each', async () => {
    const { seen, work } = setUpSteps()
    await Promise.all([work('a', 6), work('a', 2), work('b', 3), work(undefined, 2)])
    expect(seen.join(' ')).toBe('a a a a b b platform platform a a b a a')
  })

  it('is charged to the account, and waits until the account has paid for the work before', async () => {
    const { clock, time, take, seen, work } = setUpSteps()
    take('a', 420)
    const waiting = work('a', 1)
    await work('b', 1)
    expect(seen).toEqual(['b'])
    clock.advance(100)
    await turn()
    await waiting
    expect(seen).toEqual(['b', 'a'])
    expect(time.waitMs('a')).toBe(5)
  })

  it('is given up with the reason of the signal, or by name where it would wait too long', async () => {
    const { clock, take, seen, work } = setUpSteps()
    take('a', 500)
    const gone = new AbortController()
    const left = work('a', 1, { signal: gone.signal, maxMs: 1000 })
    const late = work('a', 1, { maxMs: 200 })
    gone.abort(new Error('gone'))
    await expect(left).rejects.toThrow('gone')
    await expect(work('a', 1, { signal: gone.signal })).rejects.toThrow('gone')
    clock.advance(200)
    await expect(late).rejects.toMatchObject({ code: 'account_share' })
    clock.advance(10_000)
    await turn()
    expect(seen).toEqual([])
  })

  it('fails as its step does, and others go on', async () => {
    const { work, time } = setUpSteps()
    const broken = oneStep(() => {
      throw new Error('broken')
    })
    await expect(time.inTurn('a', broken)).rejects.toThrow('broken')
    await expect(
      time.inTurn(
        'a',
        oneStep(() => 1),
      ),
    ).resolves.toBe(1)
    await expect(work('a', 3)).resolves.toBe('a is done')
  })
})
