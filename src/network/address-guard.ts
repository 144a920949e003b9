// The addresses that the platform may connect to at a customer's request: the one protection against requests that
// turn the platform against its own network. Every outgoing URL passes `parseTarget`, every connection `isAllowed`.
import ipaddr from 'ipaddr.js'
import { AppError } from '../lib/errors.ts'

/** Reports whether `address`, an IP literal as a socket would use it, may be connected to. */
export type AddressGuard = (address: string) => boolean

type Range = [ipaddr.IPv4 | ipaddr.IPv6, number]

// Public addresses at which cloud hosts serve the secrets of an instance. All other such addresses are link-local,
// unique-local or shared address space, and refused as such.
const metadataRanges: readonly Range[] = [ipaddr.parseCIDR('168.63.129.16/32')]

// RFC 4291 §2.4 and the IANA registry: all global unicast addresses in use. Any other address embeds an IPv4 address
// in some form, or is not routed at all.
const globalUnicast: Range = ipaddr.parseCIDR('2000::/3')

const loopback = ['127.0.0.0/8', '::1/128']

/** Returns the networks inside the private address space that the settings open to customers' URLs. */
export function reachableNetworks({
  webhookAllow,
  isProduction,
}: {
  readonly webhookAllow: readonly string[] | undefined
  readonly isProduction: boolean
}): readonly string[] {
  return webhookAllow ?? (isProduction ? [] : loopback)
}

/** Allows public unicast addresses, and all addresses in the `allow` ranges (CIDR). */
export function createAddressGuard(allow: readonly string[]): AddressGuard {
  const allowed = allow.map((range): Range => ipaddr.parseCIDR(range))
  return (text) => {
    // A zone index (RFC 4007 §11) selects an interface; it has no meaning for an address that may be public.
    if (!ipaddr.isValid(text) || text.includes('%')) return false
    const address = ipaddr.process(text)
    if (allowed.some((range) => contains(range, address))) return true
    if (address.range() !== 'unicast') return false
    if (metadataRanges.some((range) => contains(range, address))) return false
    return address.kind() === 'ipv4' || contains(globalUnicast, address)
  }
}

/** Allows only addresses in one of the ranges (CIDR). */
export function createRangeGuard(ranges: readonly string[]): AddressGuard {
  const parsed = ranges.map((range): Range => ipaddr.parseCIDR(range))
  return (text) => ipaddr.isValid(text) && parsed.some((range) => contains(range, ipaddr.process(text)))
}

function contains([network, bits]: Range, address: ipaddr.IPv4 | ipaddr.IPv6): boolean {
  return network.kind() === address.kind() && address.match(network, bits)
}

/**
 * Returns the URL as it would be requested. The URL parser turns every notation of an IPv4 address (decimal, octal,
 * hex, full-width digits, trailing dot) into the dotted one, so that the guard checks the address that the socket will
 * use.
 */
export function parseTarget(text: string): URL {
  const url = URL.canParse(text) ? new URL(text) : undefined
  if (url === undefined || url.hostname === '')
    throw new AppError('hook_bad_url', 'the URL is not an absolute URL')
  if (url.protocol !== 'http:' && url.protocol !== 'https:')
    throw new AppError('hook_bad_url', 'the URL is neither http nor https')
  if (url.username !== '' || url.password !== '')
    throw new AppError('hook_bad_url', 'the URL carries a user name or password')
  return url
}

/** Returns the IP literal in a URL's host, without the brackets of IPv6; undefined for a name. */
export function literalOf(hostname: string): string | undefined {
  const bare = hostname.startsWith('[') ? hostname.slice(1, -1) : hostname
  return ipaddr.isValid(bare) ? bare : undefined
}
