// The time and content of our reports, and the figures accepted from those of the far end.
import { describe, expect, it } from 'vitest'
import { Reception } from './reception.ts'
import { Reporter } from './reporter.ts'
import { parseRtcp, toCompound, toShortNtp, type HeardReport, type Report, type ReportBlock } from './rtcp.ts'
import { RtpSender } from './sender.ts'

const startMs = 1_700_000_000_000

/** Creates a session that reports, on a clock that the test moves. */
function reporting() {
  let nowMs = startMs
  const sender = new RtpSender()
  const reception = new Reception()
  const reporter = new Reporter({ sender, reception, now: () => nowMs })
  let tick = 0
  let sequence = 0
  return {
    sender,
    reporter,
    pass: (ms: number): void => void (nowMs += ms),
    isDue: (): boolean => reporter.isDue(nowMs),
    say: (packets = 1): void => {
      for (let count = 0; count < packets; count += 1)
        sender.audio((tick += 1), { payloadType: 0, startsTalk: false, payloadBytes: 160 })
    },
    hear: (packets = 1, skipped = 0): void => {
      sequence += skipped
      for (let count = 0; count < packets; count += 1) {
        const header = { marker: false, payloadType: 0, sequence, timestamp: sequence * 160, ssrc: 9 }
        reception.accept(header, sequence * 160, true)
        sequence += 1
      }
    },
    report: (isBye = false): HeardReport => {
      const heard = parseRtcp(reporter.report(160, isBye))
      if (heard === undefined) throw new Error('it is no report')
      return heard
    },
    /** Applies a report of the far end. */
    told: (of: Partial<ReportBlock>, more: Partial<Report> = {}): HeardReport | undefined => {
      const block: ReportBlock = {
        ssrc: sender.ssrc,
        fractionLost: 0,
        packetsLost: 0,
        highestSequence: 1,
        jitter: 0,
        lastSenderReport: 0,
        delaySinceLastSenderReport: 0,
        ...of,
      }
      const report = { ssrc: 9, cname: 'far', sender: undefined, block, isBye: false, ...more }
      return reporter.accept(toCompound(report))
    },
  }
}

describe('our report', () => {
  it('is due within five seconds at first, then after two and a half to seven and a half', () => {
    const { isDue, pass, report } = reporting()
    expect(isDue()).toBe(false)
    pass(3750)
    expect(isDue()).toBe(true)
    for (let round = 0; round < 50; round += 1) {
      report()
      pass(2499)
      expect(isDue()).toBe(false)
      pass(5001)
      expect(isDue()).toBe(true)
    }
  })

  it('is that of a sender after something was sent, and of a receiver otherwise', () => {
    const { say, report } = reporting()
    expect(report().senderReport).toBeUndefined()
    say(3)
    expect(report().senderReport).toBe(toShortNtp(startMs))
    expect(report().senderReport).toBeUndefined()
  })

  it('says nothing of a far end that was not heard since the last one', () => {
    const { hear, report } = reporting()
    expect(report().blocks).toEqual([])
    hear(10)
    expect(report().blocks).toMatchObject([{ ssrc: 9, packetsLost: 0, highestSequence: 9 }])
    expect(report().blocks).toEqual([])
    hear(3, 1)
    expect(report().blocks).toMatchObject([{ packetsLost: 1, fractionLost: 64 }])
  })

  it('states the time since the last sender report, from which the far end computes the round trip', () => {
    const { hear, pass, told, report } = reporting()
    hear()
    told({}, { sender: { epochMs: startMs - 40, rtpTimestamp: 0, packets: 1, octets: 1 } })
    pass(1500)
    // A receiver report has no time to refer to.
    told({})
    expect(report().blocks).toMatchObject([
      { lastSenderReport: toShortNtp(startMs - 40), delaySinceLastSenderReport: 1.5 * 65_536 },
    ])
  })

  it('ends with a BYE if it is the last one', () => {
    const { report } = reporting()
    expect([report().isBye, report(true).isBye]).toEqual([false, true])
  })
})

describe('a report of the far end', () => {
  it('has its loss, its jitter in the clock of what we send, and its round trip', () => {
    const { reporter, pass, told } = reporting()
    const lastSenderReport = toShortNtp(startMs)
    pass(600)
    told({ packetsLost: 7, jitter: 480, lastSenderReport, delaySinceLastSenderReport: 32_768 })
    expect(reporter.remote).toMatchObject({ packetsLost: 7, jitterMs: 60 })
    expect(reporter.remote?.roundTripMs).toBeCloseTo(100, 0)
    reporter.clock(48)
    told({ jitter: 480 })
    expect(reporter.remote?.jitterMs).toBe(10)
    // It has received no report from us since, and the path has not changed.
    expect(reporter.remote?.roundTripMs).toBeCloseTo(100, 0)
  })

  it('on another stream than ours changes nothing, but is a sign of life', () => {
    const { sender, reporter, told } = reporting()
    expect(told({ ssrc: (sender.ssrc + 1) >>> 0, fractionLost: 200 })).toMatchObject({ ssrc: 9 })
    expect(reporter.remote).toBeUndefined()
    expect(reporter.lossPercent).toBe(0)
  })

  it.each([
    ['nothing', Buffer.alloc(0)],
    ['half a header', Buffer.from('81c9', 'hex')],
    ['a description alone', Buffer.from('81ca000200000009010000000', 'hex')],
    ['another version', Buffer.from('41c9000100000009', 'hex')],
    ['fewer words than it counts', Buffer.from('81c9000700000009', 'hex')],
    ['fewer blocks than it counts', Buffer.from('82c9000100000009', 'hex')],
  ])('that is %s is none', (_, datagram) => {
    const { reporter } = reporting()
    expect(reporter.accept(datagram)).toBeUndefined()
    expect(reporter.remote).toBeUndefined()
  })
})

describe('the expected loss', () => {
  it('is the worst of the last reports, at least five percent, and none after six good ones', () => {
    const { reporter, told } = reporting()
    const losses = [1, 64, 26].map((fractionLost) => {
      told({ fractionLost })
      return reporter.lossPercent
    })
    expect(losses).toEqual([5, 25, 25])
    for (let round = 0; round < 5; round += 1) told({})
    expect(reporter.lossPercent).toBe(25)
    told({})
    expect(reporter.lossPercent).toBe(0)
  })

  it('does not end while a packet is lost now and then', () => {
    const { reporter, told } = reporting()
    for (let round = 0; round < 30; round += 1) told({ fractionLost: round % 6 === 0 ? 3 : 0 })
    expect(reporter.lossPercent).toBe(5)
  })
})
