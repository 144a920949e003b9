// The journal: the append-only list of the facts of one call, from which all other data about the call is derived.
// Fields have the names of the API, which shows the journal. They are type aliases because storage takes plain records.
import type { AppError } from '../../lib/errors.ts'
import type { CallBatch as StoredBatch, CallStore as Store } from '../../contracts/call-record.ts'
import type { AttemptEndedFact, AttemptFact, BranchAnsweredFact } from './attempt-facts.ts'
import type { CallStatus } from './call-status.ts'
import type { IdentityCheckedFact } from './identity-facts.ts'
import type { QueueFact } from './queue-facts.ts'
import type { RecognitionFact } from './recognition-facts.ts'
import type { RecordingFact, RecordingStartedFact } from './recording-facts.ts'
import type { RoomFact } from './room-facts.ts'
import type { SocketFact } from './socket-facts.ts'
import type { StreamFact } from './stream-facts.ts'
import type { TalkFact } from './talk-facts.ts'

/** The facts that are known when a call begins. Always the first event. */
export type StartedFact = {
  readonly type: 'started'
  readonly call_sid: string
  readonly account_sid: string
  readonly service_provider_sid: string
  readonly direction: 'inbound' | 'outbound'
  readonly from: string
  readonly to: string
  readonly caller_name: string
  /** The caller in the call record: from P-Asserted-Identity, or else From. For outbound calls it has no plus. */
  readonly calling_number: string
  /** The called party in the call record, if it is not `to`. */
  readonly called_number?: string
  readonly sip_call_id: string
  readonly trace_id: string
  /** The address of the platform as the far end sees it. For an outbound call each attempt has one instead. */
  readonly host: string
  readonly local_sip_address: string
  /** Empty for an outbound call, as is `trunk`: its attempts have them. */
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
  /** Whether the account keeps no call records. */
  readonly is_record_disabled: boolean
  /** For a dialled leg: the call that dialled it, that call's Call-ID, and the caller that the called party sees. */
  readonly parent_call_sid?: string
  readonly parent_sip_call_id?: string
  readonly caller_id?: string
}

export type SipFact = {
  readonly type: 'sip'
  readonly direction: 'received' | 'sent'
  /** The method or the status line, such as `INVITE` or `200 OK`, for a ladder diagram. */
  readonly summary: string
  readonly remote: string
  readonly raw: string
  /** Set if the same bytes went the same way before: a retransmission (RFC 3261 §17). */
  readonly is_repeated?: true
}

/** A choice that the platform made, and the rule that made it. */
export type DecisionFact = {
  readonly type: 'decision'
  /** The name of the rule in docs/reference/routing.md. */
  readonly rule: string
  /** The finding of the rule. */
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
  /** The HTTP status. Left out for hooks over WebSocket. */
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
 * The path of the media of two bridged legs. `no-media`: directly from far end to far end. `full-media`: through the
 * platform. `partial-media`: through the platform, in one codec, so that packets can be forwarded unchanged.
 */
export type MediaPathName = 'no-media' | 'partial-media' | 'full-media'

export type MediaFact =
  | {
      readonly type: 'media-open'
      readonly codec: string
      /** The address at which the platform receives the media, as its SDP names it. */
      readonly address: string
      readonly port: number
      /** The address in the SDP of the far end. */
      readonly remote_address?: string
      readonly remote_port?: number
      /** The address that its signalling comes from. */
      readonly sip_address?: string
      /** The crypto suite of its packets. Left out for plain RTP. */
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
      /** Packets from addresses that are not the far end's. */
      readonly packets_ignored: number
      /** Packets of an encrypted stream that were not authentic, and those that were but had been seen before. */
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

/** The application has set the customerData of later payloads with `tag`. */
export type TaggedFact = { readonly type: 'tagged'; readonly data: object }

/** A status change, as reported to status hooks. */
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
 * 180 was sent before the application accepted the call. The ringing is reported to its status hook later, after
 * `trying`, so that statuses in the journal have the order of the notifications.
 */
export type RangFact = { readonly type: 'rang' }

/** The reason why the platform refused the call. */
export type RefusalFact = {
  readonly type: 'refusal'
  readonly code: string
  readonly sentence: string
  readonly cure: string
  readonly sip_status: number
}

/** A failure that the call survived. */
export type ProblemFact = {
  readonly type: 'problem'
  readonly code: string
  readonly sentence: string
  readonly cure: string
}

/** The application has raised an alert for a person. */
export type AlertedFact = { readonly type: 'alerted'; readonly message: string }

export type NoteFact = { readonly type: 'note'; readonly sentence: string }

export type EndedFact = {
  readonly type: 'ended'
  readonly termination_reason: string
  /** The reason, if the platform has ended the leg. */
  readonly because?: string | undefined
}

/**
 * The journal has reached its bound. From here on it has only facts that the record depends on; with `of: words` all
 * facts but `heard`.
 */
export type TruncatedFact = { readonly type: 'truncated'; readonly of?: 'words' }

/** The facts that derived records depend on. They are kept beyond the bound. A call has only a few of them. */
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
  | RecognitionFact
  | StreamFact
  | AlertedFact
  | RecordingFact
  | NoteFact
  | TruncatedFact

/** The `type` of each fact. Tables of all facts have it as their key, so that a new fact does not compile until they name it. */
export type FactName = JournalFact['type']

export type EventBase = {
  /** 1, 2, 3 ... without gaps within a call. */
  readonly seq: number
  /** Epoch ms. */
  readonly at: number
}

export type JournalEvent = JournalFact & EventBase

/** All changes of one step of a call, which a store commits in one transaction. */
export type CallBatch = StoredBatch<JournalEvent>
export type CallStore = Store<JournalEvent, AppError>
