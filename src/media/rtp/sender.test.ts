import { describe, expect, it } from 'vitest'
import { parseRtp, rtpHeaderBytes, type RtpPacket } from './packet.ts'
import { RtpSender, type Outgoing } from './sender.ts'

const whole = { payloadType: 0, startsTalk: false, payloadBytes: 160 }

function read({ packet, bytes }: Outgoing): RtpPacket {
  const parsed = parseRtp(Buffer.from(packet.subarray(0, bytes)))
  if (parsed === undefined) throw new Error('no RTP')
  return parsed
}

describe('the packets of a stream', () => {
  it('are numbered in a row, also across the end of the range', () => {
    const sender = new RtpSender()
    const first = read(sender.audio(1, whole)).sequence
    for (let tick = 2; tick <= 70_000; tick += 1)
      if (read(sender.audio(tick, whole)).sequence !== ((first + tick - 1) & 0xffff))
        throw new Error(`tick ${tick}`)
    expect(sender.packets).toBe(70_000)
  })

  it('are timed by the tick, also where ticks were left out', () => {
    const sender = new RtpSender()
    const [one, two, ten] = [1, 2, 10].map((tick) => read(sender.audio(tick, whole)).timestamp)
    expect(((two ?? 0) - (one ?? 0)) >>> 0).toBe(160)
    expect(((ten ?? 0) - (two ?? 0)) >>> 0).toBe(8 * 160)
    expect(sender.timestampAt(10)).toBe(ten)
  })

  it('are marked at the start, after a pause, and where talk begins (RFC 3551 §4.1)', () => {
    const sender = new RtpSender()
    const marks = [
      sender.audio(1, whole),
      sender.audio(2, whole),
      sender.audio(3, { ...whole, startsTalk: true }),
      sender.audio(4, whole),
      sender.audio(9, whole),
    ].map((outgoing) => read(outgoing).marker)
    // Checked after all are written: a packet stays unchanged while a few more are.
    expect(marks).toEqual([true, false, true, false, true])
  })

  it('have one source of their own each', () => {
    const sources = Array.from({ length: 20 }, () => new RtpSender().ssrc)
    expect(new Set(sources).size).toBe(20)
    const sender = new RtpSender()
    expect(read(sender.audio(1, whole)).ssrc).toBe(sender.ssrc)
  })

  it.each([
    [80, 2],
    [40, 4],
  ])('of %i octets carry a frame in %i parts, in order and in time', (payloadBytes, parts) => {
    const sender = new RtpSender()
    const frame = Buffer.from(Array.from({ length: 160 }, (_, octet) => octet))
    const first = sender.audio(5, { ...whole, payloadBytes, parts })
    frame.copy(first.packet, rtpHeaderBytes)
    const sent = [first]
    for (let part = 1; part < parts; part += 1)
      sent.push(sender.rest(first, { tick: 5, payloadType: 0, part, parts }))
    const packets = sent.map(read)
    expect(packets).toHaveLength(parts)
    expect(Buffer.concat(packets.map(({ payload }) => payload))).toEqual(frame)
    const start = sender.timestampAt(5)
    expect(packets.map(({ timestamp }) => (timestamp - start) >>> 0)).toEqual(
      packets.map((_, part) => part * payloadBytes),
    )
    expect(packets.map(({ marker }) => marker)).toEqual(packets.map((_, part) => part === 0))
    expect(sender.octets).toBe(160)
  })

  it('do not overwrite each other before they are sent', () => {
    const sender = new RtpSender()
    const outgoing = Array.from({ length: 8 }, (_, tick) => {
      const packet = sender.audio(tick, whole)
      packet.packet.fill(tick, rtpHeaderBytes)
      return packet
    })
    expect(outgoing.map((packet) => read(packet).payload[0])).toEqual([0, 1, 2, 3, 4, 5, 6, 7])
  })
})

describe('packets that others have numbered', () => {
  const payload = Buffer.from(Array.from({ length: 160 }, (_, octet) => octet))
  const passed = { marker: false, payloadType: 8, payload, datagram: undefined, samples: 160 }

  it('are sent as they are, from our source, and counted', () => {
    const sender = new RtpSender()
    const packet = read(sender.passed({ ...passed, sequence: 77, timestamp: 4000, marker: true }))
    expect(packet).toMatchObject({
      ssrc: sender.ssrc,
      sequence: 77,
      timestamp: 4000,
      payloadType: 8,
      marker: true,
    })
    expect(packet.payload).toEqual(payload)
    expect([sender.packets, sender.octets]).toEqual([1, 160])
  })

  it('go out in the memory in which they came, with our header in the place of theirs', () => {
    const sender = new RtpSender()
    const datagram = Buffer.concat([Buffer.alloc(rtpHeaderBytes, 0xff), payload])
    const own = { payload: datagram.subarray(rtpHeaderBytes), datagram }
    const outgoing = sender.passed({ ...passed, ...own, sequence: 77, timestamp: 4000 })
    expect(outgoing.packet).toBe(datagram)
    expect(read(outgoing)).toMatchObject({ ssrc: sender.ssrc, sequence: 77, timestamp: 4000, payloadType: 8 })
    expect(read(outgoing).payload).toEqual(payload)
    expect([sender.packets, sender.octets]).toEqual([1, 160])
  })

  it('set the numbers that ours continue from: the highest sequence, and the latest timestamp', () => {
    const sender = new RtpSender()
    const start = sender.nextSequence
    const timestamp = sender.nextTimestamp(1)
    for (const step of [0, 1, 3, 2])
      sender.passed({
        ...passed,
        sequence: (start + step) & 0xffff,
        timestamp: (timestamp + step * 160) >>> 0,
      })
    expect(sender.nextSequence).toBe((start + 4) & 0xffff)
    expect(sender.nextTimestamp(1)).toBe((timestamp + 4 * 160) >>> 0)
    sender.continueAt(50, sender.nextTimestamp(50))
    const next = read(sender.audio(50, whole))
    expect(next.sequence).toBe((start + 4) & 0xffff)
    expect((next.timestamp - timestamp) >>> 0).toBe(4 * 160)
    expect(next.marker).toBe(false)
    expect((read(sender.audio(51, whole)).timestamp - timestamp) >>> 0).toBe(5 * 160)
  })

  it('make our next packet marked if ticks were skipped after them', () => {
    const sender = new RtpSender()
    sender.passed({ ...passed, sequence: 1, timestamp: 160 })
    sender.continueAt(50, 320)
    expect(read(sender.audio(53, whole)).marker).toBe(true)
  })
})

describe('packets of an event', () => {
  it('have their own timestamp and the next number, and leave the timestamps of speech alone', () => {
    const sender = new RtpSender()
    const speech = read(sender.audio(7, whole))
    const payload = Buffer.from([5, 10, 0, 160])
    const timestamp = sender.timestampAt(8)
    const events = [true, false].map((marker) =>
      read(sender.event({ timestamp, payloadType: 101, marker, payload })),
    )
    expect(events.map(({ sequence }) => (sequence - speech.sequence) & 0xffff)).toEqual([1, 2])
    expect(events.map(({ marker }) => marker)).toEqual([true, false])
    expect(events.every((event) => event.timestamp === timestamp && event.payload.equals(payload))).toBe(true)
    expect(sender.nextTimestamp(8)).toBe((speech.timestamp + 160) >>> 0)
    expect(sender.octets).toBe(168)
  })
})
