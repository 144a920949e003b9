// Every way in which a leg can end, in the words of its status hook, its record and the log.
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
  /** The reason why the platform has ended it. */
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

/** Returns the end of a leg whose far end has sent BYE. */
export function hungUpByFarEnd(bye: SipRequest, direction: Direction): LegEnd {
  return {
    change: { ...completed, ...causeOf(bye), headers: byeHeaders(bye) },
    termination_reason: hangUps[direction].farEnd,
    by: 'caller',
  }
}

/** Returns the end by a BYE of the platform, or the stack for a lost dialog. `reason`: if no application chose it. */
export function hungUpByUs(direction: Direction, reason?: string): LegEnd {
  return { change: completed, termination_reason: reason ?? hangUps[direction].ours, by: 'jambonz' }
}

/** Returns the end by a CANCEL of the incoming INVITE. */
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

/** Returns the end by a refusal of the platform or the application before the answer. */
export function refusedByUs(reply: Reply, reason = failed): LegEnd {
  return { change: { call_status: 'failed', ...lineOf(reply) }, termination_reason: reason, by: 'jambonz' }
}

/**
 * The failures whose sentence goes into the record. In these cases neither side has hung up or refused: the media of
 * two devices does not fit, the platform has lost the media, or the far end was not heard.
 */
const codesInRecord: ReadonlySet<string> = new Set<ErrorCode>([
  'media_not_acceptable',
  'media_lost',
  'media_path_lost',
  'sip_unreachable',
  'sip_not_acknowledged',
  'sip_dialog_lost',
])

/** Returns the reason for the record, or undefined where the record says who hung up or refused. */
export function reasonInRecord({ code, sentence }: RefusalFact): string | undefined {
  return codesInRecord.has(code) ? `${failed}: ${sentence}` : undefined
}

/** Returns the log fields of an end. For a failure they include its code, sentence and cure, as in the journal. */
export function toEndLine(
  { call_status, sip_status }: StatusChange,
  refusal: RefusalFact | undefined,
): object {
  return { call_status, sip_status, ...(refusal === undefined ? {} : failureOf(refusal)) }
}

/** Returns the end of an unanswered call that the platform gives up, by refusing the INVITE or cancelling its own. */
export function givenUpByUs(reply: Reply, direction: Direction): LegEnd {
  return {
    change: { call_status: 'no-answer', ...lineOf(reply) },
    termination_reason: direction === 'outbound' ? abandoned : failed,
    by: 'jambonz',
  }
}

/** Returns the end by a final response from 300 on to an INVITE that was sent. */
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

/** Returns the end for an INVITE without a final response of the far end, for which the stack has made one. */
export function neverHeard(response: SipResponse, fact: RefusalFact): LegEnd {
  const { change } = refusedByFarEnd(response)
  const termination_reason = reasonInRecord(fact) ?? failed
  return { change, termination_reason, because: fact.sentence, by: 'jambonz' }
}

/** The call status by the response of a called party that refuses. Any other response is `failed`. */
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
