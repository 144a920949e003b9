// Which addresses count as one source: a host with one address of IPv6 has 2^64 to choose from.
import ipaddr from 'ipaddr.js'

/**
 * An IPv4 address as it is; of IPv6 the /64 (`2001:db8:1:2::/64`), as the other 64 bits are the host's own to choose
 * (RFC 4291 §2.5.1). An IPv4 address mapped into IPv6 is the IPv4 address; what is no address is a source of its own.
 */
export function networkOf(address: string): string {
  const [network = address] = networksOf(address, [64])
  return network
}

/** Returns a network of each of these lengths (multiples of 16) for an IPv6 address; any other address alone, as above. */
export function networksOf(address: string, lengths: readonly number[]): readonly string[] {
  // The usual address is spared the parser.
  if (!address.includes(':') || !ipaddr.isValid(address)) return [address]
  const parsed = ipaddr.process(address)
  if (!(parsed instanceof ipaddr.IPv6)) return [parsed.toString()]
  const groups = parsed.parts.map((group) => group.toString(16))
  return lengths.map((bits) => `${groups.slice(0, bits / 16).join(':')}::/${bits}`)
}
