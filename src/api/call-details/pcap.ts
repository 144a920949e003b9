// SIP messages as a capture file, with the packets as they were on the wire. Format: draft-ietf-opsawg-pcap. Addresses
// and times are those of the journal. Facts that the journal does not keep (handshakes, acknowledgements, link layer)
// are not made up, except for the headers that a packet must have.
import ipaddr from 'ipaddr.js'

export interface CapturedMessage {
  /** Epoch ms. */
  readonly at: number
  /** Whether it was sent over a TCP connection, and not in a datagram. */
  readonly isStream: boolean
  readonly from: Endpoint
  readonly to: Endpoint
  readonly text: string
}

export interface Endpoint {
  readonly address: string
  readonly port: number
}

const snapLength = 65_535
/** LINKTYPE_RAW: each packet begins with its IPv4 or IPv6 header. */
const rawIp = 101

export function toPcap(messages: readonly CapturedMessage[]): Buffer {
  const streams = new Map<string, number>()
  const packets = messages.flatMap((message) => {
    const packet = toPacket(message, streams)
    return [recordHeader(message.at, packet.length), packet]
  })
  return Buffer.concat([fileHeader(), ...packets])
}

function fileHeader(): Buffer {
  const header = Buffer.alloc(24)
  // Microseconds, little-endian.
  header.writeUInt32LE(0xa1b2c3d4, 0)
  header.writeUInt16LE(2, 4)
  header.writeUInt16LE(4, 6)
  header.writeUInt32LE(snapLength, 16)
  header.writeUInt32LE(rawIp, 20)
  return header
}

function recordHeader(at: number, length: number): Buffer {
  const header = Buffer.alloc(16)
  header.writeUInt32LE(Math.floor(at / 1000), 0)
  header.writeUInt32LE((at % 1000) * 1000, 4)
  header.writeUInt32LE(length, 8)
  header.writeUInt32LE(length, 12)
  return header
}

/** Returns a packet. `streams` has the sequence number that each direction of a TCP connection has reached. */
function toPacket(message: CapturedMessage, streams: Map<string, number>): Buffer {
  const { source, target } = addressesOf(message)
  const content = Buffer.from(message.text, 'utf8')
  const segment = message.isStream ? tcpSegment(message, content, streams) : udpDatagram(message, content)
  const protocol = message.isStream ? 6 : 17
  const pseudo = Buffer.concat([source, target, pseudoTail(protocol, segment.length)])
  segment.writeUInt16BE(checksum(pseudo, segment) || 0xffff, protocol === 6 ? 16 : 6)
  const header = source.length === 4 ? ipv4Header : ipv6Header
  return Buffer.concat([header(source, target, protocol, segment.length), segment])
}

/** Returns both in one family: one that is no address, or of the other family, becomes the unspecified one. */
function addressesOf({ from, to }: CapturedMessage): { source: Buffer; target: Buffer } {
  const [source, target] = [octetsOf(from.address), octetsOf(to.address)]
  const length = source?.length ?? target?.length ?? 4
  const unspecified = Buffer.alloc(length)
  return { source: source ?? unspecified, target: target?.length === length ? target : unspecified }
}

function octetsOf(address: string): Buffer | undefined {
  return ipaddr.isValid(address) ? Buffer.from(ipaddr.process(address).toByteArray()) : undefined
}

/** RFC 768. */
function udpDatagram({ from, to }: CapturedMessage, content: Buffer): Buffer {
  const header = Buffer.alloc(8)
  header.writeUInt16BE(from.port, 0)
  header.writeUInt16BE(to.port, 2)
  header.writeUInt16BE(header.length + content.length, 4)
  return Buffer.concat([header, content])
}

/** Returns a segment, RFC 9293 §3.1: PSH and ACK, each direction counting its octets from 1. */
function tcpSegment({ from, to }: CapturedMessage, content: Buffer, streams: Map<string, number>): Buffer {
  const key = (a: Endpoint, b: Endpoint): string => `${a.address} ${a.port} ${b.address} ${b.port}`
  const sequence = streams.get(key(from, to)) ?? 1
  streams.set(key(from, to), sequence + content.length)
  const header = Buffer.alloc(20)
  header.writeUInt16BE(from.port, 0)
  header.writeUInt16BE(to.port, 2)
  header.writeUInt32BE(sequence, 4)
  header.writeUInt32BE(streams.get(key(to, from)) ?? 1, 8)
  header.writeUInt8((header.length / 4) << 4, 12)
  header.writeUInt8(0x18, 13)
  header.writeUInt16BE(0xffff, 14)
  return Buffer.concat([header, content])
}

/** RFC 791 §3.1. */
function ipv4Header(source: Buffer, target: Buffer, protocol: number, length: number): Buffer {
  const header = Buffer.alloc(20)
  header.writeUInt8(0x45, 0)
  header.writeUInt16BE(header.length + length, 2)
  header.writeUInt8(64, 8)
  header.writeUInt8(protocol, 9)
  source.copy(header, 12)
  target.copy(header, 16)
  header.writeUInt16BE(checksum(header), 10)
  return header
}

/** RFC 8200 §3. */
function ipv6Header(source: Buffer, target: Buffer, protocol: number, length: number): Buffer {
  const header = Buffer.alloc(8)
  header.writeUInt8(0x60, 0)
  header.writeUInt16BE(length, 4)
  header.writeUInt8(protocol, 6)
  header.writeUInt8(64, 7)
  return Buffer.concat([header, source, target])
}

/**
 * Returns the end of the pseudo-headers of RFC 9293 §3.1 and RFC 8200 §8.1, after the addresses: zeros change no sum.
 */
function pseudoTail(protocol: number, length: number): Buffer {
  const tail = Buffer.alloc(4)
  tail.writeUInt16BE(length, 0)
  tail.writeUInt16BE(protocol, 2)
  return tail
}

/** RFC 1071, over all the parts. */
function checksum(...parts: readonly Buffer[]): number {
  const bytes = Buffer.concat(parts)
  let sum = 0
  for (let at = 0; at < bytes.length; at += 2) sum += (bytes[at] ?? 0) * 256 + (bytes[at + 1] ?? 0)
  while (sum > 0xffff) sum = (sum & 0xffff) + Math.floor(sum / 0x10000)
  return ~sum & 0xffff
}
