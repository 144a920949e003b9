// IPv4 addresses on a socket for both IP versions: RFC 4291 §2.5.5.2. Elsewhere addresses are in their plain form.

const prefix = '::ffff:'

/** Returns the IPv4 address in a mapped address; any other address as it is. */
export function toPlainAddress(address: string): string {
  return address.startsWith(prefix) && address.includes('.') ? address.slice(prefix.length) : address
}

/** Returns the address in the form that an IPv6 socket expects. */
export function toMappedAddress(address: string): string {
  return address.includes(':') ? address : prefix + address
}
