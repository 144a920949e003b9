import { describe, expect, it } from 'vitest'
import { isRtcp, parseRtp, timestampDistance, writeRtpHeader } from './packet.ts'

const header = { marker: true, payloadType: 101, sequence: 65_535, timestamp: 0xffff_fff0, ssrc: 0xdead_beef }

function packet(payload = Buffer.from('speech')): Buffer {
  const start = Buffer.alloc(12)
  writeRtpHeader(start, header)
  return Buffer.concat([start, payload])
}

describe('an RTP packet', () => {
  it('is read as it was written', () => {
    const datagram = packet()
    expect(parseRtp(datagram)).toEqual({ ...header, payload: Buffer.from('speech'), datagram })
  })

  it('is read past CSRCs and a header extension, without its padding', () => {
    const start = packet(Buffer.alloc(0))
    start[0] = 0x80 | 0x20 | 0x10 | 2
    const extension = Buffer.from([0xbe, 0xde, 0, 1, 1, 2, 3, 4])
    const datagram = Buffer.concat([
      start,
      Buffer.alloc(8),
      extension,
      Buffer.from('speech'),
      Buffer.from([0, 0, 3]),
    ])
    const read = parseRtp(datagram)
    expect(read?.payload.toString()).toBe('speech')
    // Its own header cannot be replaced by one of 12 octets.
    expect(read?.datagram).toBeUndefined()
  })

  it.each<[string, Buffer]>([
    ['nothing', Buffer.alloc(0)],
    ['eleven octets', packet().subarray(0, 11)],
    ['version 1', Buffer.concat([Buffer.from([0x40]), packet().subarray(1)])],
    ['version 3', Buffer.concat([Buffer.from([0xc0]), packet().subarray(1)])],
    ['more CSRCs than octets', Buffer.concat([Buffer.from([0x8f]), packet().subarray(1)])],
    [
      'an extension beyond its end',
      Buffer.concat([Buffer.from([0x90]), packet(Buffer.from([0, 0, 9, 9])).subarray(1)]),
    ],
    ['an extension cut short', Buffer.concat([Buffer.from([0x90]), packet(Buffer.alloc(2)).subarray(1)])],
    ['padding without count', Buffer.concat([Buffer.from([0xa0]), packet(Buffer.alloc(4)).subarray(1)])],
    [
      'more padding than octets',
      Buffer.concat([Buffer.from([0xa0]), packet(Buffer.alloc(4, 200)).subarray(1)]),
    ],
    ['more than an Ethernet frame', packet(Buffer.alloc(1500))],
  ])('is none: %s', (_name, datagram) => {
    expect(parseRtp(datagram)).toBeUndefined()
  })

  it('never throws on random octets', () => {
    for (let round = 0; round < 20_000; round += 1) {
      const datagram = Buffer.from(Array.from({ length: round % 60 }, () => Math.floor(Math.random() * 256)))
      expect(() => parseRtp(datagram)).not.toThrow()
    }
  })
})

describe('on a shared port', () => {
  it.each([
    [200, true],
    [201, true],
    [203, true],
    [0, false],
    [128, false],
    [101, false],
    [229, false],
  ])('a second octet of %i means RTCP: %s', (octet, expected) => {
    expect(isRtcp(Buffer.from([0x80, octet]))).toBe(expected)
  })
})

describe('timestamps', () => {
  it('are compared across their wrap', () => {
    expect(timestampDistance(0xffff_fff0, 0x10)).toBe(0x20)
    expect(timestampDistance(0x10, 0xffff_fff0)).toBe(-0x20)
  })
})
