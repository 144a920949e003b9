// What offer and answer agreed on, as the side that sends packets needs it.
import type { Gate } from '../browsers/messages.ts'
import type { Encoding } from '../codecs/codecs.ts'
import type { Endpoint } from '../rtp/source.ts'
import type { Wishes } from '../codecs/coders.ts'
import { isSameKey } from '../srtp/suites.ts'
import type { MasterKey } from '../srtp/suites.ts'
import type { Receivable } from './far-end-section.ts'
import type { EventFormat } from './formats.ts'

/** How packets are protected; its form says by which transport they travel. */
export type Protection =
  | { readonly form: 'plain' }
  | SdesProtection
  /** By a path of the process of browsers. */
  | {
      readonly form: 'browser'
      readonly peer: number
      readonly gate: Gate
      /** Of a far end without ICE. */
      readonly betweenPorts?: BetweenPorts
    }

/** Packets go between the ports of the two media lines. */
export interface BetweenPorts {
  /** As the SDP names it; undefined where it may not be sent to, or says none. */
  readonly to: Endpoint | undefined
  /** The address of the signalling, from which they may come as well. */
  readonly peer: string | undefined
}

/** By keys in offer and answer. Those of the two directions are never the same. */
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
  /** Undefined: there is no address to send to (hold in the old way, RFC 2543). */
  readonly remote: Endpoint | undefined
  readonly remoteRtcp: Endpoint | undefined
  /** The place in the SDP when it may be neither sent to nor believed. */
  readonly barred?: Endpoint | undefined
  /** The address that the signalling of the leg is exchanged with. */
  readonly peer: string | undefined
  readonly hasRtcpMux: boolean
  readonly protection: Protection
  /** Payload types of what we send are the far end's choice: RFC 3264 §5.1. */
  readonly send: SendFormat
  /** Every format that both sides named, in the numbers of either: far ends switch between them, and use their own. */
  readonly receive: Receivable
  readonly maySend: boolean
  readonly mayReceive: boolean
  /** The far end exchanges its stream with another one, past us: nothing is sent, and silence means nothing. */
  readonly isPast?: boolean
  /** Its keys are listened for in the sound. */
  readonly hearsTones?: boolean
}

/** Whether what is sent is protected by another key from now on. */
export function isRekeyed(former: Protection | undefined, next: Protection): boolean {
  return former?.form === 'sdes' && next.form === 'sdes' && !isSameKey(former.send, next.send)
}
