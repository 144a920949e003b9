// RTP and RTCP of a browser. A separate process does ICE, DTLS and SRTP; packets to and from it are plain. Packets of
// a far end without ICE come to the ports of the session, go to that process unchanged, and come back decrypted.
import type { BrowserGates } from '../browsers/gates.ts'
import { betweenPorts } from '../browsers/messages.ts'
import type { SocketPair } from './ports.ts'
import { isRtcp } from '../rtp/packet.ts'
import type { Endpoint } from '../rtp/source.ts'
import type { Agreement, BetweenPorts } from '../sdp/agreement.ts'
import type { PacketListener, PacketTransport } from './transport.ts'

export class BrowserTransport implements PacketTransport {
  readonly form = 'browser'
  readonly trust = 'handshake'
  // The process of browsers drops rejected packets itself.
  readonly rejected = undefined
  readonly #sockets: SocketPair
  readonly #gates: BrowserGates
  #onRtp: PacketListener = () => undefined
  #onRtcp: PacketListener = () => undefined
  #peer: number | undefined
  #send: (packet: Buffer, bytes: number) => boolean = () => false
  /** The place where the handshake was made, with the certificate of the SDP. Packets come from no other place. */
  #from: Endpoint | undefined
  #ports: BetweenPorts | undefined
  #isHandshakeOver = false
  #pass: (packet: Buffer, bytes: number) => boolean = () => false

  constructor(sockets: SocketPair, gates: BrowserGates) {
    this.#sockets = sockets
    this.#gates = gates
  }

  listen(onRtp: PacketListener, onRtcp: PacketListener): void {
    this.#onRtp = onRtp
    this.#onRtcp = onRtcp
    this.#sockets.listen(
      (datagram, from) => this.#takeAtPort(datagram, from),
      () => undefined,
    )
  }

  agree({ protection, remote }: Agreement): void {
    if (protection.form !== 'browser') return
    const { betweenPorts: ports } = protection
    if (ports === undefined) this.#from = remote
    else if (ports.to !== undefined && !isSame(ports.to, this.#ports?.to)) this.#from = ports.to
    this.#ports = ports
    this.#isHandshakeOver = remote !== undefined
    if (protection.peer === this.#peer) return
    this.leave()
    this.#peer = protection.peer
    if (ports !== undefined)
      this.#pass = this.#gates.enter(protection.gate, protection.peer + betweenPorts, (packet) => {
        if (this.#from !== undefined) this.#sockets.sendRtp(packet, packet.length, this.#from)
      })
    this.#send = this.#gates.enter(protection.gate, protection.peer, (packet) => {
      const from = this.#from
      // The first packets may arrive before the message that the handshake is complete.
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
    if (this.#peer === undefined) return
    this.#gates.leave(this.#peer)
    this.#gates.leave(this.#peer + betweenPorts)
    this.#peer = undefined
  }

  async close(): Promise<void> {
    this.leave()
    await this.#sockets.close()
  }

  /**
   * Takes a datagram at the ports of the session. With ICE it is a stranger's: the far end's packets come only over
   * the path.
   */
  #takeAtPort(datagram: Buffer, from: Endpoint): void {
    const ports = this.#ports
    const kind = kindOf(datagram)
    if (ports === undefined || kind === undefined) return
    if (from.address !== ports.to?.address && from.address !== ports.peer) return
    // Behind NAT the far end has another port than its SDP names. A complete handshake has proven its place.
    if (!this.#isHandshakeOver && kind === 'handshake') this.#from = from
    this.#pass(datagram, datagram.length)
  }
}

/** Returns the kind of a datagram by its first octet: RFC 7983 §7. Undefined if it is neither. */
function kindOf(datagram: Buffer): 'handshake' | 'srtp' | undefined {
  const first = datagram.length === 0 ? 0 : datagram.readUInt8(0)
  if (first >= 20 && first <= 63) return 'handshake'
  return first >= 128 && first <= 191 ? 'srtp' : undefined
}

function isSame(a: Endpoint, b: Endpoint | undefined): boolean {
  return a.address === b?.address && a.port === b.port
}
