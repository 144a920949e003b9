// The networks that count as one source: a host with one IPv6 address can choose from 2^64.
import ipaddr from 'ipaddr.js'

/**
 * Returns an IPv4 address as it is, and for IPv6 the /64 (`2001:db8:1:2::/64`), since the host chooses the other 64
 * bits (RFC 4291 §2.5.1). An IPv4 address mapped into IPv6 is the IPv4 address; text that is not an address is its own
 * source.
 */
export function networkOf(address: string): string {
  const [network = address] = networksOf(address, [64])
  return network
}

/**
 * Returns a network of each of these lengths (multiples of 16) for an IPv6 address; any other address as `networkOf`
 * does.
 */
export function networksOf(address: string, lengths: readonly number[]): readonly string[] {
  // The parser is skipped for the usual address.
  if (!address.includes(':') || !ipaddr.isValid(address)) return [address]
  const parsed = ipaddr.process(address)
  if (!(parsed instanceof ipaddr.IPv6)) return [parsed.toString()]
  const groups = parsed.parts.map((group) => group.toString(16))
  return lengths.map((bits) => `${groups.slice(0, bits / 16).join(':')}::/${bits}`)
}
