// The destination of RTCP reports on a stream (RFC 3550 §11, RFC 3605, RFC 5761).
import type { Agreement } from '../sdp/agreement.ts'
import type { Endpoint } from '../rtp/source.ts'

interface Known {
  /** The source of the far end's own reports. */
  readonly heard: Endpoint | undefined
  /** The source of its media. */
  readonly latched: Endpoint | undefined
  /** The destination of our media. */
  readonly destination: Endpoint | undefined
}

/**
 * Returns the source of its reports; otherwise the port next to its media, which NAT may have moved; otherwise the
 * SDP's place.
 */
export function reportsTo(
  agreement: Agreement,
  { heard, latched, destination }: Known,
): Endpoint | undefined {
  const { remote, remoteRtcp, isPast, hasRtcpMux } = agreement
  // If another far end sends the stream, that far end also sends the reports.
  if (remote === undefined || isPast === true) return undefined
  if (hasRtcpMux) return destination
  if (heard !== undefined) return heard
  if (latched === undefined || latched.address === remote.address) return remoteRtcp
  return latched.port === 65_535 ? undefined : { address: latched.address, port: latched.port + 1 }
}
