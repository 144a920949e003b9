// The limit on the data of one server, by a clock that is moved by hand.
import { describe, expect, it } from 'vitest'
import { Hearing } from './hearing.ts'

const limits = { perSecond: 10_000, atOnce: 20_000, perMessage: 100, maxIdle: 400 }

function hearing() {
  const seen = { taken: 0, isHeld: false, exceeded: 0 }
  const clock = { ms: 0 }
  const subject: Hearing = new Hearing({
    limits,
    nowMs: () => clock.ms,
    take: () => (seen.taken += 1),
    flow: () => (seen.isHeld = subject.isHeld),
    exceeded: () => (seen.exceeded += 1),
  })
  const pass = (ms: number): void => {
    for (let passed = 0; passed < ms; passed += 20) {
      clock.ms += 20
      subject.beat()
    }
  }
  const hear = (count: number, message: string | Buffer): void => {
    for (let at = 0; at < count; at += 1) subject.hear(message)
  }
  return { subject, seen, pass, hear }
}

describe('what a server says', () => {
  it('is taken at once up to a bound, and then at a steady rate, in which all is taken', () => {
    const { seen, pass, hear } = hearing()
    hear(300, Buffer.alloc(160))
    expect(seen).toMatchObject({ taken: 200, isHeld: true })
    pass(500)
    expect(seen.taken).toBeGreaterThanOrEqual(249)
    expect(seen.taken).toBeLessThanOrEqual(251)
    expect(seen.isHeld).toBe(true)
    pass(600)
    expect(seen).toEqual({ taken: 300, isHeld: false, exceeded: 0 })
  })

  it('waits in the network when its bytes are more than may come, be they of a message or not', () => {
    const { subject, seen, pass } = hearing()
    subject.received(25_000)
    expect(seen.isHeld).toBe(true)
    pass(400)
    expect(seen.isHeld).toBe(true)
    pass(200)
    expect(seen).toEqual({ taken: 0, isHeld: false, exceeded: 0 })
  })

  it.each([
    ['texts', '{"type":"mark","data":{"name":"x"}}'],
    ['pieces of a sample', Buffer.alloc(2)],
  ])('ends when it goes on with %s, faster than may be', (_what, message) => {
    const { seen, pass, hear } = hearing()
    hear(1000, message)
    pass(1900)
    expect(seen.exceeded).toBe(0)
    pass(5000)
    // Messages within the first half of the burst do not count.
    expect(seen).toMatchObject({ taken: 500, exceeded: 1 })
    hear(10, message)
    pass(1000)
    expect(seen).toMatchObject({ taken: 500, exceeded: 1 })
  })

  it('ends with pings too', () => {
    const { subject, seen } = hearing()
    for (let count = 0; count < 1000; count += 1) subject.controlled()
    expect(seen).toEqual({ taken: 0, isHeld: true, exceeded: 1 })
  })

  it.each([
    ['sound and clips', Buffer.alloc(320), 0],
    ['clips', '{"type":"playAudio","data":{}}', 0],
    ['texts with rests between them', 'x', 1500],
  ])('may be %s for as long as it likes', (_what, message, restMs) => {
    const { seen, pass, hear } = hearing()
    for (let turn = 0; turn < 20; turn += 1) {
      hear(100, message)
      pass(1000 + restMs)
    }
    expect(seen).toMatchObject({ taken: 2000, exceeded: 0 })
  })
})
