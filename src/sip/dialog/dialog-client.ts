// The requests that this side sends within a dialog: RFC 3261 §12.2.1.
import { sessionLimits } from '../limits.ts'
import { buildRequest, responseTo } from '../message/build.ts'
import { cseqOf } from '../message/cseq.ts'
import { headersOf, type HeaderField, type SipRequest, type SipResponse } from '../message/message.ts'
import type { Remote } from '../transport/transports.ts'
import type { Reply } from '../message/reply.ts'
import {
  asClient,
  capabilityHeaders,
  cleanHeaders,
  mergeHeaders,
  type ContactName,
  type Core,
} from './core.ts'
import type { DialogRoute } from './dialog-route.ts'
import { addressed, dialogHeaders, refreshTarget, type DialogState } from './dialog-state.ts'
import { sendRequest, type Credentials } from './send-request.ts'
import type { SessionTimer } from './session-timer.ts'

export interface RequestOptions {
  readonly headers?: readonly HeaderField[]
  readonly body?: Reply['body'] | undefined
}

export interface DialogClientOptions {
  readonly core: Core
  readonly state: DialogState
  readonly route: DialogRoute
  readonly contact: ContactName
  readonly credentials: Credentials | undefined
  /** Undefined before the final response of an INVITE. */
  readonly session?: SessionTimer
}

export class DialogClient {
  readonly #options: DialogClientOptions

  constructor(options: DialogClientOptions) {
    this.#options = options
  }

  /** Resolves with the final response, or with one made here if none arrives. Sends the ACK of an INVITE itself. */
  async send(method: string, options: RequestOptions): Promise<SipResponse> {
    const { session } = this.#options
    let response = await this.#exchange(method, options)
    if (!isTargetRefresh(method)) return response
    // RFC 4028 §7.3: the interval is too short for the peer.
    for (let raises = 0; response.status === 422 && raises < sessionLimits.maxRaises; raises += 1) {
      if (session?.raise(response) !== true) break
      response = await this.#exchange(method, options)
    }
    if (response.status < 300) session?.confirmed(response)
    return response
  }

  async #exchange(method: string, options: RequestOptions): Promise<SipResponse> {
    const { core, state, route, credentials } = this.#options
    const { remote, keepsTransport } = await route.find()
    const answered = Promise.withResolvers<SipResponse>()
    let isRepeated = false
    sendRequest({
      transactions: core.transactions,
      remote,
      keepsTransport,
      credentials,
      build: (authorization) => this.#build(method, remote, options, authorization),
      response: (response, request) => {
        if (response.status < 200) return
        const isAccepted = response.status < 300 && isTargetRefresh(method)
        // The ACK goes to the new target. A repeated 2xx may be older than another refresh.
        if (isAccepted && !isRepeated) refreshTarget(state, response)
        isRepeated = true
        if (isAccepted && method === 'INVITE') void this.acknowledge(request)
        answered.resolve(response)
      },
    })
    return answered.promise
  }

  /** Sends the ACK for a 2xx to this INVITE; called each time the 2xx arrives: RFC 3261 §13.2.2.4. */
  async acknowledge(invite: SipRequest): Promise<void> {
    const { core, state, route } = this.#options
    const { remote } = await route.find()
    const { uri } = addressed(state.remoteTarget, state.routeSet)
    // RFC 3261 §13.2.2.4: the same credentials as in the INVITE.
    const credentials = ['authorization', 'proxy-authorization'].flatMap((name) =>
      headersOf(invite, name).map((value) => ({ name, value })),
    )
    const headers = [...dialogHeaders(state, 'ACK', cseqOf(invite).sequence), ...credentials]
    core.transactions.sendAck(buildRequest({ method: 'ACK', uri, headers }), remote)
  }

  /** Returns a final response to a request that is not sent. */
  localResponse(method: string, status: number): SipResponse {
    const { state } = this.#options
    const headers = dialogHeaders(state, method, state.localSequence)
    return responseTo(buildRequest({ method, uri: state.remoteTarget, headers }), { status })
  }

  #build(
    method: string,
    remote: Remote,
    { headers = [], body }: RequestOptions,
    authorization: readonly HeaderField[],
  ): SipRequest {
    const { core, state, contact, session } = this.#options
    state.localSequence += 1
    const { uri } = addressed(state.remoteTarget, state.routeSet)
    const agent = { name: 'user-agent', value: core.product }
    const place = needsContact(method) ? [{ name: 'contact', value: core.contactFor(remote, contact) }] : []
    const ours = isTargetRefresh(method)
      ? [...capabilityHeaders(core, remote, contact).map(asClient), ...(session?.fields ?? [])]
      : [...place, agent]
    return buildRequest({
      method,
      uri,
      headers: [
        ...dialogHeaders(state, method, state.localSequence),
        ...authorization,
        ...mergeHeaders(ours, cleanHeaders(headers)),
      ],
      ...(body === undefined ? {} : { body }),
    })
  }
}

/** Reports whether the method restates where a side is reached: RFC 3261 §12.2 and RFC 3311 §5.1. */
function isTargetRefresh(method: string): boolean {
  return method === 'INVITE' || method === 'UPDATE'
}

/** Reports whether a request that restates no target must have a Contact: RFC 3515 §2.2 and RFC 3265 §7.1. */
function needsContact(method: string): boolean {
  return method === 'REFER' || method === 'NOTIFY'
}
