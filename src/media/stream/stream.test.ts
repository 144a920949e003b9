// One stream in virtual time, on sockets in memory: the packets sent in each tick, and the handling of received ones.
import { describe, expect, it } from 'vitest'
import { AudioRing, createRing } from '../../lib/audio/audio-ring.ts'
import type { Clips } from '../clips/clips.ts'
import { createCoders } from '../codecs/coders.ts'
import { createLaws } from '../codecs/g711.ts'
import { Graph } from '../graph/graph.ts'
import type { MediaEvent } from '../media.ts'
import { BrowserGates } from '../browsers/gates.ts'
import type { SocketPair } from '../transport/ports.ts'
import { parseRtp, writeRtpHeader, type RtpHeader, type RtpPacket } from '../rtp/packet.ts'
import { parseRtcp, toCompound, type HeardReport } from '../rtp/rtcp.ts'
import type { Endpoint } from '../rtp/source.ts'
import type { Agreement } from '../sdp/agreement.ts'
import { SrtpReceiver, SrtpSender } from '../srtp/srtp.ts'
import type { MasterKey } from '../srtp/suites.ts'
import { Stream } from './stream.ts'
import { openTransport } from '../transport/forms.ts'

const laws = createLaws()
const phone: Endpoint = { address: '192.0.2.7', port: 5004 }
const elsewhere: Endpoint = { address: '192.0.2.8', port: 6000 }
const stranger: Endpoint = { address: '203.0.113.66', port: 5004 }

const plain: Agreement = {
  encoding: 'PCMU',
  remote: phone,
  remoteRtcp: { address: phone.address, port: phone.port + 1 },
  peer: phone.address,
  hasRtcpMux: false,
  protection: { form: 'plain' },
  send: { audio: 0, event: { payloadType: 101, clockRate: 8000 }, packetMs: 20 },
  receive: {
    codecs: [{ encoding: 'PCMU', payloadType: 0 }],
    events: [{ payloadType: 101, clockRate: 8000 }],
    noises: [13],
  },
  maySend: true,
  mayReceive: true,
}

interface Sent<T> {
  readonly packet: T
  readonly to: Endpoint
}

/** Returns a stream, with ticks run by the test. */
function open(agreement: Agreement | 'none' = plain) {
  let nowMs = 1_700_000_000_000
  let tick = 0
  let onRtp: (datagram: Buffer, from: Endpoint) => void = () => undefined
  let onRtcp = onRtp
  const rtp: Sent<RtpPacket>[] = []
  const raw: Buffer[] = []
  const rtpTo: Endpoint[] = []
  const rtcp: (Sent<HeardReport> & { readonly port: 'rtp' | 'rtcp' })[] = []
  const note = (bytes: Buffer, to: Endpoint, port: 'rtp' | 'rtcp'): boolean => {
    const report = parseRtcp(bytes)
    const packet = report === undefined ? parseRtp(bytes) : undefined
    if (report !== undefined) rtcp.push({ packet: report, to, port })
    if (packet !== undefined) rtp.push({ packet, to })
    return true
  }
  const sockets: Pick<SocketPair, 'listen' | 'sendRtp' | 'sendRtcp' | 'close'> = {
    listen(rtpListener, rtcpListener) {
      onRtp = rtpListener
      onRtcp = rtcpListener
    },
    sendRtp(packet, bytes, to) {
      const datagram = Buffer.from(packet.subarray(0, bytes))
      raw.push(datagram)
      rtpTo.push(to)
      return note(datagram, to, 'rtp')
    },
    sendRtcp: (packet, to) => note(Buffer.from(packet), to, 'rtcp'),
    close: () => Promise.resolve(),
  }
  const events: MediaEvent[] = []
  const stream = new Stream({
    openTransport: (form) => openTransport(form, sockets as unknown as SocketPair, new BrowserGates()),
    id: 'stream',
    graph: new Graph({ clips: {} as Clips, laws, coders: createCoders(laws) }),
    coders: createCoders(laws),
    limits: { mediaMs: 10_000, heldMs: 60_000 },
    onEvent: (event) => events.push(event),
    now: () => nowMs,
  })
  if (agreement !== 'none') stream.agree(agreement)
  return {
    stream,
    events,
    rtp,
    rtcp,
    raw,
    rtpTo,
    run: (ticks: number): void => {
      for (let count = 0; count < ticks; count += 1) {
        nowMs += 20
        stream.tick((tick += 1), nowMs)
      }
    },
    hear: (packet: Buffer, from: Endpoint = phone) => onRtp(packet, from),
    hearReport: (packet: Buffer, from: Endpoint) => onRtcp(packet, from),
  }
}

