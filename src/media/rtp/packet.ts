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

/** A speech packet always fits an Ethernet frame. A larger datagram is not treated as RTP. */
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
  /** The whole datagram, if it is only a header of 12 octets and the payload. It can be sent on with another header. */
  readonly datagram?: Buffer | undefined
}

/** Returns the length of the header of an RTP packet of version 2, extension included; undefined for anything else. */
export function headerBytesOf(datagram: Buffer): number | undefined {
  if (datagram.length < rtpHeaderBytes) return undefined
  const first = datagram.readUInt8(0)
  if (first >> 6 !== 2) return undefined
  const fixed = rtpHeaderBytes + 4 * (first & 0x0f)
  if ((first & 0x10) === 0) return fixed
  return datagram.length < fixed + 4 ? undefined : fixed + 4 + 4 * datagram.readUInt16BE(fixed + 2)
}

/** Returns undefined for anything that is not a complete RTP packet of version 2. */
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

/** Writes the header in place: packets are sent 50 times a second per call, so none is allocated. */
export function writeRtpHeader(packet: Buffer, header: RtpHeader): void {
  packet.writeUInt8(0x80, 0)
  packet.writeUInt8((header.marker ? 0x80 : 0) | header.payloadType, 1)
  packet.writeUInt16BE(header.sequence, 2)
  packet.writeUInt32BE(header.timestamp, 4)
  packet.writeUInt32BE(header.ssrc, 8)
}

/** Returns whether a datagram on a port shared by RTP and RTCP is RTCP, by its second octet: RFC 5761 §4. */
export function isRtcp(datagram: Buffer): boolean {
  if (datagram.length < 2) return false
  const second = datagram.readUInt8(1)
  return second >= 192 && second <= 223
}

/** Returns the distance from `from` to `to` in 32-bit modular arithmetic; negative if `to` is earlier. */
export function timestampDistance(from: number, to: number): number {
  return (to - from) | 0
}
