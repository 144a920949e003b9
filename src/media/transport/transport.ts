// The interface of a session's packet transport, with one form for each protection that offer and answer can agree on.
import type { Endpoint, Trust } from '../rtp/source.ts'
import type { Agreement, Protection } from '../sdp/agreement.ts'

export type Form = Protection['form']

/** Receives unprotected RTP or RTCP. */
export type PacketListener = (datagram: Buffer, from: Endpoint) => void

export interface RejectedPackets {
  /** The number of packets that were not authentic. */
  readonly forged: number
  /** The number of packets that were authentic and seen before. */
  readonly replayed: number
}

export interface PacketTransport {
  readonly form: Form
  /** The reason to trust its packets, if it is not the place that they come from. */
  readonly trust?: Trust
  /** Sets the receivers of packets. The session's former transport receives none from then on. */
  listen(onRtp: PacketListener, onRtcp: PacketListener): void
  /** Applies each agreement of this form. The first one comes before anything is sent or received. */
  agree(agreement: Agreement): void
  /** Returns false if the packet was dropped. Its memory may be reused a few packets later, see `RtpSender`. */
  sendRtp(packet: Buffer, bytes: number, to: Endpoint): boolean
  /** Sends a compound packet, on the RTP port if RTP and RTCP share it. */
  sendRtcp(packet: Buffer, to: Endpoint): boolean
  /** The received packets that it dropped; undefined if it drops none. */
  readonly rejected: RejectedPackets | undefined
  /** Gives the sockets up to a transport of another form. */
  leave?(): void
  /** Resolves when its sockets are closed and everything else is freed. */
  close(): Promise<void>
}
