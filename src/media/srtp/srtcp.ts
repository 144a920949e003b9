// SRTCP: the RTCP packets of one direction under one master key (RFC 3711 §3.4). Each packet carries its index, so
// none is guessed.
import { largestPacketBytes } from '../rtp/packet.ts'
import { Authenticator } from './authenticator.ts'
import { Cipher } from './cipher.ts'
import { insertMki, removeMki } from './mki.ts'
import { IndexesBySource } from './packet-indexes.ts'
import { deriveKeys } from './session-keys.ts'
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

// Also in suites with a shorter tag for RTP: RFC 4568 §6.2.2.
const tagBytes = 10
const clearBytes = 8
const indexBytes = 4
const encryptedFlag = 0x8000_0000
const maxSources = 16

class SrtcpDirection {
  protected readonly cipher: Cipher
  protected readonly authenticator: Authenticator
  protected readonly mki: Uint8Array | undefined

  constructor(master: MasterKey) {
    this.mki = master.mki
    const keys = deriveKeys(master, 'rtcp')
    this.cipher = new Cipher(keys)
    this.authenticator = new Authenticator(keys.authentication, tagBytes)
  }

  protected apply(packet: Buffer, end: number, index: number): void {
    const ssrc = packet.readUInt32BE(4)
    this.cipher.apply(packet, clearBytes, end, { ssrc, upper: index >>> 16, lower: index & 0xffff })
  }
}

export class SrtcpSender extends SrtcpDirection {
  #index = 0

  protect(packet: Buffer): Buffer {
    const index = this.#index
    this.#index += 1
    const end = packet.length + indexBytes
    const sent = Buffer.alloc(end + tagBytes + (this.mki?.length ?? 0))
    packet.copy(sent)
    this.apply(sent, packet.length, index)
    sent.writeUInt32BE((encryptedFlag | index) >>> 0, packet.length)
    this.authenticator.sign(sent, end)
    if (this.mki !== undefined) insertMki(sent, end + tagBytes, tagBytes, this.mki)
    return sent
  }
}

export class SrtcpReceiver extends SrtcpDirection {
  readonly #sources = new IndexesBySource(maxSources)

  /** Returns the compound packet, decrypted in place if it has no MKI. A rejected packet is left unchanged. */
  unprotect(datagram: Buffer): Buffer | Rejected {
    const packet = this.mki === undefined ? datagram : removeMki(datagram, tagBytes, this.mki)
    if (packet === undefined) return 'forged'
    const signed = packet.length - tagBytes
    const end = signed - indexBytes
    if (end < clearBytes || signed > largestPacketBytes) return 'forged'
    const word = packet.readUInt32BE(end)
    const index = word & 0x7fff_ffff
    const ssrc = packet.readUInt32BE(4)
    const known = this.#sources.get(ssrc)
    if (known?.has(index) === true) return 'replayed'
    if (!this.authenticator.verifies(packet, signed)) return 'forged'
    ;(known ?? this.#sources.add(ssrc)).add(index)
    if (word >= encryptedFlag) this.apply(packet, end, index)
    return packet.subarray(0, end)
  }
}
