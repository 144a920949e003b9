// Requests within a dialog that come while the first verbs of the call are still awaited. They are accepted at once, and
// handed on to their hook when the verbs run.
import type { SipRequest } from '../../sip/message/message.ts'
import type { Reply } from '../../sip/sip.ts'
import type { RunningScript } from './running-script.ts'

/** The most requests that wait for a hook. Further ones are refused with Retry-After. */
export const maxWaitingRequests = 8
const retryAfterSeconds = '2'

export const tooManyRequests: Reply = {
  status: 503,
  headers: [{ name: 'retry-after', value: retryAfterSeconds }],
}

/** Returns the response to a request that a hook gets. */
export function acceptedRequest({ method }: SipRequest): Reply {
  // RFC 3428 §7: the MESSAGE is accepted, but has not been shown to a person yet.
  return { status: method === 'MESSAGE' ? 202 : 200 }
}

export class KeptRequests {
  #waiting: { readonly leg: object; readonly request: SipRequest }[] = []

  keep(leg: object, request: SipRequest): Reply {
    if (this.#waiting.length >= maxWaitingRequests) return tooManyRequests
    this.#waiting.push({ leg, request })
    return acceptedRequest(request)
  }

  handOn(leg: object, script: Pick<RunningScript, 'take'>): void {
    const own = this.#waiting.filter((one) => one.leg === leg)
    this.#waiting = []
    for (const { request } of own) script.take(request)
  }
}
