// The realm of a request: the SIP domain that its sender is known by and challenged with.
import { isIP } from 'node:net'
import { headerOf, type SipRequest } from './message.ts'
import { parseNameAddr } from './name-addr.ts'
import { tryParseUri } from './uri.ts'

/**
 * Returns the host of the Request-URI, the domain the phone was configured with. An IP address is not a realm and a
 * telephone number has no host, so a phone that was given our address, or that dials a tel URI, is identified by the
 * domain of its own address: From, or To of a REGISTER (RFC 3261 §10.2).
 */
export function realmOf(request: SipRequest): string | undefined {
  const called = hostOf(request.uri)
  if (called !== undefined && isIP(called) === 0) return called
  const own = headerOf(request, request.method === 'REGISTER' ? 'to' : 'from')
  return own === undefined ? called : (hostOf(uriOf(own)) ?? called)
}

function uriOf(address: string): string {
  try {
    return parseNameAddr(address).uri
  } catch {
    return ''
  }
}

function hostOf(text: string): string | undefined {
  const uri = tryParseUri(text)
  return uri === undefined || uri.scheme === 'tel' ? undefined : uri.host
}
