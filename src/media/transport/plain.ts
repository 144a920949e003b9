// Unprotected RTP and RTCP, on two ports or on one.
import type { SocketPair } from './ports.ts'
import { isRtcp } from '../rtp/packet.ts'
import type { Endpoint } from '../rtp/source.ts'
import type { Agreement } from '../sdp/agreement.ts'
import type { PacketListener, PacketTransport } from './transport.ts'

export class PlainTransport implements PacketTransport {
  readonly form = 'plain'
  readonly rejected = undefined
  readonly #sockets: SocketPair
  #hasRtcpMux = false

  constructor(sockets: SocketPair) {
    this.#sockets = sockets
  }

  listen(onRtp: PacketListener, onRtcp: PacketListener): void {
    this.#sockets.listen((datagram, from) => {
      if (this.#hasRtcpMux && isRtcp(datagram)) onRtcp(datagram, from)
      else onRtp(datagram, from)
    }, onRtcp)
  }

  agree({ hasRtcpMux }: Agreement): void {
    this.#hasRtcpMux = hasRtcpMux
  }

  sendRtp(packet: Buffer, bytes: number, to: Endpoint): boolean {
    return this.#sockets.sendRtp(packet, bytes, to)
  }

  sendRtcp(packet: Buffer, to: Endpoint): boolean {
    if (this.#hasRtcpMux) return this.#sockets.sendRtp(packet, packet.length, to)
    return this.#sockets.sendRtcp(packet, to)
  }

  close(): Promise<void> {
    return this.#sockets.close()
  }
}
