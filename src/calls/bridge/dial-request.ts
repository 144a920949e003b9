// What a dial asks for, and what comes of it.
import type { StreamPlan } from '../abilities/stream-request.ts'
import type { HookForm } from '../application/hook-form.ts'
import type { Target } from '../outbound/target.ts'
import type { CallStatus } from '../journal/call-status.ts'
import type { RefusalFact } from '../journal/journal.ts'

export interface DialTarget {
  readonly to: Target
  readonly headers: Readonly<Record<string, unknown>>
  readonly fromUser?: string
  readonly fromHost?: string
  /** Asked about this target, instead of that of the dial. */
  readonly confirmHook?: HookForm
}

export interface DialRequest {
  /** They ring together; the first to answer, and to be confirmed, is bridged. */
  readonly targets: readonly DialTarget[]
  /** The caller is answered only when it is bridged. */
  readonly answersOnBridge: boolean
  /** Who is said to call; otherwise the caller. */
  readonly callerId?: string
  readonly callerName?: string
  readonly headers: Readonly<Record<string, unknown>>
  readonly ringMs: number
  /** How long the two may talk. */
  readonly maxTalkMs?: number
  /** The verbs that it answers run on the leg that was dialled: it is bridged when it is still up afterwards. */
  readonly confirmHook?: HookForm
  /** Heard by the caller while it rings, again and again. */
  readonly music?: string
  readonly capture: { readonly parent: readonly string[]; readonly child: readonly string[] }
  readonly captureHook?: HookForm
  /** Asked where a REFER of either side may lead. */
  readonly referHook?: HookForm
  /** Its verbs are heard by one side while the other has it on hold. */
  readonly holdHook?: HookForm
  /** Whether what the carrier asserts of the caller is passed on. */
  readonly forwardsIdentity: boolean
  /** The customerData of the legs that are dialled. */
  readonly tag?: object
  /** How much louder the called side hears everything. */
  readonly boostDb?: number
  /** An audio server that hears the two while they talk; of the called side, or of the caller. */
  readonly stream?: { readonly plan: StreamPlan; readonly isOfCalled: boolean }
  /** Verbs `dub` that run on the called side when it is bridged. */
  readonly dubs: readonly object[]
  /** `exits`: the two send their sound to each other, where they can, unless it is to stay with the platform. */
  readonly mediaPath: { readonly isAnchored: boolean; readonly exits: boolean }
  readonly signal: AbortSignal
}

export interface DialOutcome {
  /** It names the leg that was bridged, or else the last one that failed. */
  readonly call_sid: string
  readonly call_status: CallStatus
  readonly sip_status: number
  readonly sip_reason: string
  readonly sip_call_id: string
  /** Where the platform itself ended that leg, or could not make it. */
  readonly refusal?: RefusalFact | undefined
}
