// The request and the outcome of a dial.
import type { StreamPlan } from './stream-request.ts'
import type { MachineDetection } from './machine-detection.ts'
import type { TalkTranscription } from './recognition.ts'
import type { HookForm } from './hook-form.ts'
import type { Target } from './target.ts'
import type { HeaderField } from '../../sip/message/message.ts'
import type { CallStatus } from '../journal/call-status.ts'
import type { RefusalFact } from '../journal/journal.ts'

export interface DialTarget {
  readonly to: Target
  readonly headers: Readonly<Record<string, unknown>>
  readonly fromUser?: string | undefined
  readonly fromHost?: string | undefined
  /** Replaces the confirmHook of the dial for this target. */
  readonly confirmHook?: HookForm | undefined
}

export interface DialRequest {
  /** The targets, which ring at the same time. The first to answer, and to be confirmed, is bridged. */
  readonly targets: readonly DialTarget[]
  /** Whether the caller is answered only when it is bridged. */
  readonly answersOnBridge: boolean
  /** The calling number that the targets see. Left out: that of the caller. */
  readonly callerId?: string | undefined
  readonly callerName?: string | undefined
  readonly headers: Readonly<Record<string, unknown>>
  readonly ringMs: number
  /** The longest time that the two may talk. */
  readonly maxTalkMs?: number
  /** The hook whose verbs run on the dialled leg. The leg is bridged if it is still up afterwards. */
  readonly confirmHook?: HookForm | undefined
  /** The audio that the caller hears repeatedly while the targets ring. */
  readonly music?: string | undefined
  readonly capture: { readonly parent: readonly string[]; readonly child: readonly string[] }
  readonly captureHook?: HookForm | undefined
  /** Decides where a REFER of either side may lead. */
  readonly referHook?: HookForm | undefined
  /** The hook whose verbs one side hears while the other has it on hold. */
  readonly holdHook?: HookForm | undefined
  /** Whether the carrier's assertions about the caller are passed on. */
  readonly forwardsIdentity: boolean
  /** The customerData of the dialled legs. */
  readonly tag?: object | undefined
  /** The gain of everything that the called side hears. */
  readonly boostDb?: number
  /** An audio server that receives audio while the two talk: of the called side, or of the caller. */
  readonly stream?: { readonly plan: StreamPlan; readonly isOfCalled: boolean }
  /** Their words go to a hook while the two talk. */
  readonly transcription?: TalkTranscription
  /** Whether a machine has answered, of each leg that answers. */
  readonly machineDetection?: MachineDetection
  /** Verbs `dub` that run on the called side when it is bridged. */
  readonly dubs: readonly object[]
  /** `exits`: the two exchange media directly where possible. `isAnchored`: media must stay with the platform. */
  readonly mediaPath: { readonly isAnchored: boolean; readonly exits: boolean }
  readonly signal: AbortSignal
}

export interface DialOutcome {
  /** The leg that was bridged, or else the last one that failed. */
  readonly call_sid: string
  readonly call_status: CallStatus
  readonly sip_status: number
  readonly sip_reason: string
  readonly sip_call_id: string
  /** Set if the platform itself ended that leg, or could not make it. */
  readonly refusal?: RefusalFact | undefined
}

/** The failure of a dial, in the form in which the caller gets it. */
export interface DialFailure {
  readonly status: number
  readonly reason?: string
  /** The Reason fields. */
  readonly reasons: readonly HeaderField[]
  /** Set if the platform itself ended the called leg, or could not make it. */
  readonly refusal?: RefusalFact | undefined
}
