// The RTP fixed header: RFC 3550 §5.1.

//  0                   1                   2                   3
//  0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1
// +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
// |V=2|P|X|  CC   |M|     PT      |       sequence number         |
// +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
// |                           timestamp                           |
// +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
// |                              SSRC                             |
// +=+=+=+=+=+=+=+=+=+=+=+=+=+=+=+=+=+=+=+=+=+=+=+=+=+=+=+=+=+=+=+=+
// |                       CSRC (0 to 15 words)                    |
// +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
// | X: defined by profile         | length in words, then extension |
// +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
// |  payload ...      P: last octet counts the padding octets     |
// +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+

export const rtpHeaderBytes = 12

/** No phone sends more speech than an Ethernet frame holds; a larger datagram is no RTP for us. */
export const largestPacketBytes = 1500

export interface RtpHeader {
  readonly marker: boolean
  readonly payloadType: number
  readonly sequence: number
  readonly timestamp: number
  readonly ssrc: number
}

export interface RtpPacket extends RtpHeader {
  /** A view of the datagram, not a copy. */
  readonly payload: Buffer
  /** All of it, where it holds nothing else than a header of 12 octets and the payload: to be sent on with another header. */
  readonly datagram?: Buffer | undefined
}

/** How long the header of an RTP packet of version 2 is, with all that belongs to it; undefined for anything else. */
export function headerBytesOf(datagram: Buffer): number | undefined {
  if (datagram.length < rtpHeaderBytes) return undefined
  const first = datagram.readUInt8(0)
  if (first >> 6 !== 2) return undefined
  const fixed = rtpHeaderBytes + 4 * (first & 0x0f)
  if ((first & 0x10) === 0) return fixed
  return datagram.length < fixed + 4 ? undefined : fixed + 4 + 4 * datagram.readUInt16BE(fixed + 2)
}

/** Undefined for anything that is not a whole RTP packet of version 2. */
export function parseRtp(datagram: Buffer): RtpPacket | undefined {
  const start = headerBytesOf(datagram)
  if (start === undefined || datagram.length > largestPacketBytes) return undefined
  const first = datagram.readUInt8(0)
  let end = datagram.length
  if (first & 0x20) {
    const padding = datagram.readUInt8(end - 1)
    if (padding === 0) return undefined
    end -= padding
  }
  if (end < start) return undefined
  const second = datagram.readUInt8(1)
  return {
    marker: (second & 0x80) !== 0,
    payloadType: second & 0x7f,
    sequence: datagram.readUInt16BE(2),
    timestamp: datagram.readUInt32BE(4),
    ssrc: datagram.readUInt32BE(8),
    payload: datagram.subarray(start, end),
    datagram: start === rtpHeaderBytes && end === datagram.length ? datagram : undefined,
  }
}

/** Writes the header in place: packets are sent 50 times a second per call, so they are not allocated. */
export function writeRtpHeader(packet: Buffer, header: RtpHeader): void {
  packet.writeUInt8(0x80, 0)
  packet.writeUInt8((header.marker ? 0x80 : 0) | header.payloadType, 1)
  packet.writeUInt16BE(header.sequence, 2)
  packet.writeUInt32BE(header.timestamp, 4)
  packet.writeUInt32BE(header.ssrc, 8)
}

/** On a port shared by RTP and RTCP the second octet tells them apart: RFC 5761 §4. */
export function isRtcp(datagram: Buffer): boolean {
  if (datagram.length < 2) return false
  const second = datagram.readUInt8(1)
  return second >= 192 && second <= 223
}

/** How far `to` lies after `from` in modular arithmetic of 32 bits; negative when it lies before. */
export function timestampDistance(from: number, to: number): number {
  return (to - from) | 0
}
