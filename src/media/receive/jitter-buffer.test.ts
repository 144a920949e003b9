import { describe, expect, it } from 'vitest'
import type { RtpPacket } from '../rtp/packet.ts'
import { JitterBuffer, type Speech } from './jitter-buffer.ts'

const speech = (timestamp: number, samples = 160): Speech => ({
  samples,
  packet: {
    marker: false,
    payloadType: 0,
    sequence: 0,
    timestamp: timestamp >>> 0,
    ssrc: 1,
    payload: Buffer.alloc(samples),
  } satisfies RtpPacket,
})

const takenAt = (buffer: JitterBuffer, nowMs: number): number | undefined =>
  buffer.take(nowMs)?.packet.timestamp

/** Returns a buffer that has handed out packet 0 and waits for 160. */
function running(): JitterBuffer {
  const buffer = new JitterBuffer()
  buffer.put(speech(0), 0)
  expect(takenAt(buffer, 15)).toBe(0)
  return buffer
}

describe('the first packet', () => {
  it('waits for 10 ms, so that the next one may be late', () => {
    const buffer = new JitterBuffer()
    expect(buffer.take(0)).toBeUndefined()
    buffer.put(speech(5000), 100)
    expect(buffer.take(109)).toBeUndefined()
    expect(takenAt(buffer, 110)).toBe(5000)
    expect(buffer.isEmpty).toBe(true)
  })

  it('begins again after a reset', () => {
    const buffer = running()
    buffer.put(speech(160), 20)
    buffer.reset()
    expect(buffer.isEmpty).toBe(true)
    expect(buffer.ahead).toBe(0)
    buffer.put(speech(160), 30)
    expect(buffer.take(35)).toBeUndefined()
    expect(takenAt(buffer, 45)).toBe(160)
  })
})

describe('packets', () => {
  it.each([
    ['in order', [160, 320, 480]],
    ['mixed up', [480, 160, 320]],
    ['repeated', [160, 160, 480, 320, 480]],
  ])('that come %s are handed out in order and once', (_what, timestamps) => {
    const buffer = running()
    for (const timestamp of timestamps) buffer.put(speech(timestamp), 20)
    expect([20, 40, 60, 80].map((nowMs) => takenAt(buffer, nowMs))).toEqual([160, 320, 480, undefined])
  })

  it('go on where timestamps wrap', () => {
    const buffer = new JitterBuffer()
    for (const timestamp of [-320, -160, 0, 160]) buffer.put(speech(timestamp), 0)
    expect([10, 30, 50, 70].map((nowMs) => takenAt(buffer, nowMs))).toEqual([
      0xffff_ffff - 319,
      0xffff_ffff - 159,
      0,
      160,
    ])
  })

  it('are dropped when their time has passed', () => {
    const buffer = running()
    buffer.put(speech(320), 20)
    buffer.makeUp(160)
    expect(takenAt(buffer, 40)).toBe(320)
    buffer.put(speech(160), 45)
    expect(buffer.isEmpty).toBe(true)
  })

  it('may have any length', () => {
    const buffer = running()
    buffer.put(speech(160, 480), 20)
    buffer.put(speech(640, 80), 20)
    expect(buffer.ahead).toBe(560)
    expect([20, 40].map((nowMs) => takenAt(buffer, nowMs))).toEqual([160, 640])
  })
})

