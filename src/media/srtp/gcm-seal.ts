// AES-GCM for SRTP and SRTCP: RFC 7714. The tag belongs to the encrypted text, so it comes before the index of RTCP and
// the MKI. Each packet needs a cipher object of its own, which costs more than ten times as much as counter mode here
// (docs/decisions/0085-srtp.md).
import { createCipheriv, createDecipheriv, type CipherGCMTypes } from 'node:crypto'
import type { PacketIndex } from './cipher.ts'
import { clearRtcpBytes, encryptedFlag, indexBytes, type Seal } from './seal.ts'
import type { SessionKeys } from './session-keys.ts'

const tagBytes = 16
const ivBytes = 12

export class GcmSeal implements Seal {
  readonly bytesBehindMki = 0
  readonly rtpBytes = tagBytes
  readonly rtcpBytes = tagBytes + indexBytes
  readonly #algorithm: CipherGCMTypes
  readonly #key: Buffer
  readonly #salt: Buffer
  readonly #iv = Buffer.alloc(ivBytes)

  constructor({ encryption, salt }: Pick<SessionKeys, 'encryption' | 'salt'>) {
    this.#algorithm = encryption.length === 32 ? 'aes-256-gcm' : 'aes-128-gcm'
    this.#key = encryption
    this.#salt = salt
  }

  closeRtp(packet: Buffer, start: number, end: number, { ssrc, upper, lower }: PacketIndex): void {
    this.#close(packet, { start, end, iv: this.#ivOf(ssrc, upper, lower), clear: packet.subarray(0, start) })
  }

  openRtp(packet: Buffer, start: number, end: number, { ssrc, upper, lower }: PacketIndex): boolean {
    const iv = this.#ivOf(ssrc, upper, lower)
    return this.#open(packet, { start, end, iv, clear: packet.subarray(0, start) })
  }

  closeRtcp(packet: Buffer, end: number, index: number): void {
    packet.writeUInt32BE((encryptedFlag | index) >>> 0, end + tagBytes)
    this.#close(packet, this.#partsOf(packet, end))
  }

  wordOf(packet: Buffer, end: number): number {
    return packet.readUInt32BE(end + tagBytes)
  }

  openRtcp(packet: Buffer, end: number): boolean {
    return this.#open(packet, this.#partsOf(packet, end))
  }

  /** The index is authenticated behind the octets in the clear, which are all of them without encryption. */
  #partsOf(packet: Buffer, end: number): Parts {
    const word = this.wordOf(packet, end)
    const index = word & 0x7fff_ffff
    const start = word >= encryptedFlag ? clearRtcpBytes : end
    const tail = packet.subarray(end + tagBytes, end + tagBytes + indexBytes)
    const clear = Buffer.concat([packet.subarray(0, start), tail])
    return { start, end, iv: this.#ivOf(packet.readUInt32BE(4), index >>> 16, index & 0xffff), clear }
  }

  /** RFC 7714 §8.1 and §9.1: 16 zero bits, the SSRC and an index of 48 bits, combined with the salt. */
  #ivOf(ssrc: number, upper: number, lower: number): Buffer {
    const iv = this.#iv
    iv.writeUInt16BE(0, 0)
    iv.writeUInt32BE(ssrc, 2)
    iv.writeUInt32BE(upper >>> 0, 6)
    iv.writeUInt16BE(lower, 10)
    for (let at = 0; at < ivBytes; at += 1) iv[at] = (iv[at] ?? 0) ^ (this.#salt[at] ?? 0)
    return iv
  }

  #close(packet: Buffer, { start, end, iv, clear }: Parts): void {
    const cipher = createCipheriv(this.#algorithm, this.#key, iv, { authTagLength: tagBytes })
    cipher.setAAD(clear)
    packet.set(cipher.update(packet.subarray(start, end)), start)
    cipher.final()
    packet.set(cipher.getAuthTag(), end)
  }

  #open(packet: Buffer, { start, end, iv, clear }: Parts): boolean {
    const decipher = createDecipheriv(this.#algorithm, this.#key, iv, { authTagLength: tagBytes })
    decipher.setAAD(clear)
    decipher.setAuthTag(packet.subarray(end, end + tagBytes))
    const text = decipher.update(packet.subarray(start, end))
    try {
      decipher.final()
    } catch {
      // A normal outcome: its tag is wrong.
      return false
    }
    packet.set(text, start)
    return true
  }
}

/** The parts of a packet: encrypted from `start` to `end`, and authenticated in the clear. */
interface Parts {
  readonly start: number
  readonly end: number
  readonly iv: Buffer
  readonly clear: Buffer
}
