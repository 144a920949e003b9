// SRTCP: the RTCP packets of one direction under one master key (RFC 3711 §3.4). Each packet carries its index, so
// none is guessed.
import { largestPacketBytes } from '../rtp/packet.ts'
import { insertMki, removeMki } from './mki.ts'
import { IndexesBySource } from './packet-indexes.ts'
import { indexBytes, rtcpClearBytes } from './rtcp-index.ts'
import type { RtcpSeal } from './seal.ts'
import { rtcpSealOf } from './seals.ts'
import type { Rejected } from './srtp.ts'
import type { MasterKey } from './suites.ts'

//  0                   1                   2                   3
//  0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1
// +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
// |  first 8 octets of the compound packet: in the clear          |
// +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
// |  the rest of it: encrypted, where E is set                    |
// +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
// |E|                     SRTCP index                             |
// +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
// |  MKI, where the key has one                                   |
// +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
// |  tag over all but the MKI                                     |
// +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//
// With AES-GCM the tag stands before the index (gcm-seal.ts).

const maxSources = 16

export class SrtcpSender {
  readonly #seal: RtcpSeal
  readonly #mki: Uint8Array | undefined
  #index = 0

  constructor(master: MasterKey) {
    this.#mki = master.mki
    this.#seal = rtcpSealOf(master)
  }

  protect(packet: Buffer): Buffer {
    const index = this.#index
    this.#index += 1
    const sealed = this.#seal.seal(packet, index)
    if (this.#mki === undefined) return sealed
    const sent = Buffer.concat([sealed], sealed.length + this.#mki.length)
    insertMki(sent, sealed.length, this.#seal.bytesBehindMki, this.#mki)
    return sent
  }
}

export class SrtcpReceiver {
  readonly #seal: RtcpSeal
  readonly #mki: Uint8Array | undefined
  readonly #sources = new IndexesBySource(maxSources)

  constructor(master: MasterKey) {
    this.#mki = master.mki
    this.#seal = rtcpSealOf(master)
  }

  /** Returns the compound packet, decrypted in place if it has no MKI. A rejected packet is left unchanged. */
  unprotect(datagram: Buffer): Buffer | Rejected {
    const { bytesBehindMki, bytesBehindIndex } = this.#seal
    const packet = this.#mki === undefined ? datagram : removeMki(datagram, bytesBehindMki, this.#mki)
    if (packet === undefined) return 'forged'
    const signed = packet.length - bytesBehindIndex
    const wordAt = signed - indexBytes
    if (wordAt < rtcpClearBytes || signed > largestPacketBytes) return 'forged'
    const index = packet.readUInt32BE(wordAt) & 0x7fff_ffff
    const ssrc = packet.readUInt32BE(4)
    const known = this.#sources.get(ssrc)
    if (known?.has(index) === true) return 'replayed'
    const compound = this.#seal.open(packet)
    if (compound === undefined) return 'forged'
    ;(known ?? this.#sources.add(ssrc)).add(index)
    return compound
  }
}
