// SIP messages as text for journals and hooks: bounded, without the answers to digest challenges, and without keys of media.
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

// RFC 4568 §6.1: who has the key, and a capture of the media, hears the call.
const mediaKeys = /\b(inline:)([\w+/=]+)/gi

/** Without the keys of a=crypto lines, and as long as it was: Content-Length stays true. */
export function withoutKeys(text: string): string {
  if (!/a=crypto:/i.test(text)) return text
  return text.replace(mediaKeys, (_, name: string, key: string) => name + '*'.repeat(key.length))
}

/** The message as it crossed the wire, with the values of Authorization headers and the keys of media masked. */
export function toText(message: SipMessage, raw: Uint8Array): string {
  const text = Buffer.from(raw.buffer, raw.byteOffset, raw.byteLength).toString('utf8')
  const shown = withoutKeys(text)
  return hasCredentials(message) ? shown.replace(credentials, '$1 [redacted]') : shown
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
