// Sending of a request outside a dialog, other than INVITE: RFC 3261 §10.2 and §11.1.
import { randomHex } from '../lib/ids.ts'
import { asClient, cleanHeaders, type Core } from './dialog/core.ts'
import { sendRequest } from './dialog/send-request.ts'
import { buildRequest, responseTo } from './message/build.ts'
import { headerOf, type HeaderField, type SipRequest, type SipResponse } from './message/message.ts'
import type { OutsideOutcome, OutsideRequest } from './outside-request.ts'
import { isReliable } from './transport/transports.ts'

export function sendOutsideRequest(core: Core, asked: OutsideRequest): Promise<OutsideOutcome> {
  const { method, uri, from, to, callId = randomHex(16), destination, credentials, headers = [] } = asked
  const { promise, resolve } = Promise.withResolvers<OutsideOutcome>()
  const beganAt = core.clock.monotonic()
  const localTag = randomHex(8)
  let cseq = asked.cseq ?? 0
  let isOver = false

  const build = (authorization: readonly HeaderField[]): SipRequest =>
    buildRequest({
      method,
      uri,
      headers: [
        { name: 'max-forwards', value: '70' },
        { name: 'from', value: `<${from}>;tag=${localTag}` },
        { name: 'to', value: `<${to}>` },
        { name: 'call-id', value: callId },
        { name: 'cseq', value: `${++cseq} ${method}` },
        ...authorization,
        ...cleanHeaders(headers),
        asClient({ name: 'server', value: core.product }),
      ],
    })

  const settle = (response: SipResponse): void => {
    if (isOver) return
    isOver = true
    limit.cancel()
    // A response that the stack made has no Via: the far end did not respond.
    const isSilent = headerOf(response, 'via') === undefined
    if (isSilent) core.rest(destination)
    resolve({ response, isSilent, cseq, delayMs: core.clock.monotonic() - beganAt })
  }
  const limit = core.clock.after(asked.limitMs, () => settle(responseTo(latest, { status: 408 })))
  let latest: SipRequest
  sendRequest({
    transactions: core.transactions,
    remote: destination,
    keepsTransport: !isReliable(destination),
    credentials,
    build: (authorization) => (latest = build(authorization)),
    response(response) {
      if (response.status >= 200) settle(response)
    },
    isOver: () => isOver,
  })
  return promise
}
