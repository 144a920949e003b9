// RTCP: sender and receiver reports, CNAME and BYE: RFC 3550 §6.4 to §6.6.
import type { ReceptionReport } from './reception.ts'

// Common header, and a sender report (PT 200) with one report block; a receiver report (PT 201) has no sender info:
//  0                   1                   2                   3
//  0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1
// +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
// |V=2|P|   RC    |   PT          |    length in words minus one  |
// +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
// |                         SSRC of sender                        |
// +=+=+=+=+=+=+=+=+=+=+=+=+=+=+=+=+=+=+=+=+=+=+=+=+=+=+=+=+=+=+=+=+
// |              NTP timestamp, seconds since 1900                |
// |              NTP timestamp, fraction                          |
// |                         RTP timestamp                         |
// |                     sender's packet count                     |
// |                      sender's octet count                     |
// +=+=+=+=+=+=+=+=+=+=+=+=+=+=+=+=+=+=+=+=+=+=+=+=+=+=+=+=+=+=+=+=+
// |                   SSRC the block reports on                   |
// | fraction lost |       cumulative number of packets lost       |
// |           extended highest sequence number received           |
// |                      interarrival jitter                      |
// |         last SR (LSR): middle 32 bits of its NTP time         |
// |      delay since last SR (DLSR), in 1/65536 s                 |
// +=+=+=+=+=+=+=+=+=+=+=+=+=+=+=+=+=+=+=+=+=+=+=+=+=+=+=+=+=+=+=+=+

const senderReportType = 200
const receiverReportType = 201
const sourceDescriptionType = 202
const byeType = 203
const cnameItem = 1
// A description or a goodbye of no source has nothing else: RFC 3550 §6.5 and §6.6.
const headerBytes = 4
const blockBytes = 24
const senderInfoBytes = 20
const secondsFrom1900To1970 = 2_208_988_800

export interface SenderInfo {
  readonly epochMs: number
  readonly rtpTimestamp: number
  readonly packets: number
  readonly octets: number
}

export interface ReportBlock extends ReceptionReport {
  /** Zero before the far end's first sender report. */
  readonly lastSenderReport: number
  readonly delaySinceLastSenderReport: number
}

export interface Report {
  readonly ssrc: number
  readonly cname: string
  /** Absent if nothing was sent since the last report. */
  readonly sender: SenderInfo | undefined
  readonly block: ReportBlock | undefined
  readonly isBye: boolean
}

/** Returns the middle 32 bits of the NTP time, in 1/65536 s, which is the unit of LSR. */
export function toShortNtp(epochMs: number): number {
  const seconds = Math.floor(epochMs / 1000) + secondsFrom1900To1970
  const fraction = Math.floor(((epochMs % 1000) / 1000) * 65_536)
  return (((seconds & 0xffff) << 16) | fraction) >>> 0
}

function writeHeader(packet: Buffer, count: number, type: number): void {
  packet.writeUInt8(0x80 | count, 0)
  packet.writeUInt8(type, 1)
  packet.writeUInt16BE(packet.length / 4 - 1, 2)
}

function writeSenderInfo(packet: Buffer, offset: number, sender: SenderInfo): void {
  const seconds = Math.floor(sender.epochMs / 1000) + secondsFrom1900To1970
  packet.writeUInt32BE(seconds >>> 0, offset)
  packet.writeUInt32BE(Math.floor(((sender.epochMs % 1000) / 1000) * 2 ** 32) >>> 0, offset + 4)
  packet.writeUInt32BE(sender.rtpTimestamp, offset + 8)
  packet.writeUInt32BE(sender.packets >>> 0, offset + 12)
  packet.writeUInt32BE(sender.octets >>> 0, offset + 16)
}

function writeBlock(packet: Buffer, offset: number, block: ReportBlock): void {
  packet.writeUInt32BE(block.ssrc, offset)
  packet.writeUInt8(block.fractionLost, offset + 4)
  packet.writeIntBE(block.packetsLost, offset + 5, 3)
  packet.writeUInt32BE(block.highestSequence, offset + 8)
  packet.writeUInt32BE(block.jitter, offset + 12)
  packet.writeUInt32BE(block.lastSenderReport, offset + 16)
  packet.writeUInt32BE(block.delaySinceLastSenderReport, offset + 20)
}

