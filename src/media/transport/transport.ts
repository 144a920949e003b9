// How the packets of one session travel: a small port, with one form for each way that offer and answer can agree on.
import type { Endpoint, Trust } from '../rtp/source.ts'
import type { Agreement, Protection } from '../sdp/agreement.ts'

export type Form = Protection['form']

/** Takes RTP or RTCP as it is without any protection. */
export type PacketListener = (datagram: Buffer, from: Endpoint) => void

export interface RejectedPackets {
  /** Not authentic. */
  readonly forged: number
  /** Authentic, and seen before. */
  readonly replayed: number
}

export interface PacketTransport {
  readonly form: Form
  /** Why its packets are believed, where that is not for the place that they come from. */
  readonly trust?: Trust
  /** From now on this one takes what comes; the former transport of the session does no longer. */
  listen(onRtp: PacketListener, onRtcp: PacketListener): void
  /** What each offer and answer of this form has agreed on, the first before anything is sent or taken. */
  agree(agreement: Agreement): void
  /** False when the packet was dropped. Its memory may be used again a few packets later, see `RtpSender`. */
  sendRtp(packet: Buffer, bytes: number, to: Endpoint): boolean
  /** A compound packet, on the port of RTP where the two share it. */
  sendRtcp(packet: Buffer, to: Endpoint): boolean
  /** What it dropped of what came; undefined where it takes all. */
  readonly rejected: RejectedPackets | undefined
  /** Another form takes its place, on the same sockets. */
  leave?(): void
  /** Resolves when all that it stands on is free again. */
  close(): Promise<void>
}
