// AES in counter mode for SRTP (RFC 3711 §4.1.1). One cipher object per key encrypts the counters of a packet as
// blocks. With an object in counter mode a new one would be needed for each packet, which costs five times as much.
import { createCipheriv, type Cipheriv } from 'node:crypto'
import { largestPacketBytes } from '../rtp/packet.ts'
import type { SessionKeys } from './session-keys.ts'

const blockBytes = 16
const mostBlocks = Math.ceil(largestPacketBytes / blockBytes)

/** The packet that a key stream belongs to. */
export interface PacketIndex {
  readonly ssrc: number
  /** The index without its lowest 16 bits; for RTP the rollover counter. */
  readonly upper: number
  /** The lowest 16 bits of the index; for RTP the sequence number. */
  readonly lower: number
}

export class Cipher {
  readonly #blocks: Cipheriv
  readonly #salt: Buffer
  readonly #counters = Buffer.alloc(mostBlocks * blockBytes)
  // The methods of a Buffer check more, which would take a third of the time of a packet.
  readonly #words = new DataView(this.#counters.buffer, this.#counters.byteOffset, this.#counters.length)

  constructor({ encryption, salt }: Pick<SessionKeys, 'encryption' | 'salt'>) {
    // Counter mode encrypts single blocks, so there is no block chaining and no padding.
    this.#blocks = createCipheriv(`aes-${encryption.length * 8}-ecb`, encryption, null).setAutoPadding(false)
    this.#salt = salt
    for (let block = 0; block < mostBlocks; block += 1)
      this.#counters.writeUInt16BE(block, block * blockBytes + 14)
  }

  /** Encrypts or decrypts a part of the packet in place. */
  apply(packet: Buffer, start: number, end: number, index: PacketIndex): void {
    const stream = this.#keyStream(end - start, index)
    for (let at = start, from = 0; at < end; at += 1, from += 1)
      packet[at] = (packet[at] ?? 0) ^ (stream[from] ?? 0)
  }

  #keyStream(bytes: number, { ssrc, upper, lower }: PacketIndex): Buffer {
    const words = this.#words
    const salt = this.#salt
    const length = Math.ceil(bytes / blockBytes) * blockBytes
    const word0 = salt.readInt32BE(0)
    const word1 = salt.readInt32BE(4) ^ ssrc
    const word2 = salt.readInt32BE(8) ^ upper
    const last = (salt.readUInt16BE(12) ^ lower) & 0xffff
    for (let at = 0; at < length; at += blockBytes) {
      words.setInt32(at, word0)
      words.setInt32(at + 4, word1)
      words.setInt32(at + 8, word2)
      words.setUint16(at + 12, last)
    }
    return this.#blocks.update(this.#counters.subarray(0, length))
  }
}
