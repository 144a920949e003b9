// AES-GCM against the vectors of RFC 7714, and the places of its tag, its index and its MKI in packets.
import { describe, expect, it } from 'vitest'
import { toCompound } from '../rtp/rtcp.ts'
import { writeRtpHeader } from '../rtp/packet.ts'
import { GcmRtcpSeal, GcmRtpSeal } from './gcm-seal.ts'
import { SrtcpReceiver, SrtcpSender } from './srtcp.ts'
import { SrtpReceiver, SrtpSender } from './srtp.ts'
import { keyAndSaltBytes } from './suites.ts'
import type { MasterKey } from './suites.ts'

const hex = (text: string): Buffer => Buffer.from(text.replaceAll(' ', ''), 'hex')

// RFC 7714 §16 and §17.
const salt = hex('51756964 2070726f 2071756f')
const keys = {
  128: { encryption: hex('00010203 04050607 08090a0b 0c0d0e0f'), salt },
  256: { encryption: hex('00010203 04050607 08090a0b 0c0d0e0f 10111213 14151617 18191a1b 1c1d1e1f'), salt },
}

const packet = hex(
  '8040f17b 8041f8d3 5501a0b2 47616c6c 69612065 7374206f 6d6e6973 20646976 69736120 696e2070 61727465 73207472 6573',
)
const index = { ssrc: 0x5501_a0b2, upper: 0, lower: 0xf17b }

const compound = hex(
  '81c8000d 4d617273 4e545031 4e545032 52545020 0000042a 0000e930 4c756e61 deadbeef deadbeef deadbeef deadbeef deadbeef',
)

describe('RFC 7714', () => {
  it.each([
    [
      128,
      '8040f17b 8041f8d3 5501a0b2 f24de3a3 fb34de6c acba861c 9d7e4bca be633bd5 0d294e6f 42a5f47a 51c7d19b 36de3adf 8833899d 7f27beb1 6a9152cf 765ee439 0cce',
    ],
    [
      256,
      '8040f17b 8041f8d3 5501a0b2 32b1de78 a822fe12 ef9f78fa 332e33aa b1801238 9a58e2f3 b50b2a02 76ffae0f 1ba63799 b87b7aa3 db36dfff d6b0f9bb 7878d7a7 6c13',
    ],
  ] as const)('gives the packet sealed here with a key of %i bits (§16)', (bits, sealed) => {
    const seal = new GcmRtpSeal(keys[bits])
    const sent = Buffer.concat([packet, Buffer.alloc(16)])
    seal.seal(sent, 12, packet.length, index)
    expect(sent).toEqual(hex(sealed))
    expect(seal.open(sent, 12, packet.length, index)).toBe(true)
    expect(sent.subarray(0, packet.length)).toEqual(packet)
  })

  it.each([
    [
      128,
      '81c8000d 4d617273 63e94885 dcdab67c a727d766 2f6b7e99 7ff5c0f7 6c06f32d c676a5f1 730d6fda 4ce09b46 86303ded 0bb9275b c84aa458 96cf4d2f c5abf872 45d9eade 800005d4',
    ],
  ] as const)('gives the report sealed here with a key of %i bits (§17)', (bits, sealed) => {
    const seal = new GcmRtcpSeal(keys[bits])
    expect(seal.seal(compound, 0x5d4)).toEqual(hex(sealed))
    expect(seal.open(hex(sealed))).toEqual(compound)
  })
})

describe('a stream under AES-GCM', () => {
  const master: MasterKey = {
    suite: 'AEAD_AES_256_GCM',
    key: Uint8Array.from({ length: keyAndSaltBytes('AEAD_AES_256_GCM') }, (_, at) => at),
  }
  const marked: MasterKey = { ...master, mki: hex('0007') }
  const report = toCompound({ ssrc: 9, cname: 'far', sender: undefined, block: undefined, isBye: false })

  function sent(under: MasterKey): Buffer {
    const plain = Buffer.concat([Buffer.alloc(12), Buffer.alloc(160, 3)])
    writeRtpHeader(plain, { marker: false, payloadType: 0, sequence: 1, timestamp: 160, ssrc: 7 })
    const to = Buffer.alloc(1600)
    return to.subarray(0, new SrtpSender(under).protect(plain, plain.length, to))
  }

  it('has the MKI at the end of packets and reports (RFC 7714 §8)', () => {
    expect(sent(marked)).toEqual(Buffer.concat([sent(master), hex('0007')]))
    expect(new SrtpReceiver(marked).unprotect(sent(marked))).toHaveLength(172)
    const control = new SrtcpSender(marked).protect(report)
    expect(control).toEqual(Buffer.concat([new SrtcpSender(master).protect(report), hex('0007')]))
    expect(new SrtcpReceiver(marked).unprotect(control)).toEqual(report)
  })

  it('takes a report that is authentic and in the clear (RFC 7714 §9.3)', () => {
    // Encrypted in the clear part: E is not set, and all octets are authenticated.
    const inClear = new GcmRtcpSeal({ encryption: Buffer.alloc(32, 1), salt: Buffer.alloc(12, 2) })
    const encrypted = inClear.seal(report, 5)
    const cleared = Buffer.from(encrypted)
    cleared.writeUInt32BE(5, cleared.length - 4)
    expect(inClear.open(cleared)).toBeUndefined()
    expect(inClear.open(encrypted)).toEqual(report)
  })

  it.each([0, 8, 21, 27])('rejects a report of %i octets', (bytes) => {
    expect(new SrtcpReceiver(master).unprotect(Buffer.alloc(bytes))).toBe('forged')
  })
})
