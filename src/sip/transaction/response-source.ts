// The allowed sources of the response to a request. The branch is not secret: it appears in journals and traces.
import ipaddr from 'ipaddr.js'
import { keyOf } from '../transport/connections.ts'
import { isReliable, type Remote } from '../transport/transports.ts'

export interface ResponseSource {
  /** The destination of the request. */
  readonly sentTo: Remote
  /** The connection that the request used is gone. */
  readonly isLost: boolean
  /** Reports whether our own proxy, which forwards responses, is at an address. */
  readonly isProxy: (address: string) => boolean
}

/**
 * Reports whether a response may come from there. Over a connection, only that one (RFC 3261 §18.2.2); once it is
 * gone, another one from the same address, which proves as much. Over UDP, the address that the request went to (RFC
 * 3581 §4), with any port, since NAT changes ports.
 */
export function mayAnswer({ sentTo, isLost, isProxy }: ResponseSource, from: Remote): boolean {
  if (from.transport !== sentTo.transport) return false
  if (isReliable(sentTo) && !isLost) return keyOf(from) === keyOf(sentTo)
  return from.name === sentTo.name && (isSame(from.address, sentTo.address) || isProxy(from.address))
}

/** Compares addresses. An IPv6 address has several spellings. */
function isSame(one: string, other: string): boolean {
  if (one === other) return true
  return one.includes(':') && other.includes(':') && spell(one) === spell(other)
}

function spell(address: string): string {
  return ipaddr.isValid(address) ? ipaddr.process(address).toString() : address
}
