// A request of this side outside a dialog, other than INVITE, and what comes of it.
import type { HeaderField, SipResponse } from './message/message.ts'
import type { Remote } from './transport/transports.ts'

export interface OutsideRequest {
  readonly method: 'REGISTER' | 'OPTIONS'
  readonly uri: string
  /** A URI, for From without its tag. */
  readonly from: string
  readonly to: string
  /** A fresh one when left out. */
  readonly callId?: string
  /** The CSeq before this request; it takes one for each try. 0 when left out. */
  readonly cseq?: number
  /** Contact, where there is one, included. */
  readonly headers?: readonly HeaderField[]
  readonly destination: Remote
  readonly credentials?: { readonly username: string; readonly password: string } | undefined
  /** So long for a final response, all tries together. */
  readonly limitMs: number
}

export interface OutsideOutcome {
  /** 408 for silence and 503 for a network that refuses, made here: then `isSilent`. */
  readonly response: SipResponse
  readonly isSilent: boolean
  /** That of the last try. */
  readonly cseq: number
  /** From the first request to the final response. */
  readonly delayMs: number
}
