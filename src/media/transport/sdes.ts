// SRTP and SRTCP with keys from offer and answer (RFC 4568), on two ports or on one. Packets that are not authentic,
// or were seen before, are dropped and counted.
import type { SocketPair } from './ports.ts'
import { isRtcp, largestPacketBytes } from '../rtp/packet.ts'
import type { Endpoint } from '../rtp/source.ts'
import { ringPackets } from '../rtp/sender.ts'
import type { Agreement } from '../sdp/agreement.ts'
import { SrtcpReceiver, SrtcpSender } from '../srtp/srtcp.ts'
import { SrtpReceiver, SrtpSender, type Rejected } from '../srtp/srtp.ts'
import { isSameKey, type MasterKey } from '../srtp/suites.ts'
import type { PacketListener, PacketTransport, RejectedPackets } from './transport.ts'

// The longest packet plus the octets that protection adds.
const slotBytes = largestPacketBytes + 32

/** The receivers for one key of the far end. */
class Receiving {
  readonly master: MasterKey
  readonly rtp: SrtpReceiver
  readonly rtcp: SrtcpReceiver

  constructor(master: MasterKey, former: Receiving | undefined) {
    this.master = master
    this.rtp = new SrtpReceiver(master, former?.rtp)
    this.rtcp = new SrtcpReceiver(master)
  }
}

interface SendingKeys {
  readonly master: MasterKey
  readonly rtp: SrtpSender
  readonly rtcp: SrtcpSender
}

export class SdesTransport implements PacketTransport {
  readonly form = 'sdes'
  readonly #sockets: SocketPair
  #hasRtcpMux = false
  #sending: SendingKeys | undefined
  #receiving: Receiving | undefined
  /** The receivers for the former key, which the far end may use until it has used the next one. */
  #former: Receiving | undefined
  readonly #ring = Array.from({ length: ringPackets }, () => Buffer.alloc(slotBytes))
  #sent = 0
  readonly #rejected = { forged: 0, replayed: 0 }

  constructor(sockets: SocketPair) {
    this.#sockets = sockets
  }

  get rejected(): RejectedPackets {
    return { ...this.#rejected }
  }

  listen(onRtp: PacketListener, onRtcp: PacketListener): void {
    const takeRtcp: PacketListener = (datagram, from) => {
      const packet = this.#unprotect('rtcp', datagram)
      if (packet !== undefined) onRtcp(packet, from)
    }
    this.#sockets.listen((datagram, from) => {
      if (this.#hasRtcpMux && isRtcp(datagram)) return takeRtcp(datagram, from)
      const packet = this.#unprotect('rtp', datagram)
      if (packet !== undefined) onRtp(packet, from)
    }, takeRtcp)
  }

  agree({ hasRtcpMux, protection }: Agreement): void {
    this.#hasRtcpMux = hasRtcpMux
    if (protection.form !== 'sdes') return
    const { send, receive } = protection
    // A key that stays in use keeps its sender, since no index may be used twice.
    if (this.#sending === undefined || !isSameKey(this.#sending.master, send))
      this.#sending = { master: send, rtp: new SrtpSender(send), rtcp: new SrtcpSender(send) }
    const receiving = this.#receiving
    if (receiving !== undefined && isSameKey(receiving.master, receive)) return
    this.#receiving = new Receiving(receive, receiving)
    this.#former = receiving
  }

  sendRtp(packet: Buffer, bytes: number, to: Endpoint): boolean {
    const slot = this.#ring[this.#sent % ringPackets]
    if (slot === undefined || this.#sending === undefined) return false
    const length = this.#sending.rtp.protect(packet, bytes, slot)
    if (length === 0) return false
    this.#sent += 1
    return this.#sockets.sendRtp(slot, length, to)
  }

  sendRtcp(packet: Buffer, to: Endpoint): boolean {
    if (this.#sending === undefined) return false
    const sent = this.#sending.rtcp.protect(packet)
    return this.#hasRtcpMux ? this.#sockets.sendRtp(sent, sent.length, to) : this.#sockets.sendRtcp(sent, to)
  }

  close(): Promise<void> {
    return this.#sockets.close()
  }

  #unprotect(kind: 'rtp' | 'rtcp', datagram: Buffer): Buffer | undefined {
    const receiving = this.#receiving
    // Phones also send STUN here to keep a NAT open. It is not a packet of the stream.
    if (receiving === undefined || !isVersion2(datagram)) return undefined
    const packet = receiving[kind].unprotect(datagram)
    if (typeof packet !== 'string') {
      this.#former = undefined
      return packet
    }
    // A rejected packet is unchanged, so it can be tried under the former key.
    const former = packet === 'forged' ? this.#former?.[kind].unprotect(datagram) : undefined
    if (former !== undefined && typeof former !== 'string') return former
    this.#count(former ?? packet)
    return undefined
  }

  #count(why: Rejected): void {
    this.#rejected[why] += 1
  }
}

/** Returns whether the datagram has the version bits of RTP and RTCP. */
function isVersion2(datagram: Buffer): boolean {
  return datagram.length > 0 && datagram.readUInt8(0) >> 6 === 2
}
