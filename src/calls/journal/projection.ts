// The data derived from the journal of a call: the live record, the facts for hook payloads, the call record.
// The functions are pure: the same events give the same results, in the running call and after a restart.
import { isFinal, type CallStatus } from './call-status.ts'
import type { LiveCall } from './live-call.ts'
import type { AttemptEndedFact, AttemptFact, AttemptPlaces, BranchAnsweredFact } from './attempt-facts.ts'
import type { EndedFact, EventBase, JournalEvent, RefusalFact, StartedFact, StatusFact } from './journal.ts'
import type { IdentityFinding } from '../../contracts/number-trust.ts'
import type { StoredEvent } from '../../contracts/journal.ts'
import type { CallAttempt, CallFailure, RecentCall } from '../../contracts/call-record.ts'

/** The state that a journal adds up to so far. */
export interface CallFacts {
  readonly started: StartedFact
  /** The last attempt of an outbound call. */
  readonly attempt?: AttemptFact & { readonly at: number }
  /** The outcomes of the attempts that are over. */
  readonly attempts?: readonly CallAttempt[]
  /** Whether the last attempt is not over. */
  readonly isTrying?: boolean
  /** The time at which it rang first. */
  readonly rang_at?: number
  readonly application_sid?: string
  readonly customerData?: object
  readonly call_status: CallStatus
  readonly sip_status: number
  readonly sip_reason: string
  /** The last change that was due to a status hook. */
  readonly change?: StatusFact
  readonly answered_at?: number
  readonly terminated_at?: number
  readonly duration?: number
  readonly termination_reason?: string
  readonly ended_because?: string
  /** The path of its recording, once there is one. */
  readonly recording_url?: string
  /** The queue in which it waits. */
  readonly queue?: { readonly name: string; readonly since: number } | undefined
  /** The finding about its Identity header, if it has one. */
  readonly identity?: IdentityFinding
  /** The reason why the platform has refused the call. */
  readonly refusal?: RefusalFact
  /** Why no sound comes, or goes. */
  readonly media_failure?: CallFailure | undefined
}

/** Returns the state at the beginning of a call: trying, since its INVITE was answered with 100. */
export function factsOf(started: StartedFact): CallFacts {
  return { started, call_status: 'trying', sip_status: 100, sip_reason: 'Trying' }
}

/** Returns the state after an event, or the same object if the event changes nothing. */
export function reduce(facts: CallFacts, event: JournalEvent): CallFacts {
  if (event.type === 'status') return reduceStatus(facts, event)
  if (event.type === 'rang') return { ...facts, ...ringing, rang_at: facts.rang_at ?? event.at }
  if (event.type === 'attempt') return { ...facts, attempt: event, isTrying: true }
  if (event.type === 'attempt-ended') return reduceAttempt(facts, event)
  if (event.type === 'branch-answered' && facts.attempt !== undefined)
    return { ...facts, attempt: { ...facts.attempt, ...placesOf(event) } }
  if (event.type === 'identity-checked') return { ...facts, identity: withoutEvent(event) }
  if (event.type === 'application') return { ...facts, application_sid: event.application_sid }
  if (event.type === 'tagged') return { ...facts, customerData: event.data }
  if (event.type === 'refusal') return { ...facts, refusal: event }
  if (event.type === 'recording-started') return { ...facts, recording_url: event.recording_url }
  if (event.type === 'queued') return { ...facts, queue: { name: event.queue, since: event.at } }
  if (event.type === 'unqueued') return { ...facts, queue: undefined }
  if (event.type === 'problem' && mediaCodes.has(event.code))
    return { ...facts, media_failure: facts.media_failure ?? failureOf(event) }
  if (event.type === 'media-first-packet' && facts.media_failure?.code === notReceived)
    return { ...facts, media_failure: undefined }
  if (event.type === 'ended') return reduceEnded(facts, event)
  return facts
}

const notReceived = 'no_media_received'
const mediaCodes: ReadonlySet<string> = new Set([notReceived, 'no_media_delivered'])

const ringing = { call_status: 'ringing', sip_status: 180, sip_reason: 'Ringing' } as const

function reduceStatus(facts: CallFacts, event: StatusFact & { readonly at: number }): CallFacts {
  const { call_status, sip_status, sip_reason } = event
  const next: CallFacts = { ...facts, call_status, sip_status, sip_reason, change: event }
  if (call_status === 'ringing') return { ...next, rang_at: facts.rang_at ?? event.at }
  if (call_status === 'in-progress') return { ...next, answered_at: event.at }
  if (!isFinal(call_status)) return next
  return { ...next, terminated_at: event.at, duration: event.duration ?? 0 }
}

/** The most attempts in a record. No dial plan leads to more while a caller still waits. */
const maxAttempts = 50

function reduceAttempt(facts: CallFacts, ended: AttemptEndedFact & EventBase): CallFacts {
  const attempts = [...(facts.attempts ?? []), withoutEvent(ended)]
  return { ...facts, isTrying: false, attempts: attempts.slice(0, maxAttempts) }
}

function withoutEvent<F extends EventBase & { readonly type: string }>(
  event: F,
): Omit<F, keyof EventBase | 'type'> {
  const { type: _type, seq: _seq, at: _at, ...facts } = event
  return facts
}

