// The packets of the first stream in an Ogg file, fed in pieces (RFC 3533 §6).

// Page header:
//  0      4         5      6                  14       18         22      26         27
//  +------+---------+------+------------------+--------+----------+-------+----------+-----------------+---------
//  | OggS | version | type | granule position | serial | sequence | CRC   | segments | segment lengths | payload
//  +------+---------+------+------------------+--------+----------+-------+----------+-----------------+---------
const headerBytes = 27
// A packet that continues over any number of pages is not audio: an Opus packet has at most 61,440 octets
// (RFC 7845 §6).
const maxPacketBytes = 65_536

export class OggPackets {
  #pending = Buffer.alloc(0)
  #serial: number | undefined
  #packet: Buffer[] = []
  #packetBytes = 0;

  /** Yields the packets that became complete. Throws RangeError if the file is broken. */
  *push(bytes: Uint8Array): Generator<Buffer, void> {
    this.#pending = Buffer.concat([this.#pending, bytes])
    for (;;) {
      const page = this.#pending
      if (page.length < headerBytes) return
      if (page.toString('latin1', 0, 4) !== 'OggS') throw new RangeError('no page begins where one should')
      const segments = page[26] ?? 0
      const lengths = page.subarray(headerBytes, headerBytes + segments)
      const start = headerBytes + segments
      const end = start + lengths.reduce((sum, length) => sum + length, 0)
      if (lengths.length < segments || page.length < end) return
      this.#pending = page.subarray(end)
      const serial = page.readUInt32LE(14)
      this.#serial ??= serial
      // Other streams of the file are skipped, such as a second language or a picture.
      if (serial === this.#serial) yield* this.#packets(lengths, page.subarray(start, end))
    }
  }

  *#packets(lengths: Uint8Array, payload: Buffer): Generator<Buffer, void> {
    let offset = 0
    for (const length of lengths) {
      this.#packet.push(payload.subarray(offset, offset + length))
      this.#packetBytes += length
      offset += length
      if (this.#packetBytes > maxPacketBytes) throw new RangeError('a packet is too long')
      // A segment of 255 octets continues in the next one.
      if (length === 255) continue
      yield Buffer.concat(this.#packet)
      this.#packet = []
      this.#packetBytes = 0
    }
  }
}
