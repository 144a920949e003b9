// SRTP: the RTP packets of one direction under one master key (RFC 3711 §3.1 to §3.3). The fields in counter mode; in
// AES-GCM the MKI is last (RFC 7714 §8):
import { headerBytesOf, largestPacketBytes } from '../rtp/packet.ts'
import { insertMki, removeMki } from './mki.ts'
import { IndexesBySource, rolloverOf, type PacketIndexes } from './packet-indexes.ts'
import { createSeal } from './create-seal.ts'
import type { Seal } from './seal.ts'
import type { MasterKey } from './suites.ts'

//  0                   1                   2                   3
//  0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1
// +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
// |  RTP header with CSRC and extension: in the clear             |
// +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
// |  payload and padding: encrypted                               |
// +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
// |  MKI, where the key has one: RFC 4568 §6.1                     |
// +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
// |  tag over all but the MKI, and over the rollover counter      |
// +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+

/** The reason for dropping a packet: it is not authentic, or was seen before. */
export type Rejected = 'forged' | 'replayed'

// A far end that forwards several streams under one key uses only a few sources.
const maxSources = 16
// A first packet below this sequence number may have followed a rollover, if the packets before it were lost.
const soonAfterRollover = 1000

export class SrtpSender {
  readonly #seal: Seal
  readonly #mki: Uint8Array | undefined
  readonly #sources = new IndexesBySource(maxSources)

  constructor(master: MasterKey) {
    this.#mki = master.mki
    this.#seal = createSeal(master, 'rtp')
  }

  /**
   * Writes the protected packet and returns its length. Returns 0 if its index was used before: two payloads under
   * one key stream would reveal both.
   */
  protect(packet: Buffer, bytes: number, to: Buffer): number {
    const start = headerBytesOf(packet)
    if (start === undefined || start > bytes || bytes > largestPacketBytes) return 0
    const ssrc = packet.readUInt32BE(8)
    const known = this.#sources.get(ssrc)
    // Forgetting a source would forget which of its indexes were used.
    if (known === undefined && this.#sources.isFull) return 0
    const indexes = known ?? this.#sources.add(ssrc)
    const lower = packet.readUInt16BE(2)
    const index = indexes.of(lower)
    if (index < 0 || indexes.has(index)) return 0
    indexes.add(index)
    const upper = rolloverOf(index)
    packet.copy(to, 0, 0, bytes)
    this.#seal.closeRtp(to, start, bytes, { ssrc, upper, lower })
    const length = bytes + this.#seal.rtpBytes
    return this.#mki === undefined ? length : insertMki(to, length, this.#seal.bytesBehindMki, this.#mki)
  }
}

export class SrtpReceiver {
  readonly master: MasterKey
  readonly #seal: Seal
  readonly #sources = new IndexesBySource(maxSources)
  #former: SrtpReceiver | undefined

  /**
   * `former` has the key before this one. Some far ends keep its rollover counter, as the RFC demands, and some do
   * not.
   */
  constructor(master: MasterKey, former?: SrtpReceiver) {
    this.master = master
    this.#former = former
    // Otherwise all former keys of a call would be kept as a chain.
    if (former !== undefined) former.#former = undefined
    this.#seal = createSeal(master, 'rtp')
  }

  /** Returns the packet, decrypted in place if it has no MKI. A rejected packet is left unchanged. */
  unprotect(datagram: Buffer): Buffer | Rejected {
    const { mki } = this.master
    const packet = mki === undefined ? datagram : removeMki(datagram, this.#seal.bytesBehindMki, mki)
    if (packet === undefined) return 'forged'
    const bytes = packet.length - this.#seal.rtpBytes
    const start = headerBytesOf(packet)
    if (start === undefined || start > bytes || bytes > largestPacketBytes) return 'forged'
    const ssrc = packet.readUInt32BE(8)
    const lower = packet.readUInt16BE(2)
    const known = this.#sources.get(ssrc)
    const candidates = known === undefined ? this.#firstIndexes(packet) : [known.of(lower)]
    if (candidates.some((one) => known?.has(one) === true)) return 'replayed'
    const index = candidates.find(
      (one) => one >= 0 && this.#seal.openRtp(packet, start, bytes, { ssrc, upper: rolloverOf(one), lower }),
    )
    if (index === undefined) return 'forged'
    ;(known ?? this.#sources.add(ssrc)).add(index)
    return packet.subarray(0, bytes)
  }

  /** Returns the possible indexes of the first packet of a source. */
  #firstIndexes(packet: Buffer): number[] {
    const sequence = packet.readUInt16BE(2)
    const candidates = new Set([sequence])
    if (sequence < soonAfterRollover) candidates.add(sequence + 65_536)
    const former = this.#former?.indexesOf(packet.readUInt32BE(8))?.of(sequence)
    if (former !== undefined && former >= 0) candidates.add(former)
    return [...candidates]
  }

  indexesOf(ssrc: number): PacketIndexes | undefined {
    return this.#sources.get(ssrc)
  }
}
