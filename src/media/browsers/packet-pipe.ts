// Packets between a media worker and the process of browsers, over one local connection. All packets of one turn of
// the event loop are sent together.
import type { Duplex } from 'node:stream'

// The peer, then the length. The largest packet of a path has 1,500 octets.
const headerBytes = 6
const maxPacketBytes = 2048
// A reader this far behind has not run for a quarter of a second; packets would reach it too late to be heard.
const maxWaitingBytes = 1024 * 1024

export type OnPacket = (peer: number, packet: Buffer) => void

export class PacketPipe {
  readonly #stream: Duplex
  #frames: Buffer[] = []
  #isDue = false
  #rest: Buffer = Buffer.alloc(0)
  #dropped = 0

  /** The owner of the stream handles its end and its errors. */
  constructor(stream: Duplex) {
    this.#stream = stream
  }

  /** `head` is the part of the stream that was read before. */
  listen(onPacket: OnPacket, head: Buffer = Buffer.alloc(0)): void {
    this.#stream.on('data', (chunk: Buffer) => this.#read(chunk, onPacket))
    this.#read(head, onPacket)
  }

  /** The number of packets dropped because the reader is behind. */
  get dropped(): number {
    return this.#dropped
  }

  /** Copies and sends the packet. Returns false if it was dropped. */
  send(peer: number, packet: Uint8Array, bytes = packet.length): boolean {
    if (bytes > maxPacketBytes || this.#stream.writableLength > maxWaitingBytes || this.#stream.destroyed) {
      this.#dropped += 1
      return false
    }
    const frame = Buffer.allocUnsafe(headerBytes + bytes)
    frame.writeUInt32BE(peer, 0)
    frame.writeUInt16BE(bytes, 4)
    frame.set(bytes === packet.length ? packet : packet.subarray(0, bytes), headerBytes)
    this.#frames.push(frame)
    if (!this.#isDue) setImmediate(() => this.#flush())
    this.#isDue = true
    return true
  }

  #flush(): void {
    this.#isDue = false
    const frames = this.#frames
    this.#frames = []
    if (!this.#stream.destroyed) this.#stream.write(frames.length === 1 ? frames[0] : Buffer.concat(frames))
  }

  #read(chunk: Buffer, onPacket: OnPacket): void {
    const data = this.#rest.length === 0 ? chunk : Buffer.concat([this.#rest, chunk])
    let at = 0
    while (data.length - at >= headerBytes) {
      const bytes = data.readUInt16BE(at + 4)
      // Both ends are ours, so a longer packet means that the framing is lost.
      if (bytes > maxPacketBytes) return void this.#stream.destroy()
      const end = at + headerBytes + bytes
      if (end > data.length) break
      onPacket(data.readUInt32BE(at), data.subarray(at + headerBytes, end))
      at = end
    }
    this.#rest = at === data.length ? Buffer.alloc(0) : Buffer.from(data.subarray(at))
  }
}
