import { describe, expect, it } from 'vitest'
import { createFakeClock } from '../../test/support/fake-clock.ts'
import { AnswerMeter } from './answer-meter.ts'

function setUp() {
  const clock = createFakeClock()
  const meter = new AnswerMeter(clock)
  meter.begin()
  /** Reads bytes of which some are of the body, in one piece. Returns whether all were read. */
  const read = (bytes: number, body = 0): boolean => {
    for (let left = bytes; left > 0;) {
      const { room } = meter
      if (room === 0) return false
      const seen = Math.min(room, left)
      meter.saw(seen)
      left -= seen
    }
    if (body > 0) meter.gotBody(body)
    return meter.fault === undefined
  }
  return { clock, meter, read }
}

describe('the bounds of an answer', () => {
  it('are 32 KiB before the body, and again after it', () => {
    const { meter, read } = setUp()
    expect(read(32 * 1024 - 1)).toBe(true)
    expect(meter.room).toBe(1)
    expect(read(1000, 1000)).toBe(false)
    meter.begin()
    expect(meter.room).toBe(0)
    const second = setUp()
    expect(second.read(20_000)).toBe(true)
    expect(second.read(4000, 4000)).toBe(true)
    expect(second.read(32 * 1024)).toBe(true)
    expect(second.read(1)).toBe(false)
    expect(second.meter.fault?.message).toBe('too many chunk sizes, chunk extensions or trailers')
  })

  it('are one byte for eight of the body, beyond 64 KiB', () => {
    const { read } = setUp()
    for (let chunk = 0; chunk < 1000; chunk += 1) expect(read(64 + 6, 64)).toBe(true)
    const small = setUp()
    let chunks = 0
    while (small.read(16 + 5, 16)) chunks += 1
    // The pieces are counted as well.
    expect(chunks).toBeLessThan(2500)
    const extended = setUp()
    let extensions = 0
    while (extended.read(8000, 1000)) extensions += 1
    expect(extensions).toBe(Math.floor((64 * 1024) / (7000 - 1000 / 8)))
  })

  it('do not count what the parser has given back', () => {
    const { meter, read } = setUp()
    for (let piece = 0; piece < 100; piece += 1) {
      expect(read(30_000, 1000)).toBe(true)
      meter.saw(-29_000)
    }
    expect(meter.room).toBe(32 * 1024)
  })

  it('are 2000 pieces a second, and more for a long answer', () => {
    const { clock, meter, read } = setUp()
    for (let second = 0; second < 3; second += 1) {
      clock.advance(1000)
      for (let piece = 0; piece < 1000; piece += 1) {
        meter.arrived()
        expect(read(7, 1)).toBe(true)
      }
    }
    const long = setUp()
    for (let piece = 0; piece < 9000; piece += 1) expect(long.read(150, 150)).toBe(true)
    const fine = setUp()
    for (let piece = 0; piece < 2100; piece += 1) fine.read(6, 1)
    expect(fine.meter.fault?.message).toBe('too many small pieces')
  })
})
