import { describe, expect, it } from 'vitest'
import { digitsByEvent, parseTelephoneEvent, writeTelephoneEvent } from './telephone-event.ts'

describe('a telephone event', () => {
  it.each([
    ['0', false, 160],
    ['9', true, 0xffff],
    ['#', true, 800],
    ['D', false, 0],
  ])('for %s is read as it was written', (digit, isEnd, duration) => {
    const event = digitsByEvent.indexOf(digit)
    const payload = writeTelephoneEvent({ event, isEnd, duration })
    expect(payload).toHaveLength(4)
    expect(parseTelephoneEvent(payload)).toEqual({ event, isEnd, duration })
  })

  it('as a phone sends it has its volume and the reserved bit passed over', () => {
    // RFC 4733 §2.3: event 1, the end, reserved, volume 63, 400 units.
    expect(parseTelephoneEvent(Buffer.from('01ff0190', 'hex'))).toEqual({
      event: 1,
      isEnd: true,
      duration: 400,
    })
  })

  it('lasts no longer than its field says, however long the key is held', () => {
    const payload = writeTelephoneEvent({ event: 5, isEnd: false, duration: 70_000 })
    expect(parseTelephoneEvent(payload)?.duration).toBe(65_535)
  })

  it('of a redundant payload is its newest block', () => {
    const blocks = [1, 2].map((event) => writeTelephoneEvent({ event, isEnd: true, duration: 160 }))
    expect(parseTelephoneEvent(Buffer.concat(blocks))?.event).toBe(1)
  })

  it.each([0, 1, 3])('of %i octets is none', (bytes) => {
    expect(parseTelephoneEvent(Buffer.alloc(bytes))).toBeUndefined()
  })
})
