// The result of offer and answer, as the sender of packets needs it.
import type { Gate } from '../browsers/messages.ts'
import type { Encoding } from '../codecs/codecs.ts'
import type { Endpoint } from '../rtp/source.ts'
import type { Wishes } from '../codecs/coders.ts'
import { isSameKey, type MasterKey } from '../srtp/suites.ts'
import type { Receivable } from './far-end-section.ts'
import type { EventFormat } from './formats.ts'

/** The protection of packets; its form decides the transport. */
export type Protection =
  | { readonly form: 'plain' }
  | SdesProtection
  /** Over a path of the process of browsers. */
  | {
      readonly form: 'browser'
      readonly peer: number
      readonly gate: Gate
      /** Present for a far end without ICE. */
      readonly betweenPorts?: BetweenPorts
    }

/** Packets go between the ports of the two media lines. */
export interface BetweenPorts {
  /** The place in the SDP; undefined if it may not be sent to, or the SDP names none. */
  readonly to: Endpoint | undefined
  /** The address of signalling, from which packets may come too. */
  readonly peer: string | undefined
}

/** Keys from offer and answer. The two directions never have the same key. */
export interface SdesProtection {
  readonly form: 'sdes'
  readonly send: MasterKey
  readonly receive: MasterKey
}

export interface SendFormat {
  readonly audio: number
  readonly event: EventFormat | undefined
  readonly packetMs: number
  readonly wishes?: Wishes | undefined
}

export interface Agreement {
  readonly encoding: Encoding
  /** Undefined if there is no address to send to (hold in the old way, RFC 2543). */
  readonly remote: Endpoint | undefined
  readonly remoteRtcp: Endpoint | undefined
  /** The place in the SDP if it may be neither sent to nor trusted. */
  readonly barred?: Endpoint | undefined
  /** The address that the signalling of the leg is exchanged with. */
  readonly peer: string | undefined
  readonly hasRtcpMux: boolean
  readonly protection: Protection
  /** The payload types that we send are the far end's choice: RFC 3264 §5.1. */
  readonly send: SendFormat
  /**
   * All formats that both sides named, in the numbers of both: far ends switch between them, and use their own numbers.
   */
  readonly receive: Receivable
  readonly maySend: boolean
  readonly mayReceive: boolean
  /**
   * The addresses of the SDP from which a packet must come before more than a second of packets, or any report, is sent
   * there.
   */
  readonly mustBeHeardAt?: readonly string[]
  /** Whether other calls have used up the seconds of `remote`, so that it gets no more than a packet a second. */
  readonly isThin?: boolean
  /** Whether the far end exchanges its stream with another one, past us. Nothing is sent, and silence is ignored. */
  readonly isPast?: boolean
  /** Whether its keys are detected in the sound. */
  readonly hearsTones?: boolean
}

/** Returns whether the sending key changes. */
export function isRekeyed(former: Protection | undefined, next: Protection): boolean {
  return former?.form === 'sdes' && next.form === 'sdes' && !isSameKey(former.send, next.send)
}