function packetOf(header: Partial<RtpHeader> = {}, payload = Buffer.alloc(160, 0xff)): Buffer {
  const packet = Buffer.concat([Buffer.alloc(12), payload])
  writeRtpHeader(packet, { marker: false, payloadType: 0, sequence: 1, timestamp: 0, ssrc: 7, ...header })
  return packet
}

/** Returns a packet of a key that the far end has pressed for 100 ms. */
function eventPacket(event: number, isEnd: boolean, sequence: number): Buffer {
  const payload = Buffer.from([event, isEnd ? 0x8a : 0x0a, 800 >> 8, 800 & 0xff])
  return packetOf({ payloadType: 101, sequence, timestamp: 4_000, marker: !isEnd }, payload)
}

const reportOf = (ssrc = 7): Buffer =>
  toCompound({ ssrc, cname: 'far', sender: undefined, block: undefined, isBye: false })

describe('what a stream sends', () => {
  it('is nothing before offer and answer, and then a packet in every tick, numbered and timed without a gap', () => {
    const silent = open('none')
    silent.run(50)
    silent.stream.agree(plain)
    silent.run(50)
    expect(silent.rtp).toHaveLength(50)
    const [first] = silent.rtp
    for (const [index, { packet, to }] of silent.rtp.entries()) {
      expect(to).toEqual(phone)
      expect(packet.sequence).toBe(((first?.packet.sequence ?? 0) + index) & 0xffff)
      expect(packet.timestamp).toBe(((first?.packet.timestamp ?? 0) + 160 * index) >>> 0)
      expect(packet.marker).toBe(index === 0)
    }
  })

  it.each([
    ['PCMU', 0, 0xff],
    ['PCMA', 8, 0xd5],
  ] as const)('is silence of %s, as payload type %i', (law, audio, silence) => {
    const { rtp, run } = open({ ...plain, encoding: law, send: { ...plain.send, audio } })
    run(3)
    expect(rtp.map(({ packet }) => packet.payloadType)).toEqual([audio, audio, audio])
    for (const { packet } of rtp) expect(packet.payload).toEqual(Buffer.alloc(160, silence))
  })

  it.each([
    [20, 1],
    [10, 2],
    [5, 4],
  ])('is cut into packets of %i ms, %i in a tick', (packetMs, perTick) => {
    const { rtp, run } = open({ ...plain, send: { ...plain.send, packetMs } })
    run(10)
    expect(rtp).toHaveLength(10 * perTick)
    const start = rtp[0]?.packet.timestamp ?? 0
    for (const [index, { packet }] of rtp.entries()) {
      expect(packet.payload).toHaveLength(packetMs * 8)
      expect((packet.timestamp - start) >>> 0).toBe(index * packetMs * 8)
    }
  })

  it('stops while the far end holds, and goes on in the same stream, marked', () => {
    const { stream, rtp, run } = open()
    run(5)
    stream.agree({ ...plain, maySend: false })
    run(5)
    expect(rtp).toHaveLength(5)
    stream.agree(plain)
    run(1)
    expect(rtp).toHaveLength(6)
    const [last, resumed] = rtp.slice(-2).map(({ packet }) => packet)
    expect(resumed?.ssrc).toBe(last?.ssrc)
    expect(resumed?.marker).toBe(true)
    expect(((resumed?.timestamp ?? 0) - (last?.timestamp ?? 0)) >>> 0).toBe(6 * 160)
  })

  it('goes to where the packets come from, once they do', () => {
    const { rtp, run, hear, events } = open()
    run(1)
    hear(packetOf(), { ...phone, port: 40_001 })
    run(1)
    expect(rtp.map(({ to }) => to.port)).toEqual([5004, 40_001])
    expect(events).toEqual([
      { type: 'first-packet', address: phone.address, port: 40_001, trust: 'sdp-address' },
    ])
  })

  it('goes nowhere while the place of the SDP is barred, until a packet of the phone comes', () => {
    const { rtp, run, hear } = open({ ...plain, remote: undefined, barred: elsewhere, remoteRtcp: undefined })
    run(5)
    expect(rtp).toEqual([])
    hear(packetOf())
    run(1)
    expect(rtp.map(({ to }) => to)).toEqual([phone])
  })
})

