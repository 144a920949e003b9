// RTP and RTCP of a browser: ICE, DTLS and SRTP are done in a process of their own, and packets come and go as they are. Those
// of a far end without ICE take the ports of the session: they go through that process as they came, and come back in clear.
import type { BrowserGates } from '../browsers/gates.ts'
import { betweenPorts } from '../browsers/messages.ts'
import type { SocketPair } from '../ports.ts'
import { isRtcp } from '../rtp/packet.ts'
import type { Endpoint } from '../rtp/source.ts'
import type { Agreement, BetweenPorts } from '../sdp/agreement.ts'
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
    if (this.#peer === undefined) return
    this.#gates.leave(this.#peer)
    this.#gates.leave(this.#peer + betweenPorts)
    this.#peer = undefined
  }

  async close(): Promise<void> {
    this.leave()
    await this.#sockets.close()
  }

  /** Where there is ICE, what comes there is a stranger's: the far end's packets come by its path alone. */
  #takeAtPort(datagram: Buffer, from: Endpoint): void {
    const ports = this.#ports
    const kind = kindOf(datagram)
    if (ports === undefined || kind === undefined) return
    if (from.address !== ports.to?.address && from.address !== ports.peer) return
    // Behind NAT it has another port than its SDP names. A handshake that is over has proven where it is.
    if (!this.#isHandshakeOver && kind === 'handshake') this.#from = from
    this.#pass(datagram, datagram.length)
  }
}

/** By the first octet: RFC 7983 §7. Undefined for what is neither. */
function kindOf(datagram: Buffer): 'handshake' | 'srtp' | undefined {
  const first = datagram.length === 0 ? 0 : datagram.readUInt8(0)
  if (first >= 20 && first <= 63) return 'handshake'
  return first >= 128 && first <= 191 ? 'srtp' : undefined
}

function isSame(a: Endpoint, b: Endpoint | undefined): boolean {
  return a.address === b?.address && a.port === b.port
}
