// The one form of an IP address, by which phones, carriers and networks are known.
import ipaddr from 'ipaddr.js'

/** Returns the address as sockets report it: a tenant may spell one of IPv6, and a mapped one, in many ways. */
export function toReportedAddress(address: string): string {
  return address.includes(':') && ipaddr.isValid(address) ? ipaddr.process(address).toString() : address
}
