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
}

export function contactAt(
  place: HostPort,
  transport: Transport,
  { user, isSips = false, host = place.host }: ContactName,
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
