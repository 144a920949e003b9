// AES in counter mode and an HMAC of SHA-1: RFC 3711 §4.1.1, §4.2.1, and RFC 6188 for keys of 256 bits.
import { Authenticator } from './authenticator.ts'
import { Cipher } from './cipher.ts'
import type { PacketIndex } from './cipher.ts'
import { encryptedFlag, indexBytes, rtcpClearBytes } from './rtcp-index.ts'
import type { RtcpSeal, RtpSeal } from './seal.ts'
import type { SessionKeys } from './session-keys.ts'

export class CounterRtpSeal implements RtpSeal {
  readonly tagBytes: number
  readonly bytesBehindMki: number
  readonly #cipher: Cipher
  readonly #authenticator: Authenticator

  constructor(keys: SessionKeys, tagBytes: number) {
    this.tagBytes = tagBytes
    this.bytesBehindMki = tagBytes
    this.#cipher = new Cipher(keys)
    this.#authenticator = new Authenticator(keys.authentication, tagBytes)
  }

  seal(packet: Buffer, start: number, bytes: number, index: PacketIndex): void {
    this.#cipher.apply(packet, start, bytes, index)
    this.#authenticator.sign(packet, bytes, index.upper)
  }

  open(packet: Buffer, start: number, bytes: number, index: PacketIndex): boolean {
    if (!this.#authenticator.verifies(packet, bytes, index.upper)) return false
    this.#cipher.apply(packet, start, bytes, index)
    return true
  }
}

// Also in suites with a shorter tag for RTP: RFC 4568 §6.2.2.
const rtcpTagBytes = 10

export class CounterRtcpSeal implements RtcpSeal {
  readonly bytesBehindMki = rtcpTagBytes
  readonly bytesBehindIndex = rtcpTagBytes
  readonly #cipher: Cipher
  readonly #authenticator: Authenticator

  constructor(keys: SessionKeys) {
    this.#cipher = new Cipher(keys)
    this.#authenticator = new Authenticator(keys.authentication, rtcpTagBytes)
  }

  seal(packet: Buffer, index: number): Buffer {
    const end = packet.length + indexBytes
    const sealed = Buffer.alloc(end + rtcpTagBytes)
    packet.copy(sealed)
    this.#apply(sealed, packet.length, index)
    sealed.writeUInt32BE((encryptedFlag | index) >>> 0, packet.length)
    this.#authenticator.sign(sealed, end)
    return sealed
  }

  open(packet: Buffer): Buffer | undefined {
    const signed = packet.length - rtcpTagBytes
    const end = signed - indexBytes
    const word = packet.readUInt32BE(end)
    if (!this.#authenticator.verifies(packet, signed)) return undefined
    if (word >= encryptedFlag) this.#apply(packet, end, word - encryptedFlag)
    return packet.subarray(0, end)
  }

  #apply(packet: Buffer, end: number, index: number): void {
    const ssrc = packet.readUInt32BE(4)
    this.#cipher.apply(packet, rtcpClearBytes, end, { ssrc, upper: index >>> 16, lower: index & 0xffff })
  }
}
