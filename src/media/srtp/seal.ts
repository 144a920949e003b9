// The protection of the packets of one direction under its session keys. It has two forms, counter mode with a tag of
// HMAC-SHA1 (RFC 3711) and AES-GCM (RFC 7714), which differ in the order of the last fields too.
import type { PacketIndex } from './cipher.ts'

/** The octets of an RTCP packet that are never encrypted. */
export const clearRtcpBytes = 8

/** The SRTCP index with the flag of encryption before it. */
export const indexBytes = 4
export const encryptedFlag = 0x8000_0000

/** The octets behind the packet have room for everything that is added. */
export interface Seal {
  /** The length of the fields behind the MKI. */
  readonly bytesBehindMki: number
  /** The octets that are added to an RTP packet, without an MKI. */
  readonly rtpBytes: number
  /** The octets that are added to an RTCP packet, without an MKI. */
  readonly rtcpBytes: number
  /** Encrypts an RTP packet from `start` to `end` in place, and adds its tag. */
  closeRtp(packet: Buffer, start: number, end: number, index: PacketIndex): void
  /** Decrypts a packet that is authentic in place, and returns true. Leaves another one unchanged. */
  openRtp(packet: Buffer, start: number, end: number, index: PacketIndex): boolean
  /** Encrypts an RTCP packet from its ninth octet to `end` in place, and adds index and tag. */
  closeRtcp(packet: Buffer, end: number, index: number): void
  /** Returns the flag of encryption and the index, which are not authentic yet, of a packet of `end` octets. */
  wordOf(packet: Buffer, end: number): number
  openRtcp(packet: Buffer, end: number): boolean
}
