// A request of this side outside a dialog, other than INVITE, and its outcome.
import type { HeaderField, SipResponse } from './message/message.ts'
import type { Remote } from './transport/transports.ts'

export interface OutsideRequest {
  readonly method: 'REGISTER' | 'OPTIONS'
  readonly uri: string
  /** A URI, for From; the tag is added. */
  readonly from: string
  readonly to: string
  /** A fresh one when left out. */
  readonly callId?: string
  /** The last CSeq used before this request; each try increments it. 0 when left out. */
  readonly cseq?: number
  /** Further header fields, with Contact if there is one. */
  readonly headers?: readonly HeaderField[]
  readonly destination: Remote
  readonly credentials?: { readonly username: string; readonly password: string } | undefined
  /** The longest wait for a final response, all tries together. */
  readonly limitMs: number
}

export interface OutsideOutcome {
  /** The stack makes 408 for silence and 503 for a failed network; then `isSilent` is true. */
  readonly response: SipResponse
  readonly isSilent: boolean
  /** The CSeq of the last try. */
  readonly cseq: number
  /** The time from the first request to the final response. */
  readonly delayMs: number
}