describe('what is missing', () => {
  it('is known when a later packet is there, and made up before that is handed out', () => {
    const buffer = running()
    buffer.put(speech(480), 20)
    expect(buffer.missing).toBe(320)
    expect(buffer.take(20)).toBeUndefined()
    buffer.makeUp(160)
    expect(buffer.missing).toBe(160)
    expect(buffer.take(40)).toBeUndefined()
    buffer.makeUp(160)
    expect(takenAt(buffer, 60)).toBe(480)
  })

  it('is not known when nothing is there', () => {
    expect(running().missing).toBe(Infinity)
    expect(new JitterBuffer().missing).toBe(Infinity)
  })

  it('that comes late after all is handed out, and the delay is longer by what was made up', () => {
    const buffer = running()
    expect(buffer.take(35)).toBeUndefined()
    buffer.makeUp(160)
    buffer.put(speech(160), 50)
    buffer.put(speech(320), 50)
    expect(takenAt(buffer, 55)).toBe(160)
    expect(buffer.ahead).toBe(160)
  })

  it('counts what was made up while nothing was there: a pause of the far end does not delay what follows', () => {
    const buffer = running()
    for (let frame = 0; frame < 50; frame += 1) {
      expect(buffer.take(35 + frame * 20)).toBeUndefined()
      buffer.makeUp(160)
    }
    buffer.put(speech(160 + 50 * 160), 1036)
    expect(takenAt(buffer, 1037)).toBe(160 + 50 * 160)
  })

  it('is not made up over more than 120 ms: the far end counts elsewhere', () => {
    const buffer = running()
    buffer.put(speech(160 + 961), 20)
    expect(takenAt(buffer, 20)).toBe(160 + 961)
    buffer.put(speech(900_000), 40)
    expect(takenAt(buffer, 40)).toBe(900_000)
  })

  it('is nothing when the far end counts from far behind: it begins again', () => {
    const buffer = new JitterBuffer()
    buffer.put(speech(100_000), 0)
    expect(takenAt(buffer, 10)).toBe(100_000)
    buffer.put(speech(4000), 20)
    expect(takenAt(buffer, 30)).toBe(4000)
  })
})

describe('a burst', () => {
  it('after a standstill is cut to its last 60 ms', () => {
    const buffer = running()
    for (let packet = 1; packet <= 50; packet += 1) buffer.put(speech(packet * 160), 1000)
    expect(takenAt(buffer, 1000)).toBe(48 * 160)
    expect(buffer.ahead).toBe(320)
  })

  it('of up to 180 ms is kept', () => {
    const buffer = running()
    for (let packet = 1; packet <= 9; packet += 1) buffer.put(speech(packet * 160), 180)
    expect(takenAt(buffer, 180)).toBe(160)
  })
})

describe('slack', () => {
  /**
   * Runs frames of a steady network with this many packets waiting, and returns the number of frames until there was
   * spare delay.
   */
  function framesUntilSpare(waiting: number, frames: number): number | undefined {
    const buffer = running()
    for (let packet = 1; packet <= waiting; packet += 1) buffer.put(speech(packet * 160), 0)
    for (let frame = 1; frame <= frames; frame += 1) {
      buffer.put(speech((waiting + frame) * 160), frame * 20)
      expect(buffer.take(frame * 20)).toBeDefined()
      if (buffer.hasSpare(0)) return frame
    }
    return undefined
  }

  it('of less than a frame is kept', () => {
    expect(framesUntilSpare(0, 2000)).toBeUndefined()
  })

  it('that was not needed for five seconds is given back', () => {
    expect(framesUntilSpare(2, 2000)).toBe(250)
  })

  it('of 80 ms is given back after one', () => {
    expect(framesUntilSpare(5, 2000)).toBe(50)
  })

  it('is what was left in the worst moment', () => {
    const buffer = running()
    let packet = 1
    let spare = 0
    for (let frame = 1; frame <= 1000; frame += 1) {
      // Three packets together every 60 ms: just before they come, nothing is left.
      if (frame % 3 === 1)
        for (let more = 0; more < 3; more += 1) buffer.put(speech(160 * packet++), frame * 20)
      expect(buffer.take(frame * 20)).toBeDefined()
      if (buffer.hasSpare(0)) spare += 1
    }
    expect(spare).toBe(0)
  })

  it('that was given back is not there any more', () => {
    const buffer = running()
    for (let packet = 1; packet <= 2; packet += 1) buffer.put(speech(packet * 160), 0)
    for (let frame = 1; frame <= 250; frame += 1) {
      buffer.put(speech((2 + frame) * 160), frame * 20)
      buffer.take(frame * 20)
      buffer.hasSpare(0)
    }
    expect(buffer.hasSpare(0)).toBe(true)
    buffer.shortened(320)
    expect(buffer.hasSpare(0)).toBe(false)
  })
})
