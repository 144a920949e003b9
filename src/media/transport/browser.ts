// RTP and RTCP of a browser: ICE, DTLS and SRTP are done in a process of their own, and packets come and go as they are.
import type { BrowserGates } from '../browsers/gates.ts'
import type { SocketPair } from '../ports.ts'
import { isRtcp } from '../rtp/packet.ts'
import type { Endpoint } from '../rtp/source.ts'
import type { Agreement } from '../sdp/agreement.ts'
import type { PacketListener, PacketTransport } from './transport.ts'

export class BrowserTransport implements PacketTransport {
  readonly form = 'browser'
  readonly trust = 'handshake'
  // The process of browsers drops it before it comes here.
  readonly rejected = undefined
  readonly #sockets: SocketPair
  readonly #gates: BrowserGates
  #onRtp: PacketListener = () => undefined
  #onRtcp: PacketListener = () => undefined
  #peer: number | undefined
  #send: (packet: Buffer, bytes: number) => boolean = () => false
  /** Where the handshake was made, with the certificate that the SDP names: no packet comes from anywhere else. */
  #from: Endpoint | undefined

  constructor(sockets: SocketPair, gates: BrowserGates) {
    this.#sockets = sockets
    this.#gates = gates
  }

  listen(onRtp: PacketListener, onRtcp: PacketListener): void {
    this.#onRtp = onRtp
    this.#onRtcp = onRtcp
    // What comes there is a stranger's: the far end's packets come by its path alone.
    this.#sockets.listen(
      () => undefined,
      () => undefined,
    )
  }

  agree({ protection, remote }: Agreement): void {
    if (protection.form !== 'browser') return
    this.#from = remote
    if (protection.peer === this.#peer) return
    this.leave()
    this.#peer = protection.peer
    this.#send = this.#gates.enter(protection.gate, protection.peer, (packet) => {
      const from = this.#from
      // The first ones may be here before the word that the handshake is over.
      if (from === undefined) return
      if (isRtcp(packet)) this.#onRtcp(packet, from)
      else this.#onRtp(packet, from)
    })
  }

  sendRtp(packet: Buffer, bytes: number): boolean {
    return this.#send(packet, bytes)
  }

  sendRtcp(packet: Buffer): boolean {
    return this.#send(packet, packet.length)
  }

  leave(): void {
    if (this.#peer !== undefined) this.#gates.leave(this.#peer)
    this.#peer = undefined
  }

  async close(): Promise<void> {
    this.leave()
    await this.#sockets.close()
  }
}
