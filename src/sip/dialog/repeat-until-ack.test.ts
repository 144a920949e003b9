import { beforeEach, describe, expect, it } from 'vitest'
import { createFakeClock, type FakeClock } from '../../../test/support/fake-clock.ts'
import { standardTimers } from '../timers.ts'
import { repeatUntilAck } from './repeat-until-ack.ts'

let clock: FakeClock
let told: (number | string)[]
let stop: () => void

beforeEach(() => {
  clock = createFakeClock()
  told = []
  stop = repeatUntilAck({
    clock,
    timers: standardTimers,
    repeat: () => void told.push(clock.monotonic()),
    timedOut: () => void told.push('timed out'),
  })
})

describe('a 2xx without an ACK (RFC 3261 §13.3.1.4)', () => {
  it('goes out after T1, then after twice as long each time, at most T2', () => {
    clock.advance(20_000)
    expect(told).toEqual([500, 1_500, 3_500, 7_500, 11_500, 15_500, 19_500])
  })

  it('is given up after 64*T1, once, and is not repeated then', () => {
    clock.advance(31_999)
    expect(told).not.toContain('timed out')
    clock.advance(1)
    expect(told.at(-1)).toBe('timed out')
    clock.advance(100_000)
    expect(told.filter((item) => item === 'timed out')).toHaveLength(1)
    expect(told.at(-1)).toBe('timed out')
    expect(clock.pending).toBe(0)
  })

  it('is not repeated any more once it is stopped, nor given up', () => {
    clock.advance(600)
    stop()
    stop()
    clock.advance(100_000)
    expect(told).toEqual([500])
    expect(clock.pending).toBe(0)
  })

  it('keeps the times of other timers', () => {
    const times: number[] = []
    const timers = { ...standardTimers, t1Ms: 10, t2Ms: 40 }
    const start = clock.monotonic()
    repeatUntilAck({
      clock,
      timers,
      repeat: () => void times.push(clock.monotonic() - start),
      timedOut: () => undefined,
    })
    clock.advance(200)
    expect(times).toEqual([10, 30, 70, 110, 150, 190])
  })
})
