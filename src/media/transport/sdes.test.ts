// Two ends with keys, on sockets in memory: the packets that each accepts, also while keys change.
import { describe, expect, it } from 'vitest'
import type { SocketPair } from './ports.ts'
import { writeRtpHeader } from '../rtp/packet.ts'
import { toCompound } from '../rtp/rtcp.ts'
import type { Agreement } from '../sdp/agreement.ts'
import type { MasterKey } from '../srtp/suites.ts'
import { SdesTransport } from './sdes.ts'

const here = { address: '192.0.2.1', port: 5004 }
const keyOf = (octet: number): MasterKey => ({
  suite: 'AES_CM_128_HMAC_SHA1_80',
  key: new Uint8Array(30).fill(octet),
})
const report = toCompound({ ssrc: 9, cname: 'far', sender: undefined, block: undefined, isBye: false })

function packetOf(sequence: number): Buffer {
  const packet = Buffer.alloc(172, sequence)
  writeRtpHeader(packet, { marker: false, payloadType: 0, sequence, timestamp: 160 * sequence, ssrc: 7 })
  return packet
}

function end(send: number, receive: number, hasRtcpMux = false) {
  let onRtp: (datagram: Buffer, from: typeof here) => void = () => undefined
  let onRtcp = onRtp
  const sent: { readonly port: 'rtp' | 'rtcp'; readonly datagram: Buffer }[] = []
  const heard: { rtp: Buffer[]; rtcp: Buffer[] } = { rtp: [], rtcp: [] }
  const transport = new SdesTransport({
    listen(rtp: typeof onRtp, rtcp: typeof onRtp) {
      onRtp = rtp
      onRtcp = rtcp
    },
    sendRtp: (packet: Buffer, bytes: number) =>
      sent.push({ port: 'rtp', datagram: packet.subarray(0, bytes) }) > 0,
    sendRtcp: (packet: Buffer) => sent.push({ port: 'rtcp', datagram: packet }) > 0,
    close: () => Promise.resolve(),
  } as unknown as SocketPair)
  transport.listen(
    (packet) => heard.rtp.push(packet),
    (packet) => heard.rtcp.push(packet),
  )
  const agree = (ours: number, theirs: number): void =>
    transport.agree({
      hasRtcpMux,
      protection: { form: 'sdes', send: keyOf(ours), receive: keyOf(theirs) },
    } as Agreement)
  agree(send, receive)
  return {
    transport,
    sent,
    heard,
    agree,
    take(port: 'rtp' | 'rtcp', datagram: Buffer): void {
      const copy = Buffer.from(datagram)
      if (port === 'rtp') onRtp(copy, here)
      else onRtcp(copy, here)
    },
  }
}

type End = ReturnType<typeof end>

/** Delivers the packets that one end sends to the other. */
function pass(from: End, to: End, send: () => boolean): void {
  const before = from.sent.length
  expect(send()).toBe(true)
  for (const { port, datagram } of from.sent.slice(before)) to.take(port, datagram)
}

const speak = (from: End, to: End, sequence: number): void =>
  pass(from, to, () => from.transport.sendRtp(packetOf(sequence), 172, here))

it.each([false, true])('carries packets and reports, with one port for both: %s', (hasRtcpMux) => {
  const [a, b] = [end(1, 2, hasRtcpMux), end(2, 1, hasRtcpMux)]
  speak(a, b, 1)
  pass(a, b, () => a.transport.sendRtcp(report, here))
  expect(b.heard).toEqual({ rtp: [packetOf(1)], rtcp: [report] })
  expect(a.sent.map(({ port }) => port)).toEqual(['rtp', hasRtcpMux ? 'rtp' : 'rtcp'])
  expect(a.sent[0]?.datagram.includes(Buffer.alloc(8, 1))).toBe(false)
  expect(b.transport.rejected).toEqual({ forged: 0, replayed: 0 })
})

it('drops and counts what is plain, changed, or seen before', () => {
  const [a, b] = [end(1, 2), end(2, 1)]
  speak(a, b, 1)
  b.take('rtp', packetOf(2))
  b.take('rtcp', report)
  b.take('rtp', Buffer.from([0x80, 0, 0]))
  // A STUN message, and an empty datagram.
  b.take('rtp', Buffer.from('000100002112a442', 'hex'))
  b.take('rtp', Buffer.alloc(0))
  b.take('rtp', a.sent[0]?.datagram ?? Buffer.alloc(0))
  expect(b.heard.rtp).toHaveLength(1)
  expect(b.heard.rtcp).toHaveLength(0)
  expect(b.transport.rejected).toEqual({ forged: 3, replayed: 1 })
})

it('does not send a packet of numbers that were used', () => {
  const a = end(1, 2)
  expect(a.transport.sendRtp(packetOf(1), 172, here)).toBe(true)
  expect(a.transport.sendRtp(packetOf(1), 172, here)).toBe(false)
})

describe('offer and answer again', () => {
  it('with the same keys let no packet through twice', () => {
    const [a, b] = [end(1, 2), end(2, 1)]
    speak(a, b, 1)
    a.agree(1, 2)
    b.agree(2, 1)
    b.take('rtp', a.sent[0]?.datagram ?? Buffer.alloc(0))
    expect(b.transport.rejected.replayed).toBe(1)
    expect(a.transport.sendRtp(packetOf(1), 172, here)).toBe(false)
    speak(a, b, 2)
    expect(b.heard.rtp).toHaveLength(2)
  })

  it('with a new key accept the former one until the new one is used', () => {
    const [a, b] = [end(1, 2), end(2, 1)]
    const late = end(1, 2)
    speak(a, b, 1)
    b.agree(2, 3)
    speak(late, b, 2)
    a.agree(3, 2)
    speak(a, b, 3)
    expect(b.heard.rtp).toEqual([packetOf(1), packetOf(2), packetOf(3)])
    late.transport.sendRtp(packetOf(4), 172, here)
    b.take('rtp', late.sent[1]?.datagram ?? Buffer.alloc(0))
    expect(b.heard.rtp).toHaveLength(3)
    expect(b.transport.rejected.forged).toBe(1)
  })
})
