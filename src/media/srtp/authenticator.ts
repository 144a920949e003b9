// HMAC-SHA1 over a packet (RFC 2104, RFC 3711 §4.2.1). An HMAC object of node:crypto takes 14 us per packet, two
// digests of prepared memory take 1 us. Figures and the libraries compared are in docs/decisions/0085-srtp.md.
import { hash, timingSafeEqual } from 'node:crypto'
import { largestPacketBytes } from '../rtp/packet.ts'

const blockBytes = 64
const digestBytes = 20

export class Authenticator {
  /** Each begins with a block of the padded key. The octets to be digested are written behind it. */
  readonly #inner = Buffer.alloc(blockBytes + largestPacketBytes + 4)
  readonly #outer = Buffer.alloc(blockBytes + digestBytes)
  readonly #expected: Buffer
  readonly #found: Buffer

  /** The tag is the first `tagBytes` octets of the digest. */
  constructor(key: Uint8Array, tagBytes: number) {
    this.#inner.fill(0x36, 0, blockBytes)
    this.#outer.fill(0x5c, 0, blockBytes)
    for (const [index, octet] of key.entries()) {
      this.#inner[index] = octet ^ 0x36
      this.#outer[index] = octet ^ 0x5c
    }
    this.#expected = Buffer.alloc(tagBytes)
    this.#found = Buffer.alloc(tagBytes)
  }

  /**
   * Writes the tag of the first `bytes` octets of the packet behind them. `suffix` is a 32-bit number that is also
   * authenticated.
   */
  sign(packet: Buffer, bytes: number, suffix?: number): void {
    this.#digest(packet, bytes, suffix, packet, bytes)
  }

  /** Returns whether the tag behind the first `bytes` octets of the packet is correct. */
  verifies(packet: Buffer, bytes: number, suffix?: number): boolean {
    this.#digest(packet, bytes, suffix, this.#expected, 0)
    packet.copy(this.#found, 0, bytes)
    return timingSafeEqual(this.#expected, this.#found)
  }

  #digest(packet: Buffer, bytes: number, suffix: number | undefined, to: Buffer, at: number): void {
    const inner = this.#inner
    packet.copy(inner, blockBytes, 0, bytes)
    if (suffix !== undefined) inner.writeUInt32BE(suffix >>> 0, blockBytes + bytes)
    const end = blockBytes + bytes + (suffix === undefined ? 0 : 4)
    // Text with one octet per character, since a digest in a buffer of its own costs three times as much.
    this.#outer.write(hash('sha1', inner.subarray(0, end), 'binary'), blockBytes, digestBytes, 'latin1')
    to.write(hash('sha1', this.#outer, 'binary'), at, this.#expected.length, 'latin1')
  }
}