describe('what a stream hears', () => {
  it('is counted if it was agreed on and comes from the far end, and otherwise ignored', () => {
    const { stream, hear, events } = open()
    hear(packetOf({ sequence: 1 }))
    hear(packetOf({ sequence: 2 }))
    hear(packetOf({ sequence: 4 }))
    hear(packetOf({ sequence: 4 }))
    hear(packetOf({ sequence: 5, payloadType: 18 }))
    hear(Buffer.from('no RTP at all'))
    hear(packetOf({ ssrc: 9 }), stranger)
    expect(stream.stats()).toMatchObject({
      packetsReceived: 3,
      packetsLost: 1,
      packetsIgnored: 1,
      packetsNotAgreed: 1,
      codec: 'PCMU',
    })
    expect(events).toContainEqual({ type: 'ignored', ...stranger })
  })

  it('is nothing from a new place while the far end may not be heard', () => {
    const { stream, hear, events } = open({ ...plain, mayReceive: false })
    hear(packetOf())
    expect(events).toEqual([])
    expect(stream.stats().packetsReceived).toBe(0)
  })

  it('is drained from the known place after a hold has begun', () => {
    const { stream, hear } = open()
    hear(packetOf({ sequence: 1 }))
    stream.agree({ ...plain, mayReceive: false })
    hear(packetOf({ sequence: 2 }))
    expect(stream.stats().packetsReceived).toBe(2)
  })

  it('is not recorded while the far end sends although it stated that it does not', () => {
    const { stream, hear, run } = open()
    const ring = createRing({ samples: 160, frames: 100 })
    const taps = new AudioRing(ring.memory)
    stream.wire({ hears: [], taps: [{ id: 'recording', of: 'in', ring }] })
    const frame = new Int16Array(160)
    let sequence = 0
    const loudFrames = (): number => {
      for (let count = 0; count < 25; count += 1) {
        sequence += 1
        hear(packetOf({ sequence, timestamp: sequence * 160 }, Buffer.alloc(160, 0x20)))
        run(1)
      }
      let loud = 0
      while (taps.read(frame) !== undefined) if (frame.some((sample) => Math.abs(sample) > 1000)) loud += 1
      return loud
    }
    expect(loudFrames()).toBeGreaterThan(15)
    stream.agree({ ...plain, mayReceive: false })
    // Packets in the buffer are heard to their end.
    expect(loudFrames()).toBeLessThan(10)
    expect(loudFrames()).toBe(0)
    stream.agree(plain)
    expect(loudFrames()).toBeGreaterThan(15)
  })

  it('is a key once, however often its end comes, and one whose end is lost after 150 ms', () => {
    const { run, hear, events } = open()
    const digits = (): unknown[] => events.filter(({ type }) => type === 'digit')
    hear(eventPacket(5, false, 1))
    for (const sequence of [2, 3, 4]) hear(eventPacket(5, true, sequence))
    expect(digits()).toEqual([{ type: 'digit', digit: '5', durationMs: 100 }])
    run(150)
    hear(
      packetOf(
        { payloadType: 101, sequence: 20, timestamp: 40_000, marker: true },
        Buffer.from([11, 10, 1, 64]),
      ),
    )
    run(7)
    expect(digits()).toHaveLength(1)
    run(1)
    expect(digits()[1]).toEqual({ type: 'digit', digit: '#', durationMs: 40 })
  })

  it('is no key when the packet is too short for one, or names no key', () => {
    const { run, hear, events } = open()
    hear(packetOf({ payloadType: 101, sequence: 1 }, Buffer.from([5, 0x80])))
    hear(packetOf({ payloadType: 101, sequence: 2 }, Buffer.from([16, 0x80, 0, 160])))
    run(20)
    expect(events.filter(({ type }) => type === 'digit')).toEqual([])
  })
})

