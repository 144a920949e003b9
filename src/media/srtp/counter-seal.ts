// AES in counter mode and HMAC-SHA1 for SRTP and SRTCP: RFC 3711 §3.1 and §3.4.
import { Authenticator } from './authenticator.ts'
import { Cipher, type PacketIndex } from './cipher.ts'
import { clearRtcpBytes, encryptedFlag, indexBytes, type Seal } from './seal.ts'
import type { SessionKeys } from './session-keys.ts'

/** The tag is the last field, and covers the index of RTCP. */
export class CounterSeal implements Seal {
  readonly bytesBehindMki: number
  readonly rtpBytes: number
  readonly rtcpBytes: number
  readonly #cipher: Cipher
  readonly #authenticator: Authenticator

  constructor(keys: SessionKeys, tagBytes: number) {
    this.bytesBehindMki = this.rtpBytes = tagBytes
    this.rtcpBytes = indexBytes + tagBytes
    this.#cipher = new Cipher(keys)
    this.#authenticator = new Authenticator(keys.authentication, tagBytes)
  }

  closeRtp(packet: Buffer, start: number, end: number, index: PacketIndex): void {
    this.#cipher.apply(packet, start, end, index)
    this.#authenticator.sign(packet, end, index.upper)
  }

  openRtp(packet: Buffer, start: number, end: number, index: PacketIndex): boolean {
    if (!this.#authenticator.verifies(packet, end, index.upper)) return false
    this.#cipher.apply(packet, start, end, index)
    return true
  }

  closeRtcp(packet: Buffer, end: number, index: number): void {
    this.#apply(packet, end, index)
    packet.writeUInt32BE((encryptedFlag | index) >>> 0, end)
    this.#authenticator.sign(packet, end + indexBytes)
  }

  wordOf(packet: Buffer, end: number): number {
    return packet.readUInt32BE(end)
  }

  openRtcp(packet: Buffer, end: number): boolean {
    if (!this.#authenticator.verifies(packet, end + indexBytes)) return false
    const word = this.wordOf(packet, end)
    if (word >= encryptedFlag) this.#apply(packet, end, word & 0x7fff_ffff)
    return true
  }

  #apply(packet: Buffer, end: number, index: number): void {
    const ssrc = packet.readUInt32BE(4)
    this.#cipher.apply(packet, clearRtcpBytes, end, { ssrc, upper: index >>> 16, lower: index & 0xffff })
  }
}
