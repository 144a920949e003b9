import { describe, expect, it } from 'vitest'
import { createFakeClock } from '../../../test/support/fake-clock.ts'
import { ThreadTime } from '../../lib/bounds/thread-time.ts'
import type { Clock } from '../../lib/clock.ts'
import { HeardPaces } from './heard-pace.ts'

const pacesBy = (clock: Clock) => new HeardPaces({ clock, threadTime: new ThreadTime({ clock }) })
const short = 'x'
const long = 'x'.repeat(24 * 1024)

/** Returns how many messages are read before the socket has to wait. */
function readAtOnce(wait: (message: string) => number, message: string): number {
  for (let count = 0; ; count++) if (wait(message) > 0) return count
}

describe('how fast an application is read', () => {
  it('depends on how long its messages are', () => {
    const paces = pacesBy(createFakeClock())
    expect(readAtOnce(paces.socketOf('a'), short)).toBe(200)
    expect(readAtOnce(paces.socketOf('a'), long)).toBe(8)
  })

  it('is bounded for all sockets of an account together, and no other account waits for that', () => {
    const clock = createFakeClock()
    const paces = pacesBy(clock)
    const sockets = Array.from({ length: 50 }, () => paces.socketOf('a'))
    const total = sockets.reduce((sum, wait) => sum + readAtOnce(wait, short), 0)
    expect(total).toBeLessThanOrEqual(2000)
    expect(total).toBeGreaterThan(1900)
    expect(readAtOnce(paces.socketOf('b'), short)).toBe(200)
    clock.advance(60_000)
    expect(readAtOnce(paces.socketOf('a'), short)).toBe(200)
  })

  it('is bounded by the time that its messages take, for all sockets of the account together', () => {
    const clock = createFakeClock()
    let ms = 0
    const threadTime = new ThreadTime({ clock, measure: () => ms })
    const paces = new HeardPaces({ clock, threadTime })
    const wait = paces.socketOf('a')
    threadTime.charge('a', () => (ms += 500))
    expect([wait(short), paces.socketOf('a')(short), paces.socketOf('b')(short)]).toEqual([500, 500, 0])
  })
})
