import { describe, expect, it } from 'vitest'
import { createFakeClock } from '../lib/fake-clock.ts'
import { createLoginThrottle } from './login-throttle.ts'
import type { LockOut } from './login-throttle.ts'

describe('the login throttle', () => {
  it('locks the pair of user and address, and nobody else', () => {
    const throttle = createLoginThrottle({ clock: createFakeClock() })
    for (let count = 0; count < 6; count++) throttle.begin('ann', '192.0.2.1')
    expect(() => throttle.begin('ann', '192.0.2.1')).toThrow('too many failed logins')
    throttle.begin('ann', '192.0.2.2')
    throttle.begin('bob', '192.0.2.1')
    // Names are told apart by their letters: this is somebody else, if anybody.
    throttle.begin('ANN', '192.0.2.1')
  })

  it('forgives the failures of one user at every address, and of nobody else', () => {
    const throttle = createLoginThrottle({ clock: createFakeClock() })
    const others = ['big ann', 'ann b', 'ANN']
    for (let count = 0; count < 6; count++)
      for (const name of ['ann', ...others])
        for (const address of ['192.0.2.1', '2001:db8::1']) throttle.begin(name, address)
    throttle.forgive('ann')
    for (const address of ['192.0.2.1', '2001:db8::1']) throttle.begin('ann', address)
    for (const name of others)
      expect(() => throttle.begin(name, '192.0.2.1')).toThrow('too many failed logins')
  })

  it('says how long the lock-out lasts', () => {
    const clock = createFakeClock()
    const throttle = createLoginThrottle({ clock })
    for (let count = 0; count < 6; count++) throttle.begin('ann', '192.0.2.1')
    clock.advance(60_500)
    expect(() => throttle.begin('ann', '192.0.2.1')).toThrow(
      expect.objectContaining({ code: 'locked_out', retryAfterSeconds: 1740 }),
    )
  })

  it('locks an address that tries many users', () => {
    const throttle = createLoginThrottle({ clock: createFakeClock() })
    for (let count = 0; count < 60; count++) throttle.begin(`user ${count}`, '192.0.2.1')
    expect(() => throttle.begin('one more', '192.0.2.1')).toThrow('too many failed logins')
  })

  it('tells of each lock-out once, when it first refuses somebody for it', () => {
    const clock = createFakeClock()
    const told: LockOut[] = []
    const throttle = createLoginThrottle({ clock, onLockOut: (lockOut) => told.push(lockOut) })
    const guess = (username: string, times: number): void => {
      for (let count = 0; count < times; count++)
        try {
          throttle.begin(username, '192.0.2.1')
        } catch {
          // Locked out.
        }
    }
    guess('ann', 6)
    expect(told).toEqual([])
    guess('ann', 20)
    expect(told).toEqual([{ username: 'ann', address: '192.0.2.1' }])
    for (let other = 0; other < 60; other++) guess(`user ${other}`, 1)
    guess('one more', 2)
    expect(told.slice(1)).toEqual([{ address: '192.0.2.1' }])
    clock.advance(1_800_000)
    guess('ann', 7)
    expect(told.slice(2)).toEqual([{ username: 'ann', address: '192.0.2.1' }])
  })

  it('takes all addresses of a /64 for one, and the next /64 for somebody else', () => {
    const throttle = createLoginThrottle({ clock: createFakeClock() })
    for (let host = 1; host <= 6; host++) throttle.begin('ann', `2001:db8:0:1::${host}`)
    expect(() => throttle.begin('ann', '2001:db8:0:1:ffff::1')).toThrow('too many failed logins')
    throttle.begin('ann', '2001:db8:0:2::1')
    for (let host = 7; host <= 60; host++) throttle.begin(`user ${host}`, `2001:db8:0:1::${host}`)
    expect(() => throttle.begin('one more', '2001:db8:0:1::ffff')).toThrow('too many failed logins')
    throttle.begin('one more', '2001:db8:0:2::1')
  })

  it('answers a /64 twenty times an hour, whichever of its addresses asks without a token', () => {
    const clock = createFakeClock()
    const throttle = createLoginThrottle({ clock })
    for (let host = 1; host <= 20; host++) throttle.demandPatience(`2001:db8:0:1::${host}`)
    expect(() => throttle.demandPatience('2001:db8:0:1::ffff')).toThrow(
      expect.objectContaining({ code: 'too_many_requests', retryAfterSeconds: 180 }),
    )
    throttle.demandPatience('2001:db8:0:2::1')
  })

  it('counts from the last failure, and forgets after half an hour', () => {
    const clock = createFakeClock()
    const throttle = createLoginThrottle({ clock })
    for (let count = 0; count < 6; count++) throttle.begin('ann', '192.0.2.1')
    clock.advance(1_799_999)
    expect(() => throttle.begin('ann', '192.0.2.1')).toThrow('too many failed logins')
    clock.advance(1)
    throttle.begin('ann', '192.0.2.1')
  })

  it('hashes one password at a time, in order, and refuses more than a hundred waiting', async () => {
    const throttle = createLoginThrottle({ clock: createFakeClock() })
    const gates: (() => void)[] = []
    const started: number[] = []
    const work = (number: number) => () =>
      new Promise<number>((resolve) => {
        started.push(number)
        gates.push(() => resolve(number))
      })
    const running = Array.from({ length: 101 }, (_, number) => throttle.hashing(work(number)))
    await expect(throttle.hashing(work(101))).rejects.toThrow('too many logins at once')
    expect(started).toEqual([0])
    for (let number = 0; number < 101; number++) {
      gates[number]!()
      await running[number]
    }
    expect(started).toEqual(Array.from({ length: 101 }, (_, number) => number))
  })

  it('lets whoever goes away leave the line, and the next move up', async () => {
    const throttle = createLoginThrottle({ clock: createFakeClock() })
    const gates: (() => void)[] = []
    const gate = (): Promise<void> => new Promise((resolve) => gates.push(resolve))
    const first = throttle.hashing(gate)
    const client = new AbortController()
    const hashed: string[] = []
    const gone = throttle.hashing(async () => hashed.push('gone'), client.signal)
    const next = throttle.hashing(async () => hashed.push('next'), new AbortController().signal)
    client.abort(new Error('the client went away'))
    await expect(gone).rejects.toThrow('the client went away')
    for (const open of gates) open()
    await Promise.all([first, next])
    expect(hashed).toEqual(['next'])
    await expect(throttle.hashing(async () => hashed.push('late'), client.signal)).rejects.toThrow(
      'went away',
    )
    expect(hashed).toEqual(['next'])
  })
})
