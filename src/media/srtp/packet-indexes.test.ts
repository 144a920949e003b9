import { describe, expect, it } from 'vitest'
import { IndexesBySource, PacketIndexes, rolloverOf, windowPackets } from './packet-indexes.ts'

function after(...indexes: readonly number[]): PacketIndexes {
  const known = new PacketIndexes()
  for (const index of indexes) known.add(index)
  return known
}

describe('the index of a packet', () => {
  // RFC 3711 appendix A: the index nearest to that of the newest packet received.
  it.each([
    [[], 65_535, 65_535],
    [[10], 11, 11],
    [[65_535], 0, 65_536],
    [[65_535], 32_766, 98_302],
    [[65_535], 32_768, 32_768],
    [[65_536], 65_535, 65_535],
    [[65_536 + 40_000], 39_999, 105_535],
    [[3 * 65_536], 65_535, 3 * 65_536 - 1],
    [[3 * 65_536 - 1], 5, 3 * 65_536 + 5],
    // Before the first rollover there is no index.
    [[5], 65_530, -6],
  ])('after %o is, for the number %i, %i', (before, sequence, index) => {
    expect(after(...before).of(sequence)).toBe(index)
  })

  it('includes the number of rollovers', () => {
    expect([0, 65_535, 65_536, 3 * 65_536 + 5].map(rolloverOf)).toEqual([0, 0, 1, 3])
  })
})

describe('what was there already', () => {
  it('is known within the window, and everything before it counts as received', () => {
    const known = after(1000, 1010)
    expect(known.highest).toBe(1010)
    const indexes = [1010, 1000, 1005, 1011, 1010 - windowPackets + 1, 1010 - windowPackets, 3]
    expect(indexes.map((index) => known.has(index))).toEqual([true, true, false, false, false, true, true])
  })

  it('is not forgotten after a late packet, which is not the new highest', () => {
    const known = after(2000, 1990)
    expect(known.highest).toBe(2000)
    expect([1990, 2000].map((index) => known.has(index))).toEqual([true, true])
    expect(known.has(1989)).toBe(false)
  })

  it('is not confused by a packet at the same place of the window one round later', () => {
    const known = after(100, 100 + windowPackets)
    expect(known.has(100 + 2 * windowPackets)).toBe(false)
    expect(known.has(100 + windowPackets)).toBe(true)
  })
})

describe('the sources of one key', () => {
  it('are bounded: the one that came first makes room', () => {
    const sources = new IndexesBySource(2)
    for (const ssrc of [1, 2]) sources.add(ssrc).add(ssrc * 10)
    expect(sources.isFull).toBe(true)
    sources.add(3)
    expect([1, 2, 3].map((ssrc) => sources.get(ssrc)?.highest)).toEqual([undefined, 20, -1])
    expect(sources.isFull).toBe(true)
  })
})
