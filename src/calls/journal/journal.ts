// The journal: the append-only story of one call, from which everything else that is said of it is derived.
// Facts are wire names: the journal is read through the API. Aliases, not interfaces: storage takes them as plain records.
import type { CallBatch as StoredBatch, CallStore as Store } from '../../contracts/call-record.ts'
import type { AttemptEndedFact, AttemptFact, BranchAnsweredFact } from './attempt-facts.ts'
import type { CallStatus } from './call-status.ts'
import type { IdentityCheckedFact } from './identity-facts.ts'
import type { QueueFact } from './queue-facts.ts'
import type { RecordingFact, RecordingStartedFact } from './recording-facts.ts'
import type { RoomFact } from './room-facts.ts'
import type { SocketFact } from './socket-facts.ts'
import type { StreamFact } from './stream-facts.ts'
import type { TalkFact } from './talk-facts.ts'

/** What is known of a call when it begins: always the first event. */
export type StartedFact = {
  readonly type: 'started'
  readonly call_sid: string
  readonly account_sid: string
  readonly service_provider_sid: string
  readonly direction: 'inbound' | 'outbound'
  readonly from: string
  readonly to: string
  readonly caller_name: string
  /** The caller in the call record: P-Asserted-Identity before From. Outbound calls have it without its plus. */
  readonly calling_number: string
  /** The called party in the call record, where that is not `to`. */
  readonly called_number?: string
  readonly sip_call_id: string
  readonly trace_id: string
  /** The address of the platform as the far end sees it. An outbound call has one for each of its attempts instead. */
  readonly host: string
  readonly local_sip_address: string
  /** For an outbound call this and `trunk` are empty: its attempts have them. */
  readonly remote_host: string
  readonly originating_sip_ip?: string
  /** The carrier that the call came from. */
  readonly originating_sip_trunk_name?: string
  /** The FQDN of the Microsoft Teams tenant that the call came from. */
  readonly ms_teams_tenant?: string
  readonly trunk: string
  readonly service_url: string
  /** Epoch ms. */
  readonly attempted_at: number
  /** The account keeps no call records. */
  readonly is_record_disabled: boolean
  /** Of a leg that a call dialled: that call, the Call-ID of its leg, and the caller that this one is shown. */
  readonly parent_call_sid?: string
  readonly parent_sip_call_id?: string
  readonly caller_id?: string
}

export type SipFact = {
  readonly type: 'sip'
  readonly direction: 'received' | 'sent'
  /** `INVITE` or `200 OK`, for a ladder. */
  readonly summary: string
  readonly remote: string
  readonly raw: string
}

/** A choice that the platform made, and the rule that made it. */
export type DecisionFact = {
  readonly type: 'decision'
  /** The name of the rule in docs/reference/routing.md. */
  readonly rule: string
  /** What the rule found. */
  readonly sentence: string
  readonly outcome: string
  readonly code?: string
}

export type ApplicationFact = { readonly type: 'application'; readonly application_sid: string }

export type HookKind =
  | 'call'
  | 'action'
  | 'redirect'
  | 'confirm'
  | 'dtmf'
  | 'refer'
  | 'event'
  | 'hold'
  | 'wait'
  | 'enter'
  | 'adulting'

export type HookAskedFact = {
  readonly type: 'hook-asked'
  readonly hook: HookKind
  readonly method: string
  readonly url: string
}

export type HookAnsweredFact = {
  readonly type: 'hook-answered'
  readonly hook: HookKind
  readonly url: string
  /** Over HTTP. */
  readonly status?: number
  readonly duration_ms: number
  readonly attempts: number
  readonly verbs: readonly string[]
}

export type HookFailedFact = {
  readonly type: 'hook-failed'
  readonly hook: HookKind
  readonly url: string
  /** The HTTP status, when the server responded. */
  readonly status?: number
  readonly duration_ms: number
  readonly code: string
  readonly sentence: string
  readonly cure: string
}

export type VerbOutcome = 'done' | 'stopped' | 'skipped' | 'failed'

export type VerbStartedFact = { readonly type: 'verb-started'; readonly verb: string; readonly id?: string }

export type VerbEndedFact = {
  readonly type: 'verb-ended'
  readonly verb: string
  readonly id?: string
  readonly outcome: VerbOutcome
  readonly duration_ms: number
}

/**
 * Which way the sound of two that are bridged takes. `no-media`: from far end to far end. `full-media`: through the platform.
 * `partial-media`: likewise, in one codec, so that packets can be passed on as they come.
 */
export type MediaPathName = 'no-media' | 'partial-media' | 'full-media'

