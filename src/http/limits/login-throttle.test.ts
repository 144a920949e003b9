import { describe, expect, it } from 'vitest'
import { createFakeClock } from '../../../test/support/fake-clock.ts'
import {
  createLoginThrottle,
  type LockOut,
  type LoginThrottle,
  type LoginThrottleOptions,
} from './login-throttle.ts'

const lockedOut = 'too many failed logins'

interface Guesser {
  readonly throttle: LoginThrottle
  readonly clock: ReturnType<typeof createFakeClock>
  /** The number of passwords that were verified. */
  readonly judged: () => number
  readonly wrong: (username: string, address: string) => Promise<boolean>
  readonly right: (username: string, address: string) => Promise<boolean>
}

function createGuesser(options: Pick<LoginThrottleOptions, 'onLockOut'> = {}): Guesser {
  const clock = createFakeClock()
  const throttle = createLoginThrottle({ clock, ...options })
  let judged = 0
  const judge = (username: string, address: string, isRight: boolean): Promise<boolean> =>
    throttle.judge({ username, address }, async () => {
      judged++
      await new Promise(setImmediate)
      return isRight
    })
  return {
    throttle,
    clock,
    judged: () => judged,
    wrong: (username, address) => judge(username, address, false),
    right: (username, address) => judge(username, address, true),
  }
}

async function times(count: number, attempt: (index: number) => Promise<unknown>): Promise<void> {
  for (let index = 0; index < count; index++) await attempt(index)
}