describe('the silence of the far end', () => {
  const timeouts = (events: readonly MediaEvent[]): unknown[] =>
    events.filter(({ type }) => type === 'timeout')

  it.each([
    ['a packet', (opened: ReturnType<typeof open>) => opened.hear(packetOf({ sequence: 9 }))],
    [
      'a report',
      (opened: ReturnType<typeof open>) => opened.hearReport(reportOf(), { ...phone, port: 5005 }),
    ],
    ['signalling', (opened: ReturnType<typeof open>) => opened.stream.live()],
    ['an offer and its answer', (opened: ReturnType<typeof open>) => opened.stream.agree(plain)],
  ])('is reported after ten seconds, and counts from %s on', (_what, giveSign) => {
    const opened = open()
    opened.run(499)
    giveSign(opened)
    opened.run(499)
    expect(timeouts(opened.events)).toEqual([])
    opened.run(1)
    expect(timeouts(opened.events)).toEqual([
      { type: 'timeout', cause: 'silent', silentMs: 10_000, limitMs: 10_000 },
    ])
  })

  it('has another limit while the far end holds, and is reported each time that it passes', () => {
    const { run, events } = open({ ...plain, maySend: false })
    run(2_999)
    expect(timeouts(events)).toEqual([])
    run(1)
    run(3_000)
    expect(timeouts(events)).toMatchObject([
      { cause: 'held', silentMs: 60_000 },
      { cause: 'held', silentMs: 120_000 },
    ])
  })

  describe('that may be gone', () => {
    it('is reported after four seconds', () => {
      const { run, hear, stream, events } = open()
      run(100)
      hear(packetOf({ sequence: 9 }))
      stream.doubt()
      // The packet was under way when the doubt arose.
      run(10)
      hear(packetOf({ sequence: 10 }))
      run(199)
      expect(timeouts(events)).toEqual([])
      run(1)
      expect(timeouts(events)).toEqual([{ type: 'timeout', cause: 'gone', silentMs: 4000, limitMs: 4000 }])
    })

    it.each([
      ['a packet', (opened: ReturnType<typeof open>) => opened.hear(packetOf({ sequence: 9 }))],
      [
        'a report',
        (opened: ReturnType<typeof open>) => opened.hearReport(reportOf(), { ...phone, port: 5005 }),
      ],
      ['an offer and its answer', (opened: ReturnType<typeof open>) => opened.stream.agree(plain)],
    ])('has the usual limit again once %s has come', (_what, giveSign) => {
      const opened = open()
      opened.stream.doubt()
      opened.run(100)
      giveSign(opened)
      opened.run(499)
      expect(timeouts(opened.events)).toEqual([])
      opened.run(1)
      expect(timeouts(opened.events)).toMatchObject([{ cause: 'silent' }])
    })

    it('is not looked at sooner while it holds', () => {
      const { run, stream, events } = open({ ...plain, maySend: false })
      stream.doubt()
      run(2_999)
      expect(timeouts(events)).toEqual([])
    })
  })

  it('is not broken by strangers, whether they send packets or reports', () => {
    const { run, hear, hearReport, events } = open()
    for (let count = 0; count < 10; count += 1) {
      run(49)
      hear(packetOf({ ssrc: 66, sequence: count }), stranger)
      hearReport(reportOf(66), stranger)
    }
    run(10)
    expect(timeouts(events)).toHaveLength(1)
  })
})

describe('reports', () => {
  /** Long enough for a report to be due, whatever the spread. */
  const untilDue = 500

  it('go to the port that the SDP names', () => {
    const { run, rtcp } = open({ ...plain, remoteRtcp: { address: '192.0.2.7', port: 9_999 } })
    run(untilDue)
    expect(rtcp[0]).toMatchObject({ port: 'rtcp', to: { address: '192.0.2.7', port: 9_999 } })
    expect(rtcp[0]?.packet.senderReport).toBeDefined()
  })

  it('go to the port next to the media when NAT has moved it', () => {
    const { run, hear, rtcp } = open({ ...plain, peer: elsewhere.address })
    hear(packetOf(), elsewhere)
    run(untilDue)
    expect(rtcp[0]?.to).toEqual({ address: elsewhere.address, port: elsewhere.port + 1 })
  })

  it('go to where the reports of the far end come from, until signalling says something new', () => {
    const { stream, run, hearReport, rtcp } = open()
    hearReport(reportOf(), { ...phone, port: 7_777 })
    run(untilDue)
    expect(rtcp[0]?.to.port).toBe(7_777)
    stream.agree(plain)
    rtcp.length = 0
    run(untilDue)
    expect(rtcp[0]?.to.port).toBe(5_005)
  })

  it('use the port of the media if both share it, in both directions', () => {
    const { stream, run, hear, rtcp, events } = open({ ...plain, hasRtcpMux: true, remoteRtcp: phone })
    hear(packetOf())
    run(untilDue)
    expect(rtcp[0]).toMatchObject({ port: 'rtp', to: phone })
    const [sent] = rtcp
    const block = {
      ssrc: sent?.packet.ssrc ?? 0,
      fractionLost: 0,
      packetsLost: 3,
      highestSequence: 10,
      jitter: 80,
      lastSenderReport: 0,
      delaySinceLastSenderReport: 0,
    }
    hear(toCompound({ ssrc: 7, cname: 'far', sender: undefined, block, isBye: false }))
    expect(stream.stats().remote).toEqual({ packetsLost: 3, jitterMs: 10 })
    expect(events.filter(({ type }) => type === 'ignored')).toEqual([])
  })

  it('are not sent to a far end without an address', () => {
    const { run, rtcp } = open({ ...plain, remote: undefined, remoteRtcp: undefined })
    run(untilDue)
    expect(rtcp).toEqual([])
  })

  it('end with a BYE if the stream has sent or received packets, and otherwise not', async () => {
    const used = open()
    used.run(2)
    const stats = await used.stream.close()
    expect(stats.packetsSent).toBe(2)
    expect(used.rtcp.map(({ packet }) => packet.isBye)).toEqual([true])
    const unused = open()
    await unused.stream.close()
    expect(unused.rtcp).toEqual([])
  })
})

