import { describe, expect, it } from 'vitest'
import { parseRtp, type RtpPacket } from '../rtp/packet.ts'
import { RtpSender, type Outgoing } from '../rtp/sender.ts'
import { Relay } from './relay.ts'

const speech = { tick: 100, payloadType: 8, samples: 160 }

function packetOf(sequence: number, rest: Partial<RtpPacket> = {}): RtpPacket {
  return {
    marker: false,
    payloadType: 0,
    sequence: sequence & 0xffff,
    timestamp: (sequence * 160) >>> 0,
    ssrc: 9,
    payload: Buffer.alloc(160, sequence & 0xff),
    ...rest,
  }
}

function read(outgoing: Outgoing | undefined): RtpPacket | undefined {
  return outgoing === undefined
    ? undefined
    : parseRtp(Buffer.from(outgoing.packet.subarray(0, outgoing.bytes)))
}

/** Returns a relay that begins after a packet of tick 100. */
function relaying() {
  const sender = new RtpSender()
  const whole = { payloadType: 8, startsTalk: false, payloadBytes: 160 }
  const last = read(sender.audio(100, whole))
  const relay = new Relay('source', sender, 100)
  const pass = (
    packet: RtpPacket,
    options: Partial<Parameters<Relay['pass']>[1]> = {},
  ): RtpPacket | undefined => read(relay.pass(packet, { ...speech, ...options }))
  const ahead = (packet: RtpPacket | undefined) =>
    packet === undefined || last === undefined
      ? undefined
      : {
          sequence: ((packet.sequence - last.sequence) << 16) >> 16,
          timestamp: (packet.timestamp - last.timestamp) | 0,
        }
  return { sender, relay, pass, ahead, last, whole }
}

describe('a relay', () => {
  it('continues the numbers of the ticks, with the payload unchanged', () => {
    const { pass, ahead, sender } = relaying()
    for (let count = 0; count < 100; count += 1) {
      const packet = pass(packetOf(65_500 + count))
      expect(ahead(packet)).toEqual({ sequence: count + 1, timestamp: (count + 1) * 160 })
      expect(packet?.payload).toEqual(Buffer.alloc(160, (65_500 + count) & 0xff))
      expect(packet?.payloadType).toBe(8)
      expect(packet?.ssrc).toBe(sender.ssrc)
    }
  })

  it('goes on after more packets than half of all sequence numbers', () => {
    const { pass } = relaying()
    for (let count = 0; count < 70_000; count += 1) {
      const tick = 100 + count
      if (pass(packetOf(10 + count), { tick }) === undefined) throw new Error(`packet ${count} was dropped`)
    }
  })

  it('keeps gaps and order of the source', () => {
    const { pass, ahead } = relaying()
    const passed = [10, 11, 14, 13, 15].map((sequence) => ahead(pass(packetOf(sequence))))
    expect(passed.map((one) => one?.sequence)).toEqual([1, 2, 5, 4, 6])
    expect(passed.map((one) => one?.timestamp)).toEqual([160, 320, 800, 640, 960])
  })

  it('drops packets older than the relay', () => {
    const { pass, ahead } = relaying()
    expect(ahead(pass(packetOf(10)))).toEqual({ sequence: 1, timestamp: 160 })
    expect(pass(packetOf(9))).toBeUndefined()
    expect(ahead(pass(packetOf(11)))).toEqual({ sequence: 2, timestamp: 320 })
  })

  it('keeps a pause of the source in the timestamps, and its marker', () => {
    const { pass, ahead } = relaying()
    pass(packetOf(10))
    const packet = pass(packetOf(11, { timestamp: 10 * 160 + 8000, marker: true }))
    expect(ahead(packet)).toEqual({ sequence: 2, timestamp: 160 + 8000 })
    expect(packet?.marker).toBe(true)
  })

  it('leaves no gap in the numbers for packets that the far end does not accept', () => {
    const { pass, ahead } = relaying()
    pass(packetOf(10))
    expect(pass(packetOf(11), { payloadType: undefined, samples: 0 })).toBeUndefined()
    expect(pass(packetOf(12), { payloadType: undefined, samples: 0 })).toBeUndefined()
    expect(ahead(pass(packetOf(13)))?.sequence).toBe(2)
  })

  it.each<[string, Partial<RtpPacket>]>([
    ['another source', { ssrc: 10, sequence: 40_000, timestamp: 5 }],
    ['a jump of its numbers', { sequence: 5000 }],
    ['a jump of its clock', { timestamp: 900_000_000 }],
  ])('goes on after %s', (_what, change) => {
    const { pass, ahead } = relaying()
    pass(packetOf(10))
    expect(ahead(pass(packetOf(11, change)))).toEqual({ sequence: 2, timestamp: 320 })
    const { sequence = 11, timestamp = 11 * 160, ssrc = 9 } = change
    const next = packetOf(sequence + 1, { timestamp: timestamp + 160, ssrc })
    expect(ahead(pass(next))).toEqual({ sequence: 3, timestamp: 480 })
  })

  it('has stopped when nothing was passed for ten ticks; a key counts as well as speech', () => {
    const { relay, pass } = relaying()
    expect(relay.hasStopped(110)).toBe(false)
    expect(relay.hasStopped(111)).toBe(true)
    pass(packetOf(10), { tick: 111, samples: 0, payloadType: 101 })
    expect([relay.hasStopped(121), relay.hasStopped(122)]).toEqual([false, true])
  })

  it.each([
    ['at once when packets came until now', 101, 0],
    ['a tick later is the same', 102, 0],
    ['later by the ticks in which nothing came', 120, 18],
  ])('hands over to the ticks %s', (_what, tick, skipped) => {
    const { relay, sender, pass, ahead, whole } = relaying()
    pass(packetOf(10))
    pass(packetOf(11))
    relay.end(tick)
    const next = read(sender.audio(tick, whole))
    expect(ahead(next)).toEqual({ sequence: 3, timestamp: (3 + skipped) * 160 })
    expect(next?.marker).toBe(false)
    expect(ahead(read(sender.audio(tick + 1, whole)))).toEqual({
      sequence: 4,
      timestamp: (4 + skipped) * 160,
    })
  })

  it('leaves the numbers of the ticks unchanged if nothing was passed', () => {
    const { relay, sender, ahead, whole } = relaying()
    relay.end(101)
    expect(ahead(read(sender.audio(101, whole)))).toEqual({ sequence: 1, timestamp: 160 })
  })

  it('gives a key a timestamp that does not change those after it', () => {
    const { pass, ahead, sender } = relaying()
    pass(packetOf(10))
    const key = { payload: Buffer.from([5, 0x8a, 3, 32]), timestamp: 11 * 160 }
    for (let count = 0; count < 3; count += 1)
      expect(ahead(pass(packetOf(11 + count, key), { samples: 0, payloadType: 101 }))).toEqual({
        sequence: 2 + count,
        timestamp: 320,
      })
    expect(sender.nextTimestamp(0)).toBe((sender.timestampAt(100) + 320) >>> 0)
    expect(ahead(pass(packetOf(14)))).toEqual({ sequence: 5, timestamp: 5 * 160 })
  })
})
