// Refusals by the stack itself: a status and a sentence in X-Reason, which never has a line break from a request field.
import { entryOf, type ErrorCode } from '../lib/errors.ts'
import { quoted } from './message/list.ts'
import { headerOf, type HeaderField, type SipRequest } from './message/message.ts'
import { tagOf } from './message/name-addr.ts'
import type { Reply } from './message/reply.ts'

// Longer text belongs in the journal, not in a header that must fit a datagram with all the others.
const maxValueChars = 256

// Some readers of headers, logs for one, take the separators of Unicode as the end of a line.
const controls = /[\p{Cc}\p{Zl}\p{Zp}]/gu

/** Returns the text made safe as a header value: on one line, without control characters, bounded. */
export function cleanHeaderValue(text: string): string {
  return text.slice(0, maxValueChars).replaceAll(controls, ' ').trim()
}

/**
 * The code and sentence of refusals that have none of their own. Challenges need none, nor does 487, which the caller
 * requested.
 */
const said: Readonly<Record<number, readonly [code: ErrorCode, sentence: string]>> = {
  400: ['bad_request', 'The request cannot be read'],
  405: ['sip_method_not_allowed', 'The method is not served: Allow lists those that are'],
  408: ['sip_ring_limit', 'The call was not answered in the time that it may ring'],
  413: ['too_large', 'The request is too large'],
  415: ['body_not_supported', 'The body is of a type that is not read: Accept lists those that are'],
  416: ['uri_not_supported', 'URIs of this scheme are not served'],
  420: ['extension_not_supported', 'An extension is required that is not supported: Unsupported names it'],
  480: ['sip_not_acknowledged', 'The call ended before its answer was complete'],
  481: ['sip_call_unknown', 'No such call is here: it has ended, or was never here'],
  482: ['sip_request_merged', 'The request arrived by two paths'],
  488: ['media_not_acceptable', 'The offer has no media that can be used here'],
  489: ['sip_event_not_served', 'This event package is not supported'],
  491: ['sip_offer_pending', 'Another offer of this call waits for its answer'],
  500: ['sip_out_of_order', 'The request is out of order, or came while another was open'],
  501: ['sip_method_unknown', 'The method is not known'],
  503: ['overloaded', 'There is no room for another request now'],
  504: ['sip_not_acknowledged', 'No PRACK came for the provisional response before the answer'],
  505: ['sip_version', 'Only SIP/2.0 is supported'],
  513: ['too_large', 'The request is too large'],
}

/** Adds X-Reason and its code to a refusal that the stack makes by itself without them. */
export function withReason(reply: Reply): Reply {
  const { status, reason, headers = [] } = reply
  const row = said[status]
  if (row === undefined || headers.some(({ name }) => name === 'x-reason')) return reply
  const [code, sentence] = row
  const { headers: why = [] } = refusal(code, reason ?? sentence, { status })
  return { ...reply, headers: [...headers, ...why] }
}

/** Returns the refusal after a failure here, whose cause is only in the log. */
export function failure(): Reply {
  return refusal('internal', 'The request could not be handled')
}

/** Returns the header with the catalogue's code, for programs: the sentence beside it is for people and may change. */
export function codeHeader(code: string): HeaderField {
  return { name: 'x-reason-code', value: code }
}

/** Returns the Reason (RFC 3326) of a BYE or a CANCEL after a time. Q.850 cause 102: recovery on timer expiry. */
export function timerExpired(text: string): HeaderField {
  return { name: 'reason', value: `Q.850;cause=102;text=${quoted(text)}` }
}

/** Returns the Reason (RFC 3326) with this SIP status. */
export function statusReason(status: number, text: string): HeaderField {
  return { name: 'reason', value: `SIP;cause=${status};text=${quoted(text)}` }
}

/** The Reason with which phones that did not answer first list no missed call. */
export const answeredElsewhere = statusReason(200, 'Call completed elsewhere')

/** The sentence of `unknown_realm`, in SIP and in the log. */
export const unknownRealm = 'Unknown or invalid realm'
export const tooManyGuesses = 'Too many failed attempts; wait a minute and try again'

export interface RefusalOptions {
  /** The status, if it differs from the one in the catalogue. */
  readonly status?: number
  readonly headers?: readonly HeaderField[]
  /** The code of the Warning header, if there is a better one than 399, any other warning. */
  readonly warning?: number | undefined
}

// Refusals of a description have a Warning: RFC 3261 §21.4.26 and §21.6.4.
const warned = new Set([488, 606])
// A pseudonym, so that no address is in it: RFC 3261 §20.43.
const warnAgent = 'switchhook'

function warningHeader(code: number, sentence: string): HeaderField {
  const text = cleanHeaderValue(sentence).replaceAll(/["\\]/g, '\\$&')
  return { name: 'warning', value: `${code} ${warnAgent} "${text}"` }
}

export function refusal(code: ErrorCode, sentence: string, options: RefusalOptions = {}): Reply {
  const status = options.status ?? entryOf(code).sip ?? 500
  return {
    status,
    headers: [
      { name: 'x-reason', value: cleanHeaderValue(sentence) },
      codeHeader(code),
      ...(warned.has(status) ? [warningHeader(options.warning ?? 399, sentence)] : []),
      ...(options.headers ?? []),
    ],
  }
}

// Statuses for a well-formed INVITE that requires something not served: RFC 3261 §21.4.13, §21.4.14, §21.4.15.
const serviceStatuses = new Set([415, 416, 420])

/**
 * Reports whether the refusal matters to the owner of a call. Within a dialog it does not, since the call has its
 * journal.
 */
export function isAboutService(request: SipRequest, { status }: Reply): boolean {
  return (
    request.method === 'INVITE' && serviceStatuses.has(status) && tagOf(headerOf(request, 'to')) === undefined
  )
}
