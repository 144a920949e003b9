// The Contact of this side: where the peer sends the requests of a dialog (RFC 3261 §8.1.1.8).
import { escapeUser, serializeHostPort } from './message/uri.ts'
import type { HostPort } from './sip.ts'
import { transports } from './transport/transports.ts'
import type { Transport } from './transport/transports.ts'

export function contactAt(place: HostPort, transport: Transport, user: string | undefined): string {
  const hostPort = serializeHostPort(place)
  const address = user === undefined ? hostPort : `${escapeUser(user)}@${hostPort}`
  const { uriParameter } = transports[transport]
  return uriParameter === undefined ? `<sip:${address}>` : `<sip:${address};transport=${uriParameter}>`
}
