// SRTCP from strangers, networks and far ends without encryption. Its vectors are in srtp.test.ts.
import { createHmac } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { toCompound } from '../rtp/rtcp.ts'
import { deriveKeys } from './session-keys.ts'
import { SrtcpReceiver, SrtcpSender } from './srtcp.ts'
import type { MasterKey } from './suites.ts'

const master: MasterKey = {
  suite: 'AES_CM_128_HMAC_SHA1_32',
  key: Uint8Array.from({ length: 30 }, (_, at) => at),
}

function reportOf(ssrc: number): Buffer {
  return toCompound({ ssrc, cname: 'far', sender: undefined, block: undefined, isBye: false })
}

/** Returns a packet as in RFC 3711 §3.4, unencrypted if E is not set, and signed with the right key. */
function signed(report: Buffer, word: number): Buffer {
  const index = Buffer.alloc(4)
  index.writeUInt32BE(word >>> 0)
  const text = Buffer.concat([report, index])
  const { authentication } = deriveKeys(master, 'rtcp')
  const tag = createHmac('sha1', authentication).update(text).digest().subarray(0, 10)
  return Buffer.concat([text, tag])
}

describe('a receiver of reports', () => {
  it('accepts a report that is signed and not encrypted, as the far end may choose', () => {
    const receiver = new SrtcpReceiver(master)
    expect(receiver.unprotect(signed(reportOf(9), 5))).toEqual(reportOf(9))
    expect(receiver.unprotect(signed(reportOf(9), 5))).toBe('replayed')
  })

  it('has a tag of ten octets in a suite whose packets have one of four', () => {
    const sent = new SrtcpSender(master).protect(reportOf(9))
    expect(sent).toHaveLength(reportOf(9).length + 4 + 10)
    expect(new SrtcpReceiver(master).unprotect(Buffer.from(sent))).toEqual(reportOf(9))
    expect(new SrtcpReceiver(master).unprotect(sent.subarray(0, -6))).toBe('forged')
  })

  it('accepts late reports, each once, and none older than its window', () => {
    const receiver = new SrtcpReceiver(master)
    const sender = new SrtcpSender(master)
    const sent = Array.from({ length: 70 }, () => sender.protect(reportOf(9)))
    const take = (at: number): unknown => receiver.unprotect(Buffer.from(sent[at] ?? ''))
    expect(take(69)).toEqual(reportOf(9))
    expect(take(10)).toEqual(reportOf(9))
    expect(take(10)).toBe('replayed')
    expect(take(5)).toBe('replayed')
  })

  it('does not store the index of a forged report, so that the authentic one is accepted', () => {
    const receiver = new SrtcpReceiver(master)
    const right = new SrtcpSender(master).protect(reportOf(9))
    const forged = Buffer.from(right)
    forged.writeUInt8(forged.readUInt8(forged.length - 1) ^ 1, forged.length - 1)
    expect(receiver.unprotect(forged)).toBe('forged')
    expect(receiver.unprotect(right)).toEqual(reportOf(9))
  })

  it('counts each source for itself', () => {
    const receiver = new SrtcpReceiver(master)
    for (const ssrc of [1, 2, 3])
      expect(receiver.unprotect(signed(reportOf(ssrc), 7))).toEqual(reportOf(ssrc))
  })

  it.each([0, 8, 21])('rejects a datagram of %i octets', (bytes) => {
    expect(new SrtcpReceiver(master).unprotect(Buffer.alloc(bytes))).toBe('forged')
  })

  it('rejects one longer than a packet', () => {
    const long = Buffer.concat([reportOf(9), Buffer.alloc(1500)])
    expect(new SrtcpReceiver(master).unprotect(signed(long, 1))).toBe('forged')
  })
})