describe('a playback', () => {
  it('is refused before offer and answer', async () => {
    const { stream } = open('none')
    const order = { id: 1, path: 'a.wav', offsetMs: 0, rounds: 1, follows: false }
    await expect(stream.play(order)).rejects.toThrow('play before offer and answer')
  })
})

describe('an encrypted stream', () => {
  const keyOf = (octet: number): MasterKey => ({
    suite: 'AES_CM_128_HMAC_SHA1_80',
    key: new Uint8Array(30).fill(octet),
  })
  const agreed = (send = 1, receive = 2): Agreement => ({
    ...plain,
    protection: { form: 'sdes', send: keyOf(send), receive: keyOf(receive) },
  })
  const sealed = (sender: SrtpSender, packet: Buffer): Buffer => {
    const to = Buffer.alloc(1600)
    return to.subarray(0, sender.protect(packet, packet.length, to))
  }

  it('is sent under our key, and another stream under the next one', () => {
    const { stream, run, raw } = open(agreed())
    run(3)
    stream.agree(agreed(3))
    run(3)
    stream.agree(agreed(3))
    run(3)
    const receivers = [new SrtpReceiver(keyOf(1)), new SrtpReceiver(keyOf(3))]
    const heard = raw.map((datagram, index) => receivers[index < 3 ? 0 : 1]?.unprotect(datagram))
    const sources = heard.map((packet) => packet instanceof Buffer && packet.readUInt32BE(8))
    expect(sources).not.toContain(false)
    expect(new Set(sources.slice(0, 3)).size).toBe(1)
    expect(new Set(sources.slice(3)).size).toBe(1)
    expect(sources[3]).not.toBe(sources[0])
  })

  it('is accepted from any place if it is authentic, and a late packet does not move the latch', () => {
    const { stream, events, hear, run, rtpTo } = open(agreed())
    const sender = new SrtpSender(keyOf(2))
    const [first, second, third] = [1, 2, 3].map((sequence) => sealed(sender, packetOf({ sequence })))
    hear(first ?? Buffer.alloc(0), phone)
    hear(third ?? Buffer.alloc(0), stranger)
    hear(second ?? Buffer.alloc(0), phone)
    hear(packetOf({ sequence: 4 }), phone)
    run(1)
    expect(rtpTo.at(-1)).toEqual(stranger)
    expect(events).toMatchObject([
      { type: 'first-packet', trust: 'sdp' },
      { type: 'moved', trust: 'authentic' },
    ])
    expect(stream.stats()).toMatchObject({ packetsReceived: 3, rejected: { forged: 1, replayed: 0 } })
  })

  it('reports once when packets come and none is authentic', () => {
    const { events, hear, run } = open(agreed())
    const sender = new SrtpSender(keyOf(9))
    for (let sequence = 1; sequence <= 120; sequence += 1) {
      hear(sealed(sender, packetOf({ sequence })))
      run(1)
    }
    expect(events).toEqual([{ type: 'forged', packets: 50 }])
  })
})
