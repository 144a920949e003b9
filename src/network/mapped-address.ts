// IPv4 addresses on a socket that takes both IP versions: RFC 4291 §2.5.5.2. Outside of sockets addresses are plain.

const prefix = '::ffff:'

/** The IPv4 address that is mapped; any other address as it is. */
export function toPlainAddress(address: string): string {
  return address.startsWith(prefix) && address.includes('.') ? address.slice(prefix.length) : address
}

/** Returns the address in the form that a socket of IPv6 takes. */
export function toMappedAddress(address: string): string {
  return address.includes(':') ? address : prefix + address
}
