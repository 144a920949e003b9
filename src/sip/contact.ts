// The Contact of this side: where the peer sends the requests of a dialog (RFC 3261 §8.1.1.8).
import { escapeUser, schemeOf, serializeHostPort } from './message/uri.ts'
import type { HostPort } from './sip.ts'
import { transports } from './transport/transports.ts'
import type { Transport } from './transport/transports.ts'

export interface ContactName {
  readonly user?: string | undefined
  /** What the dialog began with was a sips URI: each hop of its requests is to be secure. */
  readonly isSips?: boolean
  /** The host name that this peer knows us by, where it is another one than other peers do. */
  readonly host?: string | undefined
  /** A feature tag that says what this side is (RFC 3840 §9): `+sip.srs`. */
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

/** Whether any of these texts is a sips URI. */
export function hasSips(...uris: readonly (string | undefined)[]): boolean {
  return uris.some((uri) => uri !== undefined && schemeOf(uri) === 'sips')
}
