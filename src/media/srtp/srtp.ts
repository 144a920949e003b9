// SRTP: the RTP packets of one direction under one master key (RFC 3711 §3.1 to §3.3).
import { headerBytesOf, largestPacketBytes } from '../rtp/packet.ts'
import { Authenticator } from './authenticator.ts'
import { Cipher } from './cipher.ts'
import { insertMki, removeMki } from './mki.ts'
import { IndexesBySource, rolloverOf } from './packet-indexes.ts'
import type { PacketIndexes } from './packet-indexes.ts'
import { deriveKeys } from './session-keys.ts'
import { suites } from './suites.ts'
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
  readonly #cipher: Cipher
  readonly #authenticator: Authenticator
  readonly #tagBytes: number
  readonly #mki: Uint8Array | undefined
  readonly #sources = new IndexesBySource(maxSources)

  constructor(master: MasterKey) {
    this.#mki = master.mki
    const keys = deriveKeys(master, 'rtp')
    this.#cipher = new Cipher(keys)
    this.#tagBytes = suites[master.suite].tagBytes
    this.#authenticator = new Authenticator(keys.authentication, this.#tagBytes)
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
    this.#cipher.apply(to, start, bytes, { ssrc, upper, lower })
    this.#authenticator.sign(to, bytes, upper)
    const length = bytes + this.#tagBytes
    return this.#mki === undefined ? length : insertMki(to, length, this.#tagBytes, this.#mki)
  }
}

export class SrtpReceiver {
  readonly master: MasterKey
  readonly #cipher: Cipher
  readonly #authenticator: Authenticator
  readonly #tagBytes: number
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
    const keys = deriveKeys(master, 'rtp')
    this.#cipher = new Cipher(keys)
    this.#tagBytes = suites[master.suite].tagBytes
    this.#authenticator = new Authenticator(keys.authentication, this.#tagBytes)
  }

  /** Returns the packet, decrypted in place if it has no MKI. A rejected packet is left unchanged. */
  unprotect(datagram: Buffer): Buffer | Rejected {
    const { mki } = this.master
    const packet = mki === undefined ? datagram : removeMki(datagram, this.#tagBytes, mki)
    if (packet === undefined) return 'forged'
    const bytes = packet.length - this.#tagBytes
    const start = headerBytesOf(packet)
    if (start === undefined || start > bytes || bytes > largestPacketBytes) return 'forged'
    const ssrc = packet.readUInt32BE(8)
    const lower = packet.readUInt16BE(2)
    const known = this.#sources.get(ssrc)
    const index = known === undefined ? this.#firstIndex(packet, bytes) : known.of(lower)
    if (index === undefined || index < 0) return 'forged'
    if (known?.has(index) === true) return 'replayed'
    const upper = rolloverOf(index)
    if (known !== undefined && !this.#authenticator.verifies(packet, bytes, upper)) return 'forged'
    ;(known ?? this.#sources.add(ssrc)).add(index)
    this.#cipher.apply(packet, start, bytes, { ssrc, upper, lower })
    return packet.subarray(0, bytes)
  }

  /** Returns, for the first packet of a source, the possible index under which it is authentic. */
  #firstIndex(packet: Buffer, bytes: number): number | undefined {
    const sequence = packet.readUInt16BE(2)
    const candidates = new Set([sequence])
    if (sequence < soonAfterRollover) candidates.add(sequence + 65_536)
    const former = this.#former?.indexesOf(packet.readUInt32BE(8))?.of(sequence)
    if (former !== undefined && former >= 0) candidates.add(former)
    return [...candidates].find((index) => this.#authenticator.verifies(packet, bytes, rolloverOf(index)))
  }

  indexesOf(ssrc: number): PacketIndexes | undefined {
    return this.#sources.get(ssrc)
  }
}