function toReportPacket(report: Report): Buffer {
  const infoBytes = report.sender === undefined ? 0 : senderInfoBytes
  const packet = Buffer.alloc(8 + infoBytes + (report.block === undefined ? 0 : blockBytes))
  const type = report.sender === undefined ? receiverReportType : senderReportType
  writeHeader(packet, report.block === undefined ? 0 : 1, type)
  packet.writeUInt32BE(report.ssrc, 4)
  if (report.sender !== undefined) writeSenderInfo(packet, 8, report.sender)
  if (report.block !== undefined) writeBlock(packet, 8 + infoBytes, report.block)
  return packet
}

/** Returns one chunk with one CNAME item, ended by one to four zero octets: RFC 3550 §6.5. */
function toSourceDescription(ssrc: number, cname: string): Buffer {
  const name = Buffer.from(cname, 'latin1')
  const packet = Buffer.alloc(8 + 4 * Math.ceil((2 + name.length + 1) / 4))
  writeHeader(packet, 1, sourceDescriptionType)
  packet.writeUInt32BE(ssrc, 4)
  packet.writeUInt8(cnameItem, 8)
  packet.writeUInt8(name.length, 9)
  name.copy(packet, 10)
  return packet
}

function toBye(ssrc: number): Buffer {
  const packet = Buffer.alloc(8)
  writeHeader(packet, 1, byeType)
  packet.writeUInt32BE(ssrc, 4)
  return packet
}

/** Returns a compound packet: a report first, then the CNAME, then a BYE if it is the last one (RFC 3550 §6.1). */
export function toCompound(report: Report): Buffer {
  const parts = [toReportPacket(report), toSourceDescription(report.ssrc, report.cname)]
  if (report.isBye) parts.push(toBye(report.ssrc))
  return Buffer.concat(parts)
}

/** The content of a received compound packet. */
export interface HeardReport {
  readonly ssrc: number
  /** The middle 32 bits of the NTP time of a sender report. */
  readonly senderReport: number | undefined
  readonly blocks: readonly ReportBlock[]
  readonly isBye: boolean
}

function parseBlock(packet: Buffer, offset: number): ReportBlock {
  return {
    ssrc: packet.readUInt32BE(offset),
    fractionLost: packet.readUInt8(offset + 4),
    packetsLost: packet.readIntBE(offset + 5, 3),
    highestSequence: packet.readUInt32BE(offset + 8),
    jitter: packet.readUInt32BE(offset + 12),
    lastSenderReport: packet.readUInt32BE(offset + 16),
    delaySinceLastSenderReport: packet.readUInt32BE(offset + 20),
  }
}

function parseReport(packet: Buffer): HeardReport | undefined {
  const isSenderReport = packet.readUInt8(1) === senderReportType
  const blocksAt = 8 + (isSenderReport ? senderInfoBytes : 0)
  const count = packet.readUInt8(0) & 0x1f
  if (packet.length < blocksAt + count * blockBytes) return undefined
  return {
    ssrc: packet.readUInt32BE(4),
    senderReport: isSenderReport ? packet.readUInt32BE(10) : undefined,
    blocks: Array.from({ length: count }, (_, index) => parseBlock(packet, blocksAt + index * blockBytes)),
    isBye: false,
  }
}

/** Returns undefined unless it is a valid compound packet: RFC 3550 appendix A.2. */
export function parseRtcp(datagram: Buffer): HeardReport | undefined {
  let heard: HeardReport | undefined
  let isBye = false
  let offset = 0
  while (offset < datagram.length) {
    if (datagram.length - offset < headerBytes || datagram.readUInt8(offset) >> 6 !== 2) return undefined
    const bytes = 4 * (datagram.readUInt16BE(offset + 2) + 1)
    if (offset + bytes > datagram.length) return undefined
    const packet = datagram.subarray(offset, offset + bytes)
    const type = packet.readUInt8(1)
    if (type === senderReportType || type === receiverReportType) heard ??= parseReport(packet)
    if (offset === 0 && heard === undefined) return undefined
    if (type === byeType) isBye = true
    offset += bytes
  }
  return heard === undefined ? undefined : { ...heard, isBye }
}

/**
 * Returns the round trip of a report block that refers to one of our sender reports (RFC 3550 §6.4.1), otherwise
 * undefined.
 */
export function roundTripMs(block: ReportBlock, nowMs: number): number | undefined {
  if (block.lastSenderReport === 0) return undefined
  const units = (toShortNtp(nowMs) - block.lastSenderReport - block.delaySinceLastSenderReport) | 0
  // Our clock was set back, or the far end reports a wrong delay. The figure is meaningless.
  if (units < 0 || units > 65_536 * 60) return undefined
  return (units * 1000) / 65_536
}
