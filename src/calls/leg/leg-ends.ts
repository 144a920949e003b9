// Every way a leg can end, in the words of its status hook, its record and the log.
import type { ErrorCode } from '../../lib/errors.ts'
import { reasonPhraseOf } from '../../sip/message/reason-phrases.ts'
import type { SipMessage, SipRequest, SipResponse } from '../../sip/message/message.ts'
import type { Reply } from '../../sip/sip.ts'
import { byeHeaders } from './bye-headers.ts'
import type { CallStatus } from '../journal/call-status.ts'
import type { RefusalFact, StartedFact } from '../journal/journal.ts'
import { failureOf } from '../journal/projection.ts'
import { reasonHeaderOf } from './reason-header.ts'
import type { StatusChange } from './status-reporter.ts'

type Direction = StartedFact['direction']

export interface LegEnd {
  readonly change: StatusChange
  readonly termination_reason: string
  /** What the platform has ended it for. */
  readonly because?: string | undefined
  /** `caller` is the far end, whichever side called. */
  readonly by: 'caller' | 'jambonz'
}

/** In records the caller is the side that sent the INVITE. */
const hangUps = {
  inbound: { farEnd: 'caller hungup', ours: 'called party hungup' },
  outbound: { farEnd: 'called party hungup', ours: 'caller hungup' },
} as const
const abandoned = 'caller abandoned'
const failed = 'failed'

const completed = { call_status: 'completed', sip_status: 200, sip_reason: reasonPhraseOf(200) } as const

/** The far end has sent BYE. */
export function hungUpByFarEnd(bye: SipRequest, direction: Direction): LegEnd {
  return {
    change: { ...completed, ...causeOf(bye), headers: byeHeaders(bye) },
    termination_reason: hangUps[direction].farEnd,
    by: 'caller',
  }
}

/** The platform sends BYE, or the stack does when the dialog is lost. `reason` is for ends that no application chose. */
export function hungUpByUs(direction: Direction, reason?: string): LegEnd {
  return { change: completed, termination_reason: reason ?? hangUps[direction].ours, by: 'jambonz' }
}

/** A CANCEL of the INVITE that came. */
export function cancelledByCaller(cancel: SipRequest): LegEnd {
  return {
    change: {
      call_status: 'no-answer',
      sip_status: 487,
      sip_reason: reasonPhraseOf(487),
      ...causeOf(cancel),
    },
    termination_reason: abandoned,
    by: 'caller',
  }
}

/** The platform or the application turns the call away before the answer. */
export function refusedByUs(reply: Reply, reason = failed): LegEnd {
  return { change: { call_status: 'failed', ...lineOf(reply) }, termination_reason: reason, by: 'jambonz' }
}

/**
 * Media that does not fit is between two devices, media that is lost is the platform's, and a far end that is not heard has
 * said nothing: neither side has hung up or refused, and the record says what has happened.
 */
const codesInRecord: ReadonlySet<string> = new Set<ErrorCode>([
  'media_not_acceptable',
  'media_lost',
  'media_path_lost',
  'sip_unreachable',
  'sip_not_acknowledged',
  'sip_dialog_lost',
])

/** Undefined where the record says who hung up or refused. */
export function reasonInRecord({ code, sentence }: RefusalFact): string | undefined {
  return codesInRecord.has(code) ? `${failed}: ${sentence}` : undefined
}

/** What the log says of an end; of a failure its code, its sentence and its cure, as the journal has them. */
export function toEndLine(
  { call_status, sip_status }: StatusChange,
  refusal: RefusalFact | undefined,
): object {
  return { call_status, sip_status, ...(refusal === undefined ? {} : failureOf(refusal)) }
}

/** The platform gives an unanswered call up: refuses the INVITE that came, cancels the one it sent. */
export function givenUpByUs(reply: Reply, direction: Direction): LegEnd {
  return {
    change: { call_status: 'no-answer', ...lineOf(reply) },
    termination_reason: direction === 'outbound' ? abandoned : failed,
    by: 'jambonz',
  }
}

/** The final response to an INVITE that was sent, from 300 on. */
export function refusedByFarEnd(response: SipResponse): LegEnd {
  const { status, reason } = response
  return {
    change: {
      call_status: finalStatuses.get(status) ?? 'failed',
      sip_status: status,
      sip_reason: reason,
      ...causeOf(response),
    },
    termination_reason: status === 487 ? abandoned : failed,
    by: 'caller',
  }
}

/** The stack has made the final response to an INVITE that was sent, since the far end gave none. */
export function neverHeard(response: SipResponse, fact: RefusalFact): LegEnd {
  const { change } = refusedByFarEnd(response)
  const termination_reason = reasonInRecord(fact) ?? failed
  return { change, termination_reason, because: fact.sentence, by: 'jambonz' }
}

/** The final status of a called party that refuses. Any other response is `failed`. */
const finalStatuses: ReadonlyMap<number, CallStatus> = new Map([
  [486, 'busy'],
  [487, 'no-answer'],
  [600, 'busy'],
  [603, 'busy'],
])

function lineOf(reply: Reply): Pick<StatusChange, 'sip_status' | 'sip_reason'> {
  return { sip_status: reply.status, sip_reason: reply.reason ?? reasonPhraseOf(reply.status) }
}

function causeOf(message: SipMessage): Pick<StatusChange, 'sip_reason_header'> {
  const header = reasonHeaderOf(message)
  return header === undefined ? {} : { sip_reason_header: header }
}
