// Requests within the dialog that the platform does not handle itself. They are sent to the requestHook, if set.
import { headersOf, type SipRequest } from '../../sip/message/message.ts'
import { plumbingHeaders } from '../../sip/message/reserved-headers.ts'
import type { Reply } from '../../sip/sip.ts'
import { withoutKeys } from '../journal/sip-text.ts'
import type { Leg } from '../leg/leg.ts'
import { acceptedRequest, maxWaitingRequests, tooManyRequests } from '../session/kept-requests.ts'
import type { Asking } from '../verb/abilities.ts'

const maxBodyChars = 16_384

/** Returns the response if the hook is called, otherwise undefined. The far end does not wait for the hook's answer. */
export type TakeRequest = (request: SipRequest) => Reply | undefined

export function createDialogRequests(leg: Leg, hooks: Pick<Asking, 'event'>): TakeRequest {
  let waiting = 0
  return (request) => {
    const hook = leg.session.settings.current.requestHook
    if (hook === undefined) return undefined
    if (waiting >= maxWaitingRequests) return tooManyRequests
    waiting += 1
    const fields = {
      sip_method: request.method,
      sip_body: withoutKeys(Buffer.from(request.body).toString('utf8')).slice(0, maxBodyChars),
      sip_headers: shownHeaders(request),
    }
    void hooks.event(hook, fields, leg.signal).finally(() => (waiting -= 1))
    return acceptedRequest(request)
  }
}

/** Returns the headers by lower-case name. Of those that the stack handles only Content-Type is shown, for the body. */
function shownHeaders(request: SipRequest): Readonly<Record<string, string>> {
  const names = new Set(request.headers.map(({ name }) => name))
  const shown = [...names].filter((name) => name === 'content-type' || !plumbingHeaders.has(name))
  return Object.fromEntries(shown.map((name) => [name, headersOf(request, name).join(', ')]))
}
