import { describe, expect, it } from 'vitest'
import { Reception } from './reception.ts'
import { Reporter } from './reporter.ts'
import { parseRtcp, roundTripMs, toCompound, toShortNtp } from './rtcp.ts'
import { RtpSender } from './sender.ts'

const block = {
  ssrc: 0xdead_beef,
  fractionLost: 25,
  packetsLost: -2,
  highestSequence: 70_000,
  jitter: 80,
  lastSenderReport: 0x1234_5678,
  delaySinceLastSenderReport: 65_536,
}
const sender = { epochMs: 1_700_000_000_500, rtpTimestamp: 0xffff_0000, packets: 10, octets: 1600 }

describe('a compound packet', () => {
  it('is read as it was written: sender report, block, goodbye', () => {
    const packet = toCompound({ ssrc: 5, cname: 'abc', sender, block, isBye: true })
    expect(packet.length % 4).toBe(0)
    expect(parseRtcp(packet)).toEqual({
      ssrc: 5,
      senderReport: toShortNtp(sender.epochMs),
      blocks: [block],
      isBye: true,
    })
  })

  it.each(['', 'a', 'ab', 'abc', 'abcd', 'AAAAAAAAAAAAAAAA'])(
    'closes the CNAME "%s" with zeros to a word',
    (cname) => {
      const packet = toCompound({ ssrc: 5, cname, sender: undefined, block: undefined, isBye: false })
      expect(packet.length % 4).toBe(0)
      expect(packet.at(-1)).toBe(0)
      expect(packet.toString('latin1', 18, 18 + cname.length)).toBe(cname)
      expect(parseRtcp(packet)).toEqual({ ssrc: 5, senderReport: undefined, blocks: [], isBye: false })
    },
  )

  it('may describe no source, or have a goodbye of none: RFC 3550 §6.5 and §6.6', () => {
    const report = toCompound({ ssrc: 5, cname: 'abc', sender, block, isBye: false })
    const description = Buffer.from([0x80, 202, 0, 0])
    const goodbye = Buffer.from([0x80, 203, 0, 0])
    const heard = parseRtcp(report)
    expect(parseRtcp(Buffer.concat([report, description]))).toEqual(heard)
    expect(parseRtcp(Buffer.concat([report, description, goodbye]))).toMatchObject({ blocks: [block] })
    expect(parseRtcp(description)).toBeUndefined()
    expect(parseRtcp(Buffer.from([0x80, 201, 0, 0]))).toBeUndefined()
    expect(parseRtcp(Buffer.concat([report, Buffer.from([0x80, 202])]))).toBeUndefined()
  })

  it('is refused whole when any part of it is wrong', () => {
    const packet = toCompound({ ssrc: 5, cname: 'abc', sender, block, isBye: true })
    for (let length = 0; length < packet.length; length += 1) {
      const whole = [52, 52 + 12 + 4].includes(length)
      if (!whole) expect(parseRtcp(packet.subarray(0, length))).toBeUndefined()
    }
    expect(parseRtcp(Buffer.from([0x81, 203, 0, 1, 0, 0, 0, 5]))).toBeUndefined()
    expect(parseRtcp(Buffer.from([0x9f, 201, 0, 1, 0, 0, 0, 5]))).toBeUndefined()
    const wrongVersion = Buffer.from(packet)
    wrongVersion[0] = 0x41
    expect(parseRtcp(wrongVersion)).toBeUndefined()
  })
})

describe('the round trip', () => {
  it('is the present time minus the time of the report it refers to minus the delay', () => {
    const sentMs = 1_700_000_000_000
    const answering = {
      ...block,
      lastSenderReport: toShortNtp(sentMs),
      delaySinceLastSenderReport: 65_536 / 2,
    }
    expect(roundTripMs(answering, sentMs + 540)).toBeCloseTo(40, 0)
    expect(roundTripMs(answering, sentMs + 100)).toBeUndefined()
    expect(roundTripMs({ ...answering, lastSenderReport: 0 }, sentMs)).toBeUndefined()
  })
})

describe('a reporter', () => {
  it('reports about every five seconds, as a sender only after sending, and computes the round trip', () => {
    let nowMs = 1_700_000_000_000
    const rtp = new RtpSender()
    const reception = new Reception()
    const reporter = new Reporter({ sender: rtp, reception, now: () => nowMs })
    const times: number[] = []
    for (; nowMs < 1_700_000_100_000; nowMs += 20) {
      if (!reporter.isDue(nowMs)) continue
      times.push(nowMs)
      reporter.report(0)
    }
    const gaps = times.slice(1).map((time, index) => time - (times[index] ?? 0))
    expect(Math.min(...gaps)).toBeGreaterThanOrEqual(2500)
    expect(Math.max(...gaps)).toBeLessThanOrEqual(7520)

    expect(parseRtcp(reporter.report(0))?.senderReport).toBeUndefined()
    rtp.audio(1, { payloadType: 0, startsTalk: false, payloadBytes: 160 })
    reception.accept({ marker: false, payloadType: 0, sequence: 1, timestamp: 1, ssrc: 9 }, 1, true)
    const sent = parseRtcp(reporter.report(160))
    expect(sent).toMatchObject({ senderReport: toShortNtp(nowMs), blocks: [{ ssrc: 9, packetsLost: 0 }] })

    const answer = { ...block, ssrc: rtp.ssrc, lastSenderReport: sent?.senderReport ?? 0 }
    const heard = { ...answer, delaySinceLastSenderReport: Math.round(65.536 * 300) }
    nowMs += 320
    reporter.accept(toCompound({ ssrc: 9, cname: 'far', sender, block: heard, isBye: false }))
    expect(reporter.remote).toMatchObject({ packetsLost: -2, jitterMs: 10 })
    expect(reporter.remote?.roundTripMs).toBeCloseTo(20, 0)
    // Packets are coded for a far end with loss until its reports have shown none for a while.
    const tells = (fractionLost: number): number => {
      const told = { ...heard, fractionLost }
      reporter.accept(toCompound({ ssrc: 9, cname: 'far', sender, block: told, isBye: false }))
      return reporter.lossPercent
    }
    expect([26, 0, 0, 0, 0, 0, 0, 1].map(tells)).toEqual([10, 10, 10, 10, 10, 10, 0, 5])
    nowMs += 1000
    reception.accept({ marker: false, payloadType: 0, sequence: 2, timestamp: 2, ssrc: 9 }, 1, true)
    expect(parseRtcp(reporter.report(0))?.blocks[0]).toMatchObject({
      lastSenderReport: toShortNtp(sender.epochMs),
      delaySinceLastSenderReport: expect.closeTo(65_536, -2) as number,
    })
  })
})
