// SRTCP: the RTCP packets of one direction under one master key (RFC 3711 §3.4). Each packet carries its index, so
// none is guessed. The fields in counter mode; in AES-GCM the tag comes before the index, and the MKI is last
// (RFC 7714 §9):
import { largestPacketBytes } from '../rtp/packet.ts'
import { insertMki, removeMki } from './mki.ts'
import { IndexesBySource } from './packet-indexes.ts'
import { createSeal } from './create-seal.ts'
import { clearRtcpBytes, type Seal } from './seal.ts'
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

const maxSources = 16

class SrtcpDirection {
  protected readonly seal: Seal
  protected readonly mki: Uint8Array | undefined

  constructor(master: MasterKey) {
    this.mki = master.mki
    this.seal = createSeal(master, 'rtcp')
  }
}

export class SrtcpSender extends SrtcpDirection {
  #index = 0

  protect(packet: Buffer): Buffer {
    const index = this.#index
    this.#index += 1
    const { rtcpBytes, bytesBehindMki } = this.seal
    const bytes = packet.length + rtcpBytes
    const sent = Buffer.alloc(bytes + (this.mki?.length ?? 0))
    packet.copy(sent)
    this.seal.closeRtcp(sent, packet.length, index)
    if (this.mki !== undefined) insertMki(sent, bytes, bytesBehindMki, this.mki)
    return sent
  }
}

export class SrtcpReceiver extends SrtcpDirection {
  readonly #sources = new IndexesBySource(maxSources)

  /** Returns the compound packet, decrypted in place if it has no MKI. A rejected packet is left unchanged. */
  unprotect(datagram: Buffer): Buffer | Rejected {
    const { rtcpBytes, bytesBehindMki } = this.seal
    const packet = this.mki === undefined ? datagram : removeMki(datagram, bytesBehindMki, this.mki)
    if (packet === undefined) return 'forged'
    const end = packet.length - rtcpBytes
    if (end < clearRtcpBytes || packet.length > largestPacketBytes) return 'forged'
    const index = this.seal.wordOf(packet, end) & 0x7fff_ffff
    const ssrc = packet.readUInt32BE(4)
    const known = this.#sources.get(ssrc)
    if (known?.has(index) === true) return 'replayed'
    if (!this.seal.openRtcp(packet, end)) return 'forged'
    ;(known ?? this.#sources.add(ssrc)).add(index)
    return packet.subarray(0, end)
  }
}
