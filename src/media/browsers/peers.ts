// What is needed of a library for the paths of browsers: ICE (RFC 8445), DTLS and SRTP (RFC 5764) of one audio stream each.
import type { FarSide, OwnSide, PathLoss } from './messages.ts'

/** One far end. Its packets are RTP and RTCP without any protection, and come from where the handshake was made. */
export interface Peer {
  /** Known from the beginning. */
  readonly own: OwnSide
  /** Whether ICE has found a way, over which the handshake is made. */
  readonly hasPath: boolean
  /** What the far end has answered to our offer. */
  accept(far: FarSide): void
  /** Dropped while there is no path. */
  send(packet: Buffer): void
  /** A packet of the handshake, or after it, that came to the port of the session: of a far end without ICE. */
  receive(packet: Buffer): void
  /** Nothing is reported afterwards. Idempotent. */
  close(): void
}

export interface PeerEvents {
  readonly onConnected: (from: { readonly address: string; readonly port: number }) => void
  /** At most once; before `onConnected` when there never was a path. */
  readonly onLost: (loss: PathLoss) => void
  /** Valid in this call only. */
  readonly onPacket: (packet: Buffer) => void
  /** To be sent from the port of the session, to a far end without ICE. */
  readonly onReply: (packet: Buffer) => void
}

/** All paths of a process, which share one UDP port. */
export interface Peers {
  readonly port: number
  /** `far`: it has made the offer; we make one otherwise. Throws what the library refuses with. */
  open(far: FarSide | undefined, events: PeerEvents): Peer
  close(): void
}
