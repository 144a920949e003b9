// Which addresses mean nothing outside the network they are of: a peer seen from elsewhere is not reached there.
import ipaddr from 'ipaddr.js'

// RFC 1918, RFC 6598, RFC 4193, RFC 3927, RFC 4291 §2.5.6 and the addresses of a host to itself.
const hiddenRanges: ReadonlySet<string> = new Set([
  'private',
  'carrierGradeNat',
  'uniqueLocal',
  'linkLocal',
  'loopback',
  'unspecified',
])

/** False for a name: where it leads is not known before it is looked up. */
export function isHidden(host: string): boolean {
  return ipaddr.isValid(host) && hiddenRanges.has(ipaddr.process(host).range())
}

/** Whether a peer whose packets come from `source` cannot be reached at `host`: it is behind NAT there. */
export function isHiddenFrom(host: string, source: string): boolean {
  return isHidden(host) && !isHidden(source)
}
