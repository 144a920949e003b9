import { describe, expect, it } from 'vitest'
import type { RtpPacket } from '../rtp/packet.ts'
import { RecentPackets } from './recent-packets.ts'

function packetOf(sequence: number, octets = 160): RtpPacket {
  const payload = Buffer.alloc(octets, sequence)
  const timestamp = (0xffff_ff00 + 160 * sequence) >>> 0
  return { marker: sequence === 0, payloadType: 8, sequence, timestamp, ssrc: 0xdead_beef, payload }
}

function keep(recent: RecentPackets, count: number, from = 0): void {
  for (let sequence = from; sequence < from + count; sequence += 1) recent.keep(packetOf(sequence), 160)
}

const sequencesOf = (recent: RecentPackets): number[] => recent.all().map(({ packet }) => packet.sequence)

describe('the last packets of a voice', () => {
  it.each([
    [0, []],
    [2, [0, 1]],
    [3, [0, 1, 2]],
    [8, [5, 6, 7]],
  ])('of %i are the last three, in their order', (count, expected) => {
    const recent = new RecentPackets(3)
    expect(recent.isEmpty).toBe(true)
    keep(recent, count)
    expect(sequencesOf(recent)).toEqual(expected)
    expect(recent.isEmpty).toBe(count === 0)
  })

  it('are as they came, whatever becomes of the memory that they came in', () => {
    const recent = new RecentPackets(2)
    const [short, long] = [packetOf(1), packetOf(2, 400)]
    const copies = [short, long].map((packet) => ({
      packet: { ...packet, payload: Buffer.from(packet.payload) },
      samples: 160,
    }))
    for (const packet of [short, long, short]) recent.keep(packet, 160)
    for (const packet of [short, long]) packet.payload.fill(0)
    expect(recent.all()).toEqual(copies.toReversed())
  })

  it('are taken out from the end, in memory that no later one is written to', () => {
    const recent = new RecentPackets(3)
    keep(recent, 4)
    const last = recent.takeLast()
    expect(sequencesOf(recent)).toEqual([1, 2])
    keep(recent, 2, 4)
    expect(last).toEqual({ packet: packetOf(3), samples: 160 })
    expect(sequencesOf(recent)).toEqual([2, 4, 5])
    for (const sequence of [5, 4, 2]) expect(recent.takeLast()?.packet.sequence).toBe(sequence)
    expect(recent.takeLast()).toBeUndefined()
  })

  it('are as many as a codec needs from its start on', () => {
    const recent = new RecentPackets(3)
    keep(recent, 3)
    recent.restart(10)
    expect(recent.isEmpty).toBe(true)
    keep(recent, 12)
    expect(sequencesOf(recent)).toHaveLength(10)
    recent.restart(3)
    keep(recent, 5)
    expect(sequencesOf(recent)).toEqual([2, 3, 4])
    recent.restart()
    keep(recent, 1)
    expect(sequencesOf(recent)).toEqual([0])
  })
})
