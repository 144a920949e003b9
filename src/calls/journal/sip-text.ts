// SIP messages as text for journals and hooks: bounded, and without the answers to digest challenges.
import { headerOf } from '../../sip/message/message.ts'
import type { SipMessage } from '../../sip/message/message.ts'
import type { Remote, WireEvent } from '../../sip/sip.ts'
import { defaultTransport, isReliable, toTransport } from '../../sip/transport/transports.ts'
import type { SipFact } from './journal.ts'

/** A message that fits any sensible phone's INVITE; longer ones are cut in the journal. */
const maxRawLength = 8192

const credentials = /^((?:proxy-)?authorization[ \t]*:)[^\r\n]*(?:\r?\n[ \t][^\r\n]*)*/gim

function hasCredentials(message: SipMessage): boolean {
  return (
    headerOf(message, 'authorization') !== undefined || headerOf(message, 'proxy-authorization') !== undefined
  )
}

/** The message as it crossed the wire, with the values of Authorization headers masked. */
export function toText(message: SipMessage, raw: Uint8Array): string {
  const text = Buffer.from(raw.buffer, raw.byteOffset, raw.byteLength).toString('utf8')
  return hasCredentials(message) ? text.replace(credentials, '$1 [redacted]') : text
}

/** A place as the journal names it: `udp:192.0.2.1:5060`. */
export function remoteText({ transport, address, port }: Remote): string {
  return `${transport}:${address}:${port}`
}

/** The place of a `remote` in a journal; `isStream` where messages went over a connection. */
export function readRemote(remote: string): { readonly isStream: boolean; readonly place: string } {
  const end = remote.indexOf(':')
  const transport = toTransport(remote.slice(0, end)) ?? defaultTransport
  return { isStream: isReliable({ transport }), place: remote.slice(end + 1) }
}

export function toSipFact(event: Omit<WireEvent, 'callId'>): SipFact {
  const { message, raw, remote } = event
  const text = toText(message, raw)
  return {
    type: 'sip',
    direction: event.direction,
    summary: message.kind === 'request' ? message.method : `${message.status} ${message.reason}`,
    remote: remoteText(remote),
    raw: text.length <= maxRawLength ? text : `${text.slice(0, maxRawLength)}[truncated]`,
  }
}
