// The content of a NOTIFY of the event package `refer`: the progress of the call that a REFER requested (RFC 3515
// §2.4).
import { mediaTypeOf } from './body.ts'
import { headerOf, type HeaderField, type SipMessage } from './message.ts'
import { parseParams } from './params.ts'
import { reasonPhraseOf } from './reason-phrases.ts'

export interface ReferEvent {
  /** False for any other event package. */
  readonly isRefer: boolean
  /** The CSeq of the REFER, if several were sent in one dialog. */
  readonly id: number | undefined
}

const maxReasonChars = 128

export function referEventOf(message: SipMessage): ReferEvent {
  const [name = '', ...rest] = (headerOf(message, 'event') ?? '').split(';')
  return { isRefer: name.trim().toLowerCase() === 'refer', id: numberOf(rest.join(';'), 'id') }
}

/** Reports whether this NOTIFY is the last one: RFC 6665 §8.2.3. */
export function isTerminated(message: SipMessage): boolean {
  const [state = ''] = (headerOf(message, 'subscription-state') ?? '').split(';')
  return state.trim().toLowerCase() === 'terminated'
}

export interface StatusLine {
  readonly status: number
  readonly reason: string
}

/** Returns the status line of a message/sipfrag (RFC 3420); undefined if there is none. */
export function sipfragOf(message: SipMessage): StatusLine | undefined {
  if (mediaTypeOf(headerOf(message, 'content-type') ?? '') !== 'message/sipfrag') return undefined
  const text = Buffer.from(message.body.subarray(0, 1_024)).toString('utf8')
  const [, digits, reason = ''] =
    /^\s*SIP\/2\.0[ \t]+([1-6]\d\d)(?:[ \t]+([^\r\n]*))?(?:\r|\n|$)/i.exec(text) ?? []
  if (digits === undefined) return undefined
  return { status: Number(digits), reason: reason.trim().slice(0, maxReasonChars) }
}

export interface Notification {
  readonly line: { readonly status: number; readonly reason?: string | undefined }
  /** The seconds that the subscription still has; undefined in the last NOTIFY. */
  readonly leftSeconds: number | undefined
  /** The reason why it is the last one: RFC 6665 §4.2.2. */
  readonly end?: 'noresource' | 'timeout'
  readonly id: number | undefined
}

export function notification({ line, leftSeconds, end = 'noresource', id }: Notification): {
  readonly headers: readonly HeaderField[]
  readonly body: { readonly type: string; readonly content: string }
} {
  const state = leftSeconds === undefined ? `terminated;reason=${end}` : `active;expires=${leftSeconds}`
  const reason = line.reason ?? reasonPhraseOf(line.status)
  return {
    headers: [
      { name: 'event', value: id === undefined ? 'refer' : `refer;id=${id}` },
      { name: 'subscription-state', value: state },
    ],
    body: {
      type: 'message/sipfrag;version=2.0',
      // A line break would begin a header field in the message fragment.
      content: `SIP/2.0 ${line.status} ${reason.replaceAll(/\p{Cc}/gu, ' ').slice(0, maxReasonChars)}\r\n`,
    },
  }
}

function numberOf(params: string, name: string): number | undefined {
  try {
    const value = parseParams(params).get(name) ?? ''
    return /^\d{1,10}$/.test(value) ? Number(value) : undefined
  } catch {
    return undefined
  }
}
