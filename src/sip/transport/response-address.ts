// The destination of a response, and the Via parameters that it is taken from (RFC 3261 §18.2, RFC 3581 §4).
import { isHidden } from './hidden-address.ts'
import type { SipRequest } from '../message/message.ts'
import { withTopVia, type Via } from '../message/via.ts'
import { isReliable, transports, type Remote } from './transports.ts'

/** Returns the request with `received` and `rport` filled in on its top Via, which its responses copy. */
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
  /** The destination if the connection is gone by then. */
  readonly alternative?: Remote
}

/**
 * Returns where a response goes. Deviations from RFC 3261 §18.2.2: `maddr` is not followed; it serves multicast, which
 * we do not, and would let a request send our responses to a third party. A sender behind NAT without `rport` gets the
 * response at its source port all the same: the port it names is one of its own network.
 */
export function responseTarget(via: Via | undefined, remote: Remote): ResponseTarget {
  if (via === undefined) return { remote }
  const { defaultPort, isOpenedHere, isSecure } = transports[remote.transport]
  const sentByPort = { ...remote, port: via.port ?? defaultPort }
  if (!isOpenedHere) return { remote }
  // The server there must prove to be the host that the request named: RFC 5922 §7.2.
  if (isSecure) return { remote, alternative: { ...sentByPort, name: via.host } }
  if (isReliable(remote)) return { remote, alternative: sentByPort }
  const isBehindNat = via.host !== remote.address && isHidden(via.host)
  return { remote: via.params.has('rport') || isBehindNat ? remote : sentByPort }
}
