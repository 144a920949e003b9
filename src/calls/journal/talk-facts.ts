// Facts of a call that has more than one leg: what the journal of each says of the other.
import type { CallStatus } from './call-status.ts'

/** Another leg is called for this one. */
type DialledFact = { readonly type: 'dialled'; readonly call_sid: string; readonly to: string }

/** A leg that was called for this one has ended. */
export type DialEndedFact = {
  readonly type: 'dial-ended'
  readonly call_sid: string
  readonly to: string
  readonly call_status: CallStatus
  readonly sip_status: number
  readonly sip_reason: string
  /** Why the platform refused to make the leg, or gave it up; without a code the sentence says who ended it. */
  readonly code?: string
  readonly sentence: string
  readonly cure?: string
}

/** A leg, and the far end of it as the call names that: what both journals of two that are bridged say of one of them. */
type OneOfTwo = { readonly call_sid: string; readonly party: string }

/** The far ends of two legs hear each other. `party`: who is at the far end of the other one. */
type BridgedFact = { readonly type: 'bridged'; readonly with: string; readonly party: string }

type UnbridgedFact = { readonly type: 'unbridged'; readonly with: string; readonly because: string }

/** The far end of this leg, of the two that are bridged, is no longer heard, or is heard again. Both journals say so. */
type MutedFact = OneOfTwo & { readonly type: 'muted' | 'unmuted' }

/** The far end of this leg is whispered to, of a bridge or of the verb listen. Both journals of a bridge say so. */
type WhisperedFact = OneOfTwo & { readonly type: 'whispered' }

/** The far end of this leg, of the two that are bridged, has put the other one on hold, or hears it again. Both journals say so. */
type HeldFact = OneOfTwo & { readonly type: 'held' | 'resumed' }

/** The far end of this leg has asked that the other one be sent elsewhere (REFER). Both journals say so. */
type TransferAskedFact = OneOfTwo & { readonly type: 'transfer-asked'; readonly refer_to: string }

/** What the far end of this leg has asked for does not happen. Both journals say so. */
export type TransferRefusedFact = OneOfTwo & {
  readonly type: 'transfer-refused'
  readonly refer_to: string
  readonly sip_status: number
  readonly code?: string
  readonly sentence: string
  readonly cure?: string
}

/** What the far end of this leg hears from now on while the other one has it on hold. Both journals say so. */
type HoldSoundFact = OneOfTwo & {
  readonly type: 'hold-sound'
  readonly source: 'onHoldHook' | 'onHoldMusic'
}

/** What the journal of a leg says of another one. */
export type TalkFact =
  | DialledFact
  | DialEndedFact
  | BridgedFact
  | UnbridgedFact
  | MutedFact
  | WhisperedFact
  | HeldFact
  | TransferAskedFact
  | TransferRefusedFact
  | HoldSoundFact
