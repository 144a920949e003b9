import { describe, expect, it } from 'vitest'
import { OggPackets } from './ogg-packets.ts'

/** Returns a page of RFC 3533 §6 with these segment lengths. */
function pageOf(payload: Uint8Array, lengths: readonly number[], serial = 1): Buffer {
  const head = Buffer.alloc(27)
  head.write('OggS')
  head.writeUInt32LE(serial, 14)
  head.writeUInt8(lengths.length, 26)
  return Buffer.concat([head, Buffer.from(lengths), payload])
}

/** Returns the packets of some pages, fed in pieces of this number of octets. */
function packetsOf(pages: readonly Buffer[], bytes = Infinity): string[] {
  const ogg = new OggPackets()
  const all = Buffer.concat(pages)
  const found: string[] = []
  for (let at = 0; at < all.length; at += bytes)
    for (const packet of ogg.push(all.subarray(at, Math.min(all.length, at + bytes))))
      found.push(packet.toString())
  return found
}

const text = (letter: string, length: number): Buffer => Buffer.alloc(length, letter)

describe('packets of an Ogg file', () => {
  const pages = [
    pageOf(Buffer.concat([text('a', 3), text('b', 300)]), [3, 255, 45]),
    // Begins here, and continues on the next page.
    pageOf(text('c', 255), [255]),
    pageOf(Buffer.concat([text('c', 10), text('d', 2)]), [10, 2]),
  ]
  const packets = [text('a', 3), text('b', 300), text('c', 265), text('d', 2)].map(String)

  it.each([1, 27, 100, Infinity])('are whole, whatever pieces they come in: %d octets', (bytes) => {
    expect(packetsOf(pages, bytes)).toEqual(packets)
  })

  it('are those of the first stream alone', () => {
    const picture = pageOf(text('x', 5), [5], 2)
    expect(packetsOf([pages[0] ?? text('', 0), picture])).toEqual(packets.slice(0, 2))
  })

  it('may be of 255 octets exactly, and empty', () => {
    expect(packetsOf([pageOf(text('e', 255), [255, 0, 0])])).toEqual([String(text('e', 255)), ''])
  })

  it('that are incomplete are not returned', () => {
    expect(packetsOf([pageOf(text('c', 255), [255])])).toEqual([])
    expect(packetsOf([pageOf(text('a', 3), [3]).subarray(0, 29)])).toEqual([])
  })

  it('end with an error where no page begins', () => {
    expect(() => packetsOf([pageOf(text('a', 3), [3]), Buffer.alloc(40, 'x')])).toThrow(RangeError)
  })

  it('are never of more than any packet of sound has', () => {
    const whole = pageOf(
      text('x', 255 * 255),
      Array.from({ length: 255 }, () => 255),
    )
    expect(() => packetsOf([whole, whole])).toThrow('too long')
  })
})
