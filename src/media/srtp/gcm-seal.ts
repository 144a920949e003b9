// AES-GCM, which encrypts and authenticates at once: RFC 7714. A cipher object serves one packet, since the nonce of
// each is its own.
import { createCipheriv, createDecipheriv } from 'node:crypto'
import type { CipherGCMTypes } from 'node:crypto'
import type { PacketIndex } from './cipher.ts'
import { encryptedFlag, indexBytes, rtcpClearBytes } from './rtcp-index.ts'
import type { RtcpSeal, RtpSeal } from './seal.ts'
import type { SessionKeys } from './session-keys.ts'

const tagBytes = 16
const nonceBytes = 12

type GcmKeys = Pick<SessionKeys, 'encryption' | 'salt'>

/** The part of a packet that is encrypted, and the octets that are authenticated only. */
interface Sealed {
  readonly nonce: Buffer
  readonly clear: Buffer
  readonly part: Buffer
}

class Gcm {
  readonly #name: CipherGCMTypes
  readonly #keys: GcmKeys
  readonly #nonce = Buffer.alloc(nonceBytes)

  constructor(keys: GcmKeys) {
    this.#name = keys.encryption.length === 32 ? 'aes-256-gcm' : 'aes-128-gcm'
    this.#keys = keys
  }

  /** Encrypts the part in place and returns its tag. */
  encrypt({ nonce, clear, part }: Sealed): Buffer {
    const cipher = createCipheriv(this.#name, this.#keys.encryption, nonce).setAAD(clear)
    part.set(cipher.update(part))
    cipher.final()
    return cipher.getAuthTag()
  }

  /** Decrypts the part in place and returns true; leaves it unchanged if it is not authentic. */
  decrypt({ nonce, clear, part }: Sealed, tag: Buffer): boolean {
    const decipher = createDecipheriv(this.#name, this.#keys.encryption, nonce, { authTagLength: tagBytes })
    const plain = decipher.setAAD(clear).setAuthTag(tag).update(part)
    try {
      decipher.final()
    } catch {
      return false
    }
    part.set(plain)
    return true
  }

  /** Returns the nonce: 16 zero bits, the SSRC and the index in 48 bits, combined with the salt (RFC 7714 §8.1, §9.1). */
  nonceOf(ssrc: number, upper: number, lower: number): Buffer {
    const nonce = this.#nonce
    nonce.writeUInt16BE(0, 0)
    nonce.writeUInt32BE(ssrc, 2)
    nonce.writeUInt32BE(upper, 6)
    nonce.writeUInt16BE(lower, 10)
    for (const [at, octet] of this.#keys.salt.entries()) nonce[at] = (nonce[at] ?? 0) ^ octet
    return nonce
  }
}

export class GcmRtpSeal implements RtpSeal {
  readonly tagBytes = tagBytes
  // RFC 7714 §8: the tag is a part of the ciphertext, so that the MKI comes last.
  readonly bytesBehindMki = 0
  readonly #gcm: Gcm

  constructor(keys: GcmKeys) {
    this.#gcm = new Gcm(keys)
  }

  seal(packet: Buffer, start: number, bytes: number, index: PacketIndex): void {
    packet.set(this.#gcm.encrypt(this.#partsOf(packet, start, bytes, index)), bytes)
  }

  open(packet: Buffer, start: number, bytes: number, index: PacketIndex): boolean {
    return this.#gcm.decrypt(
      this.#partsOf(packet, start, bytes, index),
      packet.subarray(bytes, bytes + tagBytes),
    )
  }

  #partsOf(packet: Buffer, start: number, bytes: number, { ssrc, upper, lower }: PacketIndex): Sealed {
    return {
      nonce: this.#gcm.nonceOf(ssrc, upper, lower),
      clear: packet.subarray(0, start),
      part: packet.subarray(start, bytes),
    }
  }
}

//  0                   1                   2                   3
//  0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1
// +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
// |  first 8 octets of the compound packet: in the clear          |
// +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
// |  the rest of it, encrypted where E is set, then the tag       |
// +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
// |E|                     SRTCP index                             |
// +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
// |  MKI, where the key has one                                   |
// +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+

export class GcmRtcpSeal implements RtcpSeal {
  readonly bytesBehindMki = 0
  readonly bytesBehindIndex = 0
  readonly #gcm: Gcm

  constructor(keys: GcmKeys) {
    this.#gcm = new Gcm(keys)
  }

  seal(packet: Buffer, index: number): Buffer {
    const sealed = Buffer.alloc(packet.length + tagBytes + indexBytes)
    packet.copy(sealed)
    const word = (encryptedFlag | index) >>> 0
    sealed.writeUInt32BE(word, packet.length + tagBytes)
    sealed.set(this.#gcm.encrypt(this.#partsOf(sealed, packet.length, word)), packet.length)
    return sealed
  }

  open(packet: Buffer): Buffer | undefined {
    const wordAt = packet.length - indexBytes
    const end = wordAt - tagBytes
    if (end < rtcpClearBytes) return undefined
    const parts = this.#partsOf(packet, end, packet.readUInt32BE(wordAt))
    return this.#gcm.decrypt(parts, packet.subarray(end, wordAt)) ? packet.subarray(0, end) : undefined
  }

  /** The authenticated octets end with the word of the index: RFC 7714 §9.2, and §9.3 for a packet in the clear. */
  #partsOf(packet: Buffer, end: number, word: number): Sealed {
    const index = word & 0x7fff_ffff
    const clearEnd = word >= encryptedFlag ? rtcpClearBytes : end
    const wordAsOctets = Buffer.alloc(indexBytes)
    wordAsOctets.writeUInt32BE(word)
    return {
      nonce: this.#gcm.nonceOf(packet.readUInt32BE(4), index >>> 16, index & 0xffff),
      clear: Buffer.concat([packet.subarray(0, clearEnd), wordAsOctets]),
      part: packet.subarray(clearEnd, end),
    }
  }
}
