// What offer and answer agreed on, as the side that sends packets needs it.
import type { Encoding } from '../codecs/codecs.ts'
import type { Endpoint } from '../rtp/source.ts'
import type { Receivable } from './far-end-section.ts'

export interface Agreement {
  readonly encoding: Encoding
  /** Undefined: there is no address to send to (hold in the old way, RFC 2543). */
  readonly remote: Endpoint | undefined
  readonly remoteRtcp: Endpoint | undefined
  /** The place in the SDP when it may be neither sent to nor believed. */
  readonly barred?: Endpoint | undefined
  /** The address that the signalling of the leg is exchanged with. */
  readonly peer: string | undefined
  readonly hasRtcpMux: boolean
  /** Payload types of what we send are the far end's choice: RFC 3264 §5.1. */
  readonly send: { readonly audio: number; readonly event: number | undefined; readonly packetMs: number }
  /** Every format that both sides named, in the numbers of either: far ends switch between them, and use their own. */
  readonly receive: Receivable
  readonly maySend: boolean
  readonly mayReceive: boolean
  /** The far end exchanges its stream with another one, past us: nothing is sent, and silence means nothing. */
  readonly isPast?: boolean
}
