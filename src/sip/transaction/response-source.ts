// Where the response to a request may come from. The branch is no secret: it stands in journals and traces.
import ipaddr from 'ipaddr.js'
import type { Remote } from '../sip.ts'
import { keyOf } from '../transport/connections.ts'
import { isReliable } from '../transport/transports.ts'

export interface ResponseSource {
  /** Where the request went. */
  readonly sentTo: Remote
  /** The connection by which it went is gone. */
  readonly isLost: boolean
  /** Our own proxies, which pass on what others answer. */
  readonly isProxy: (address: string) => boolean
}

/**
 * Over a connection, that one alone (RFC 3261 §18.2.2); once it is gone, another one from the same address, which is as
 * well proved. Over UDP the address that the request went to (RFC 3581 §4), from any port, as NAT changes ports.
 */
export function mayAnswer({ sentTo, isLost, isProxy }: ResponseSource, from: Remote): boolean {
  if (from.transport !== sentTo.transport) return false
  if (isReliable(sentTo) && !isLost) return keyOf(from) === keyOf(sentTo)
  return from.name === sentTo.name && (isSame(from.address, sentTo.address) || isProxy(from.address))
}

/** One address of IPv6 has several spellings. */
function isSame(one: string, other: string): boolean {
  if (one === other) return true
  return one.includes(':') && other.includes(':') && spell(one) === spell(other)
}

function spell(address: string): string {
  return ipaddr.isValid(address) ? ipaddr.process(address).toString() : address
}
