import { describe, expect, it } from 'vitest'
import { createFakeClock } from '../../../test/support/fake-clock.ts'
import { HeardPaces } from './heard-pace.ts'

const short = 'x'
const long = 'x'.repeat(24 * 1024)

/** Returns how many messages are read before the socket has to wait. */
function readAtOnce(wait: (message: string) => number, message: string): number {
  for (let count = 0; ; count++) if (wait(message) > 0) return count
}

describe('how fast an application is read', () => {
  it('depends on how long its messages are', () => {
    const paces = new HeardPaces(createFakeClock())
    expect(readAtOnce(paces.socketOf('a'), short)).toBe(200)
    expect(readAtOnce(paces.socketOf('a'), long)).toBe(8)
  })

  it('is bounded for all sockets of an account together, and no other account waits for that', () => {
    const clock = createFakeClock()
    const paces = new HeardPaces(clock)
    const sockets = Array.from({ length: 50 }, () => paces.socketOf('a'))
    const total = sockets.reduce((sum, wait) => sum + readAtOnce(wait, short), 0)
    expect(total).toBeLessThanOrEqual(2000)
    expect(total).toBeGreaterThan(1900)
    expect(readAtOnce(paces.socketOf('b'), short)).toBe(200)
    clock.advance(60_000)
    expect(readAtOnce(paces.socketOf('a'), short)).toBe(200)
  })
})
