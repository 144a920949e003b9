// Requests within the dialog that the platform does not handle itself. They are sent to the requestHook, if set.
import { headersOf } from '../../sip/message/message.ts'
import type { SipRequest } from '../../sip/message/message.ts'
import { plumbingHeaders } from '../../sip/message/reserved-headers.ts'
import type { Reply } from '../../sip/sip.ts'
import { withoutKeys } from '../journal/sip-text.ts'
import type { Leg } from '../leg/leg.ts'
import type { Asking } from './abilities.ts'

/** The most requests that wait for the hook. Further ones are refused with Retry-After. */
const maxWaiting = 8
const retryAfterSeconds = '2'
const maxBodyChars = 16_384

/** Returns the response if the hook is called, otherwise undefined. The far end does not wait for the hook's answer. */
export type TakeRequest = (request: SipRequest) => Reply | undefined

export function createDialogRequests(leg: Leg, hooks: Pick<Asking, 'event'>): TakeRequest {
  let waiting = 0
  return (request) => {
    const hook = leg.session.settings.current.requestHook
    if (hook === undefined) return undefined
    if (waiting >= maxWaiting)
      return { status: 503, headers: [{ name: 'retry-after', value: retryAfterSeconds }] }
    waiting += 1
    const fields = {
      sip_method: request.method,
      sip_body: withoutKeys(Buffer.from(request.body).toString('utf8')).slice(0, maxBodyChars),
      sip_headers: shownHeaders(request),
    }
    void hooks.event(hook, fields, leg.signal).finally(() => (waiting -= 1))
    // RFC 3428 §7: the MESSAGE is accepted, but has not been shown to a person yet.
    return { status: request.method === 'MESSAGE' ? 202 : 200 }
  }
}

/** Returns the headers by lower-case name. Of those that the stack handles only Content-Type is shown, for the body. */
function shownHeaders(request: SipRequest): Readonly<Record<string, string>> {
  const names = new Set(request.headers.map(({ name }) => name))
  const shown = [...names].filter((name) => name === 'content-type' || !plumbingHeaders.has(name))
  return Object.fromEntries(shown.map((name) => [name, headersOf(request, name).join(', ')]))
}
