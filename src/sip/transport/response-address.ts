// Where a response goes, and the marks on the Via that say so (RFC 3261 §18.2, RFC 3581 §4).
import type { SipRequest } from '../message/message.ts'
import { withTopVia } from '../message/via.ts'
import type { Via } from '../message/via.ts'
import type { Remote } from '../sip.ts'

export const defaultPort = 5060

/** The request with `received` and `rport` filled in on its top Via, as its responses copy it. */
export function markReceived(request: SipRequest, via: Via, remote: Remote): SipRequest {
  const wantsPort = via.params.has('rport')
  if (!wantsPort && via.host === remote.address) return request
  const params = new Map(via.params)
  params.set('received', remote.address)
  if (wantsPort) params.set('rport', String(remote.port))
  return { ...request, headers: withTopVia(request.headers, { ...via, params }) }
}

export interface ResponseTarget {
  readonly remote: Remote
  /** For a connection that is gone by then. */
  readonly alternative?: Remote
}

/**
 * Deviation from RFC 3261 §18.2.2: `maddr` is not followed; it serves multicast, which we do not, and would let a request
 * send our responses to a third party.
 */
export function responseTarget(via: Via | undefined, remote: Remote): ResponseTarget {
  if (via === undefined) return { remote }
  const sentByPort = { ...remote, port: via.port ?? defaultPort }
  if (remote.transport === 'tcp') return { remote, alternative: sentByPort }
  return { remote: via.params.has('rport') ? remote : sentByPort }
}
