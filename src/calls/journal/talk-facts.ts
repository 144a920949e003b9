// The facts of a call with several legs: the entries about another leg in the journal of each.
import type { CallStatus } from './call-status.ts'

/** Another leg is dialled for this one. */
type DialledFact = { readonly type: 'dialled'; readonly call_sid: string; readonly to: string }

/** A leg that was dialled for this one has ended. */
export type DialEndedFact = {
  readonly type: 'dial-ended'
  readonly call_sid: string
  readonly to: string
  readonly call_status: CallStatus
  readonly sip_status: number
  readonly sip_reason: string
  /** The reason why the platform refused to make the leg, or gave it up. Without one `sentence` says who ended it. */
  readonly code?: string
  readonly sentence: string
  readonly cure?: string
}

/** One of two bridged legs, and its far end as the call names it. Such facts are in the journals of both. */
type OneOfTwo = { readonly call_sid: string; readonly party: string }

/** The far ends of two legs hear each other. `party`: the far end of the other leg. */
type BridgedFact = { readonly type: 'bridged'; readonly with: string; readonly party: string }

type UnbridgedFact = { readonly type: 'unbridged'; readonly with: string; readonly because: string }

/** The far end of this leg, one of two bridged legs, was muted or unmuted. In both journals. */
type MutedFact = OneOfTwo & { readonly type: 'muted' | 'unmuted' }

/** The far end of this leg, in a bridge or the verb listen, is whispered to. In both journals of a bridge. */
type WhisperedFact = OneOfTwo & { readonly type: 'whispered' }

/** The far end of this leg, one of two bridged legs, has put the other on hold, or resumed. In both journals. */
type HeldFact = OneOfTwo & { readonly type: 'held' | 'resumed' }

/** The far end of this leg has requested a transfer of the other one (REFER). In both journals. */
type TransferAskedFact = OneOfTwo & { readonly type: 'transfer-asked'; readonly refer_to: string }

/** The transfer that the far end of this leg requested was refused. In both journals. */
export type TransferRefusedFact = OneOfTwo & {
  readonly type: 'transfer-refused'
  readonly refer_to: string
  readonly sip_status: number
  readonly code?: string
  readonly sentence: string
  readonly cure?: string
}

/** The source of the sound that the far end of this leg hears while the other has it on hold. In both journals. */
type HoldSoundFact = OneOfTwo & {
  readonly type: 'hold-sound'
  readonly source: 'onHoldHook' | 'onHoldMusic'
}

/** The facts about another leg in the journal of a leg. */
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
