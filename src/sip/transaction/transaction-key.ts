// The keys that match messages with transactions (RFC 3261 §17.1.3, §17.2.3), and that detect merged requests
// (§8.2.2.2).
import { cseqOf } from '../message/cseq.ts'
import { headerOf, type SipRequest, type SipResponse } from '../message/message.ts'
import { tagOf } from '../message/name-addr.ts'
import { magicCookie, type Via } from '../message/via.ts'

/** Returns the key of a client transaction, from branch and CSeq method. */
export function clientKey(branch: string, method: string): string {
  return `${branch}|${method}`
}

export function clientKeyOf(response: SipResponse, via: Via): string {
  return clientKey(via.params.get('branch') ?? '', cseqOf(response).method)
}

/** `method` replaces the request's own: ACK and CANCEL look up the INVITE. */
export function serverKey(request: SipRequest, via: Via, method = request.method): string {
  const branch = via.params.get('branch')
  if (branch?.startsWith(magicCookie) === true && branch.length > magicCookie.length) {
    return `${branch}|${via.host}:${via.port ?? ''}|${method}`
  }
  return rfc2543Key(request, via, method)
}

/** RFC 3261 §17.2.3, for clients of RFC 2543: their branches are not unique, so the request itself is compared. */
function rfc2543Key(request: SipRequest, via: Via, method: string): string {
  const parts = [
    request.uri,
    tagOf(headerOf(request, 'from')),
    headerOf(request, 'call-id'),
    headerOf(request, 'cseq')?.split(/\s/, 1)[0],
    `${via.host}:${via.port ?? ''}`,
    via.params.get('branch'),
    method,
  ]
  return parts.join('\n')
}

/**
 * Returns a key that two copies of a request by different paths share; undefined within a dialog, where it does not
 * apply.
 */
export function mergeKey(request: SipRequest): string | undefined {
  if (tagOf(headerOf(request, 'to')) !== undefined) return undefined
  const fromTag = tagOf(headerOf(request, 'from'))
  if (fromTag === undefined) return undefined
  return `${fromTag}\n${headerOf(request, 'call-id')}\n${headerOf(request, 'cseq')}`
}
