// Packets between a media worker and the process of browsers: over one local connection, all that one turn of the loop has at once.
import type { Duplex } from 'node:stream'

// Peer, then length; the largest packet of a path has 1,500 octets.
const headerBytes = 6
const maxPacketBytes = 2048
// A reader that is this far behind has not run for a quarter of a second: what it would get is too late to be heard.
const maxWaitingBytes = 1024 * 1024

export type OnPacket = (peer: number, packet: Buffer) => void

export class PacketPipe {
  readonly #stream: Duplex
  #frames: Buffer[] = []
  #isDue = false
  #rest: Buffer = Buffer.alloc(0)
  #dropped = 0

  /** The end and the errors of the stream are its owner's. */
  constructor(stream: Duplex) {
    this.#stream = stream
  }

  /** `head`: what was read of the stream before. */
  listen(onPacket: OnPacket, head: Buffer = Buffer.alloc(0)): void {
    this.#stream.on('data', (chunk: Buffer) => this.#read(chunk, onPacket))
    this.#read(head, onPacket)
  }

  /** Packets that were not sent since the reader is behind. */
  get dropped(): number {
    return this.#dropped
  }

  /** Copies the packet. False when it was dropped. */
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
      // Both ends are ours: this is no packet too long, but the end of the framing.
      if (bytes > maxPacketBytes) return void this.#stream.destroy()
      const end = at + headerBytes + bytes
      if (end > data.length) break
      onPacket(data.readUInt32BE(at), data.subarray(at + headerBytes, end))
      at = end
    }
    this.#rest = at === data.length ? Buffer.alloc(0) : Buffer.from(data.subarray(at))
  }
}