/** Returns the attempts that are over, and one that the end of the leg has cut off. */
function attemptsOf({
  attempts = [],
  attempt,
  isTrying = false,
  rang_at,
}: CallFacts): RecentCall['attempts'] {
  if (attempt === undefined || !isTrying) return attempts.length === 0 ? null : attempts
  const { trunk, place, sip_gateway_sid, remote_host, at } = attempt
  const hasRung = rang_at !== undefined && rang_at >= at
  return [
    ...attempts,
    {
      trunk,
      place,
      ...(sip_gateway_sid === undefined ? {} : { sip_gateway_sid }),
      remote_host,
      outcome: 'withdrawn',
      cause: hasRung ? 'the call was given up while it rang' : 'the call was given up before it rang',
      ...(hasRung ? { post_dial_delay_ms: rang_at - at } : {}),
    },
  ]
}

function reduceEnded(facts: CallFacts, { termination_reason, because }: EndedFact): CallFacts {
  return { ...facts, termination_reason, ...(because === undefined ? {} : { ended_because: because }) }
}

// Results are cached because calls are listed more often than they change.
const liveCalls = new WeakMap<CallFacts, LiveCall>()

/** Returns the live record: the same object for the same facts. */
export function toLiveCall(facts: CallFacts): LiveCall {
  const known = liveCalls.get(facts)
  if (known !== undefined) return known
  const made = makeLiveCall(facts)
  liveCalls.set(facts, made)
  return made
}

function makeLiveCall(facts: CallFacts): LiveCall {
  const { started } = facts
  const { call_termination_by } = facts.change ?? {}
  const address = localSipAddressOf(facts)
  return {
    account_sid: started.account_sid,
    service_provider_sid: started.service_provider_sid,
    ...(facts.application_sid === undefined ? {} : { application_sid: facts.application_sid }),
    call_id: started.sip_call_id,
    sbc_callid: started.sip_call_id,
    call_sid: started.call_sid,
    call_status: facts.call_status,
    direction: started.direction,
    from: started.from,
    to: started.to,
    caller_name: started.caller_name,
    service_url: started.service_url,
    sip_status: facts.sip_status,
    sip_reason: facts.sip_reason,
    ...(facts.call_status === 'completed' ? { duration: facts.duration ?? 0 } : {}),
    ...originOf(started),
    ...parentOf(started),
    ...(call_termination_by === undefined ? {} : { call_termination_by }),
    trace_id: started.trace_id,
    ...(facts.customerData === undefined ? {} : { customerData: facts.customerData }),
    ...(facts.recording_url === undefined ? {} : { recording_url: facts.recording_url }),
    local_sip_address: address,
    fs_sip_address: address,
  }
}

/** Returns the address of the platform as the far end sees it. For an outbound call that is the last place tried. */
export function localSipAddressOf({ started, attempt }: CallFacts): string {
  return attempt?.local_sip_address ?? started.local_sip_address
}

/** Returns the origin of an inbound call. */
export function originOf({
  originating_sip_ip,
  originating_sip_trunk_name,
}: StartedFact): Pick<StartedFact, 'originating_sip_ip' | 'originating_sip_trunk_name'> {
  return {
    ...(originating_sip_ip === undefined ? {} : { originating_sip_ip }),
    ...(originating_sip_trunk_name === undefined ? {} : { originating_sip_trunk_name }),
  }
}

/** Returns the call that dialled a leg, and the caller that the called party sees. */
export function parentOf({ parent_call_sid, caller_id }: StartedFact): {
  readonly parent_call_sid?: string
  readonly caller_id?: string
} {
  return {
    ...(parent_call_sid === undefined ? {} : { parent_call_sid }),
    ...(caller_id === undefined ? {} : { caller_id }),
  }
}

function placesOf({ remote_host, host, local_sip_address }: BranchAnsweredFact): AttemptPlaces {
  return { remote_host, host, local_sip_address }
}

/** Returns the call record of a leg that has ended. */
export function toRecentCall(facts: CallFacts): RecentCall {
  const { started, attempt } = facts
  const isAnswered = facts.answered_at !== undefined
  return {
    account_sid: started.account_sid,
    service_provider_sid: started.service_provider_sid,
    application_sid: facts.application_sid ?? null,
    call_sid: started.call_sid,
    sip_call_id: started.sip_call_id,
    sip_parent_call_id: started.parent_sip_call_id ?? null,
    parent_call_sid: started.parent_call_sid ?? null,
    from: started.calling_number,
    to: started.called_number ?? started.to,
    direction: started.direction,
    answered: isAnswered,
    sip_status: isAnswered ? 200 : facts.sip_status,
    duration: isAnswered ? (facts.duration ?? 0) : 0,
    attempted_at: attempt?.at ?? started.attempted_at,
    answered_at: facts.answered_at ?? null,
    terminated_at: facts.terminated_at ?? started.attempted_at,
    termination_reason: facts.termination_reason ?? 'failed',
    host: attempt?.host ?? started.host,
    remote_host: attempt?.remote_host ?? started.remote_host,
    trunk: attempt?.trunk ?? started.trunk,
    trace_id: started.trace_id,
    recording_url: facts.recording_url ?? null,
    attempts: attemptsOf(facts),
    stir_shaken: facts.identity ?? null,
    failure: facts.refusal === undefined ? null : failureOf(facts.refusal),
    media_failure: facts.media_failure ?? null,
  }
}

/** Returns why the platform refused or ended a call, in the form that the record, the status hook and the log share. */
export function failureOf({ code, sentence, cure }: CallFailure): CallFailure {
  return { code, sentence, cure }
}

/** Returns the state of a stored journal, or undefined if its first event is missing. Unknown events change nothing. */
export function replay(events: readonly StoredEvent[]): CallFacts | undefined {
  let facts: CallFacts | undefined
  for (const event of events) {
    // Only this program writes journals, so their events are not checked again.
    const own = event as unknown as JournalEvent
    if (own.type === 'started') facts ??= factsOf(own)
    else if (facts !== undefined) facts = reduce(facts, own)
  }
  return facts
}
