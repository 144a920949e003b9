// Where RTCP reports on a stream go (RFC 3550 §11, RFC 3605, RFC 5761).
import type { Agreement } from '../sdp/agreement.ts'
import type { Endpoint } from './source.ts'

interface Known {
  /** Where the far end's own reports come from. */
  readonly heard: Endpoint | undefined
  /** Where its media comes from. */
  readonly latched: Endpoint | undefined
  /** Where ours goes. */
  readonly destination: Endpoint | undefined
}

/** Where its reports come from; else beside its media, which NAT may have moved; else what the SDP says. */
export function reportsTo(
  agreement: Agreement,
  { heard, latched, destination }: Known,
): Endpoint | undefined {
  const { remote, remoteRtcp, isPast, hasRtcpMux } = agreement
  // Reports on a stream that another far end sends are its own.
  if (remote === undefined || isPast === true) return undefined
  if (hasRtcpMux) return destination
  if (heard !== undefined) return heard
  if (latched === undefined || latched.address === remote.address) return remoteRtcp
  return latched.port === 65_535 ? undefined : { address: latched.address, port: latched.port + 1 }
}
