// The Contact of this side, which the peer sends requests within a dialog to (RFC 3261 §8.1.1.8).
import { escapeUser, schemeOf, serializeHostPort } from './message/uri.ts'
import { transports, type HostPort, type Transport } from './transport/transports.ts'

export interface ContactName {
  readonly user?: string | undefined
  /** The dialog began with a sips URI, so each hop of its requests must be secure. */
  readonly isSips?: boolean
  /** The host name that this peer knows us by, if it differs from our usual one. */
  readonly host?: string | undefined
  /** A feature tag that describes this side (RFC 3840 §9): `+sip.srs`. */
  readonly feature?: string | undefined
}

export function contactAt(place: HostPort, transport: Transport, { feature, ...name }: ContactName): string {
  const address = addressAt(place, transport, name)
  return feature === undefined ? address : `${address};${feature}`
}

function addressAt(
  place: HostPort,
  transport: Transport,
  { user, isSips = false, host = place.host }: Omit<ContactName, 'feature'>,
): string {
  const hostPort = serializeHostPort({ ...place, host })
  const address = user === undefined ? hostPort : `${escapeUser(user)}@${hostPort}`
  const { uriParameter, isSecure } = transports[transport]
  const scheme = isSips && isSecure ? 'sips' : 'sip'
  return uriParameter === undefined
    ? `<${scheme}:${address}>`
    : `<${scheme}:${address};transport=${uriParameter}>`
}

/** Reports whether any of these texts is a sips URI. */
export function hasSips(...uris: readonly (string | undefined)[]): boolean {
  return uris.some((uri) => uri !== undefined && schemeOf(uri) === 'sips')
}
