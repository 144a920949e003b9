// How the packets of one direction are encrypted and authenticated, for RTP and for RTCP.
import type { PacketIndex } from './cipher.ts'

export interface RtpSeal {
  /** The octets that a packet grows by, without an MKI. */
  readonly tagBytes: number
  /** The octets at the end of a packet that stand behind its MKI. */
  readonly bytesBehindMki: number
  /** Encrypts a packet of `bytes` octets in place from `start` on, and writes the tag behind it. */
  seal(packet: Buffer, start: number, bytes: number, index: PacketIndex): void
  /**
   * Decrypts a packet of `bytes` octets and a tag in place from `start` on, if it is authentic. Otherwise returns false
   * and leaves it unchanged.
   */
  open(packet: Buffer, start: number, bytes: number, index: PacketIndex): boolean
}

export interface RtcpSeal {
  readonly bytesBehindMki: number
  /** The octets at the end of a packet that stand behind its index. */
  readonly bytesBehindIndex: number
  /** Returns the encrypted packet. */
  seal(packet: Buffer, index: number): Buffer
  /** Returns the compound packet, decrypted in place if it is encrypted; undefined if it is not authentic. */
  open(packet: Buffer): Buffer | undefined
}