export type MediaFact =
  | {
      readonly type: 'media-open'
      readonly codec: string
      /** Where the platform receives the media. */
      readonly address: string
      readonly port: number
      /** Where the SDP of the far end wants its media. */
      readonly remote_address?: string
      readonly remote_port?: number
      /** Where its signalling comes from. */
      readonly sip_address?: string
      /** What its packets are encrypted and authenticated with; without it they are plain RTP. */
      readonly encryption?: string
    }
  | {
      readonly type: 'media-first-packet' | 'media-moved'
      readonly address: string
      readonly port: number
      readonly trust: string
      readonly because: string
    }
  | {
      readonly type: 'media-ignored'
      readonly address: string
      readonly port: number
      readonly because: string
    }
  | { readonly type: 'media-forged'; readonly packets: number; readonly because: string }
  | { readonly type: 'media-held' | 'media-resumed' }
  | { readonly type: 'media-path'; readonly path: MediaPathName; readonly because: string }
  | {
      readonly type: 'media-timeout'
      readonly silent_ms: number
      readonly cause: 'silent' | 'held' | 'gone'
      readonly because: string
    }
  | {
      readonly type: 'media-closed'
      readonly codec: string
      readonly packets_sent: number
      readonly packets_received: number
      readonly packets_lost: number
      /** From places that are not the far end's. */
      readonly packets_ignored: number
      /** Of an encrypted stream: not authentic, and authentic but seen before. */
      readonly packets_forged?: number
      readonly packets_replayed?: number
      readonly jitter_ms: number
      readonly remote_packets_lost?: number
      readonly remote_jitter_ms?: number
      readonly round_trip_ms?: number
    }

export type DigitFact = {
  readonly type: 'digit'
  readonly digit: string
  readonly duration_ms: number
  readonly source: 'rtp' | 'info' | 'tone'
}

/** `tag` of the application: the customerData of later payloads. */
export type TaggedFact = { readonly type: 'tagged'; readonly data: object }

/** A status change, as status hooks report it. */
export type StatusFact = {
  readonly type: 'status'
  readonly call_status: CallStatus
  readonly sip_status: number
  readonly sip_reason: string
  readonly sip_reason_header?: string
  readonly call_termination_by?: 'caller' | 'jambonz'
  /** Whole seconds since the answer, by the monotonic clock; only with `completed`. */
  readonly duration?: number
  /** The headers of the far end's BYE, their names in snake case. */
  readonly headers?: Readonly<Record<string, string>>
}

/**
 * 180 was sent before the application took the call. Its status hook hears of it once there is one, after `trying`: the order of the
 * statuses in the journal is that of the notifications.
 */
export type RangFact = { readonly type: 'rang' }

/** Why the platform refused the call. */
export type RefusalFact = {
  readonly type: 'refusal'
  readonly code: string
  readonly sentence: string
  readonly cure: string
  readonly sip_status: number
}

/** Something went wrong and the call went on. */
export type ProblemFact = {
  readonly type: 'problem'
  readonly code: string
  readonly sentence: string
  readonly cure: string
}

/** The application lets a person know of something. */
export type AlertedFact = { readonly type: 'alerted'; readonly message: string }

export type NoteFact = { readonly type: 'note'; readonly sentence: string }

export type EndedFact = {
  readonly type: 'ended'
  readonly termination_reason: string
  /** Of a leg that the platform has ended: what for. */
  readonly because?: string | undefined
}

/** The journal has reached its bound: from here on it has only what the record depends on. */
export type TruncatedFact = { readonly type: 'truncated' }

/** Facts the derived records depend on: kept beyond the bound. There are few of them in any call. */
export type EssentialFact =
  | StartedFact
  | AttemptFact
  | BranchAnsweredFact
  | IdentityCheckedFact
  | ApplicationFact
  | TaggedFact
  | StatusFact
  | RangFact
  | RefusalFact
  | RecordingStartedFact
  | EndedFact

export type JournalFact =
  | EssentialFact
  | SipFact
  | AttemptEndedFact
  | DecisionFact
  | HookAskedFact
  | HookAnsweredFact
  | HookFailedFact
  | VerbStartedFact
  | VerbEndedFact
  | MediaFact
  | DigitFact
  | ProblemFact
  | TalkFact
  | QueueFact
  | RoomFact
  | SocketFact
  | StreamFact
  | AlertedFact
  | RecordingFact
  | NoteFact
  | TruncatedFact

export type EventBase = {
  /** 1, 2, 3 ... without gaps within a call. */
  readonly seq: number
  /** Epoch ms. */
  readonly at: number
}

export type JournalEvent = JournalFact & EventBase

/** Everything that one step of a call changes: what a store commits in one transaction. */
export type CallBatch = StoredBatch<JournalEvent>
export type CallStore = Store<JournalEvent>
