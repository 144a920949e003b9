// The interface to a library for the paths of browsers: ICE (RFC 8445), DTLS and SRTP (RFC 5764) of one audio stream
// each.
import type { FarSide, OwnSide, PathLoss } from './messages.ts'

/** One far end. Its packets here are plain RTP and RTCP, and come from the place of the handshake. */
export interface Peer {
  /** Available from the start. */
  readonly own: OwnSide
  /** Whether ICE has found a path, over which the handshake is made. */
  readonly hasPath: boolean
  /** Applies the far end's answer to our offer. */
  accept(far: FarSide): void
  /** Sends a packet; dropped while there is no path. */
  send(packet: Buffer): void
  /** Takes a packet that came to the port of the session from a far end without ICE: of the handshake, or after it. */
  receive(packet: Buffer): void
  /** Ends the path. Nothing is reported afterwards. Idempotent. */
  close(): void
}

export interface PeerEvents {
  readonly onConnected: (from: { readonly address: string; readonly port: number }) => void
  /** Called at most once; before `onConnected` if there never was a path. */
  readonly onLost: (loss: PathLoss) => void
  /** Valid only during this call. */
  readonly onPacket: (packet: Buffer) => void
  /** To be sent from the port of the session to a far end without ICE. */
  readonly onReply: (packet: Buffer) => void
}

/** All paths of a process. They share one UDP port. */
export interface Peers {
  readonly port: number
  /** `far` is the far end's side if it made the offer; otherwise we make one. Throws the error of the library. */
  open(far: FarSide | undefined, events: PeerEvents): Peer
  close(): void
}
