// Addresses without meaning outside their own network: a peer whose packets come from elsewhere cannot be reached
// there.
import ipaddr from 'ipaddr.js'

// RFC 1918, RFC 6598, RFC 4193, RFC 3927, RFC 4291 §2.5.6, and loopback and unspecified addresses.
const hiddenRanges: ReadonlySet<string> = new Set([
  'private',
  'carrierGradeNat',
  'uniqueLocal',
  'linkLocal',
  'loopback',
  'unspecified',
])

/** Returns false for a name, since its address is not known yet. */
export function isHidden(host: string): boolean {
  return ipaddr.isValid(host) && hiddenRanges.has(ipaddr.process(host).range())
}

/** Reports whether a peer whose packets come from `source` is behind NAT and cannot be reached at `host`. */
export function isHiddenFrom(host: string, source: string): boolean {
  return isHidden(host) && !isHidden(source)
}