describe('the login throttle', () => {
  it('locks the pair of user and address, and no other', async () => {
    const { wrong, right } = createGuesser()
    await times(6, () => wrong('ann', '192.0.2.1'))
    await expect(right('ann', '192.0.2.1')).rejects.toThrow(lockedOut)
    expect(await right('ann', '192.0.2.2')).toBe(true)
    expect(await right('bob', '192.0.2.1')).toBe(true)
    // Names in another letter case are other names: if there is such a user, it is another one.
    expect(await right('ANN', '192.0.2.1')).toBe(true)
  })

  it('judges no more of a hundred guesses sent at once than of as many sent one by one', async () => {
    const { wrong, judged } = createGuesser()
    const outcomes = await Promise.allSettled(Array.from({ length: 100 }, () => wrong('ann', '192.0.2.1')))
    expect(judged()).toBe(6)
    expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(6)
  })

  it('lets any number of right passwords in at once, and counts none of them', async () => {
    const told: LockOut[] = []
    const { wrong, right } = createGuesser({ onLockOut: (lockOut) => told.push(lockOut) })
    await times(5, () => wrong('ann', '192.0.2.1'))
    const logins = await Promise.all(Array.from({ length: 50 }, () => right('ann', '192.0.2.1')))
    expect(logins).toEqual(Array<boolean>(50).fill(true))
    await times(5, () => wrong('ann', '192.0.2.1'))
    expect(await right('ann', '192.0.2.1')).toBe(true)
    expect(told).toEqual([])
  })

  it('counts no attempt that was called off, had no room, or could not be judged', async () => {
    const { throttle, right } = createGuesser()
    const attempt = { username: 'ann', address: '192.0.2.1' }
    await times(10, () =>
      expect(throttle.judge(attempt, () => Promise.reject(new Error('the thread died')))).rejects.toThrow(
        'died',
      ),
    )
    const gate = Promise.withResolvers<boolean>()
    const running = throttle.judge({ username: 'bob', address: '192.0.2.9' }, () => gate.promise)
    const client = new AbortController()
    const waiting = Array.from({ length: 110 }, () =>
      throttle.judge({ ...attempt, signal: client.signal }, async () => false),
    )
    const outcomes = Promise.allSettled(waiting)
    client.abort(new Error('the client went away'))
    gate.resolve(true)
    await running
    expect(new Set((await outcomes).map(({ status }) => status))).toEqual(new Set(['rejected']))
    expect(await right('ann', '192.0.2.1')).toBe(true)
  })

  it('forgives the failures of one user at every address, and of no other user', async () => {
    const { throttle, wrong, right } = createGuesser()
    const others = ['big ann', 'ann b', 'ANN']
    for (const name of ['ann', ...others])
      for (const address of ['192.0.2.1', '2001:db8::1']) await times(6, () => wrong(name, address))
    throttle.forgive('ann')
    for (const address of ['192.0.2.1', '2001:db8::1']) expect(await right('ann', address)).toBe(true)
    for (const name of others) await expect(right(name, '192.0.2.1')).rejects.toThrow(lockedOut)
  })

  it('locks a user whose password is tried from many addresses, except where it has logged in before', async () => {
    const { clock, wrong, right } = createGuesser()
    expect(await right('ann', '203.0.113.7')).toBe(true)
    await times(100, (index) => wrong('ann', `192.0.2.${index}`))
    await expect(right('ann', '198.51.100.1')).rejects.toThrow(lockedOut)
    expect(await right('ann', '203.0.113.7')).toBe(true)
    expect(await right('bob', '198.51.100.1')).toBe(true)
    clock.advance(1_800_000)
    expect(await right('ann', '198.51.100.1')).toBe(true)
  })

  it('counts failures where the user has logged in before for that place alone', async () => {
    const { wrong, right } = createGuesser()
    for (let address = 0; address < 20; address++) {
      await right('ann', `192.0.2.${address}`)
      await times(5, () => wrong('ann', `192.0.2.${address}`))
    }
    expect(await right('ann', '198.51.100.1')).toBe(true)
  })

  it('says how long the lock-out lasts', async () => {
    const { clock, wrong } = createGuesser()
    await times(6, () => wrong('ann', '192.0.2.1'))
    clock.advance(60_500)
    await expect(wrong('ann', '192.0.2.1')).rejects.toEqual(
      expect.objectContaining({ code: 'locked_out', retryAfterSeconds: 1740 }),
    )
  })

  it('locks an address that tries many users, before a user is looked up', async () => {
    const { throttle, wrong } = createGuesser()
    await times(60, (index) => wrong(`user ${index}`, '192.0.2.1'))
    await expect(wrong('one more', '192.0.2.1')).rejects.toThrow(lockedOut)
    expect(() => throttle.demandOpen('192.0.2.1')).toThrow(lockedOut)
    throttle.demandOpen('192.0.2.2')
  })

  it('reports each lock-out once, when it first refuses a login for it', async () => {
    const told: LockOut[] = []
    const { clock, wrong } = createGuesser({ onLockOut: (lockOut) => told.push(lockOut) })
    const guess = (username: string, count: number): Promise<void> =>
      times(count, () => wrong(username, '192.0.2.1').catch(() => undefined))
    await guess('ann', 6)
    expect(told).toEqual([])
    await guess('ann', 20)
    const ofAnn = { username: 'ann', address: '192.0.2.1', failures: 6 }
    expect(told).toEqual([ofAnn])
    for (let other = 0; other < 60; other++) await guess(`user ${other}`, 1)
    await guess('one more', 2)
    expect(told.slice(1)).toEqual([{ address: '192.0.2.1', failures: 60 }])
    clock.advance(1_800_000)
    await guess('ann', 7)
    expect(told.slice(2)).toEqual([ofAnn])
  })

  it('takes all addresses of a /64 for one, and the next /64 for another', async () => {
    const { wrong, right } = createGuesser()
    await times(6, (host) => wrong('ann', `2001:db8:0:1::${host + 1}`))
    await expect(right('ann', '2001:db8:0:1:ffff::1')).rejects.toThrow(lockedOut)
    expect(await right('ann', '2001:db8:0:2::1')).toBe(true)
    await times(54, (host) => wrong(`user ${host}`, `2001:db8:0:1::${host + 7}`))
    await expect(wrong('one more', '2001:db8:0:1::ffff')).rejects.toThrow(lockedOut)
    expect(await wrong('one more', '2001:db8:0:2::1')).toBe(false)
  })

  it.each([
    [
      '/48',
      18,
      (index: number) => `2001:db8:1:${index.toString(16)}::1`,
      '2001:db8:1:ffff::1',
      '2001:db8:2::1',
    ],
    ['/32', 54, (index: number) => `2001:db8:${index.toString(16)}::1`, '2001:db8:ffff::1', '2001:db9::1'],
  ])(
    'gives a %s %i guesses at one user, however many /64s it has',
    async (_size, max, addressOf, within, beyond) => {
      const { wrong, right, judged } = createGuesser()
      await times(max + 20, (index) => wrong('ann', addressOf(index)).catch(() => undefined))
      expect(judged()).toBe(max)
      await expect(right('ann', within)).rejects.toThrow(lockedOut)
      expect(await right('ann', beyond)).toBe(true)
      expect(await right('bob', within)).toBe(true)
    },
  )

  it('gives a /48 180 guesses at all users, however many /64s it has', async () => {
    const { wrong, judged } = createGuesser()
    await times(200, (index) =>
      wrong(`user ${index}`, `2001:db8:1:${index.toString(16)}::1`).catch(() => undefined),
    )
    expect(judged()).toBe(180)
  })

  it('answers a /64 twenty times an hour, whichever of its addresses asks without a token', () => {
    const { throttle } = createGuesser()
    for (let host = 1; host <= 20; host++) throttle.limitRequests(`2001:db8:0:1::${host}`)
    expect(() => throttle.limitRequests('2001:db8:0:1::ffff')).toThrow(
      expect.objectContaining({ code: 'too_many_requests', retryAfterSeconds: 180 }),
    )
    throttle.limitRequests('2001:db8:0:2::1')
  })

  it('counts from the last failure, and forgets after half an hour', async () => {
    const { clock, wrong } = createGuesser()
    await times(6, () => wrong('ann', '192.0.2.1'))
    clock.advance(1_799_999)
    await expect(wrong('ann', '192.0.2.1')).rejects.toThrow(lockedOut)
    clock.advance(1)
    expect(await wrong('ann', '192.0.2.1')).toBe(false)
  })
})
