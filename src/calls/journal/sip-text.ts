// SIP messages as text for journals and hooks: bounded, without digest credentials, and without media keys.
import { headerOf, type SipMessage } from '../../sip/message/message.ts'
import type { Remote, WireEvent } from '../../sip/sip.ts'
import { defaultTransport, isReliable, toTransport } from '../../sip/transport/transports.ts'
import type { SipFact } from './journal.ts'

/** The longest message in a journal. The INVITE of any sensible phone fits; longer messages are cut. */
const maxRawLength = 8192

const credentials = /^((?:proxy-)?authorization[ \t]*:)[^\r\n]*(?:\r?\n[ \t][^\r\n]*)*/gim

function hasCredentials(message: SipMessage): boolean {
  return (
    headerOf(message, 'authorization') !== undefined || headerOf(message, 'proxy-authorization') !== undefined
  )
}

// RFC 4568 §6.1: with the key and a capture of the media, anyone can hear the call.
const mediaKeys = /\b(inline:)([\w+/=]+)/gi

/** Masks the keys in a=crypto lines. The length stays the same, so that Content-Length stays correct. */
export function withoutKeys(text: string): string {
  if (!/a=crypto:/i.test(text)) return text
  return text.replace(mediaKeys, (_, name: string, key: string) => name + '*'.repeat(key.length))
}

/** Returns the message as it crossed the wire. Values of Authorization headers and media keys are masked. */
export function toText(message: SipMessage, raw: Uint8Array): string {
  const text = Buffer.from(raw.buffer, raw.byteOffset, raw.byteLength).toString('utf8')
  const shown = withoutKeys(text)
  return hasCredentials(message) ? shown.replace(credentials, '$1 [redacted]') : shown
}

/** Returns a place as the journal names it: `udp:192.0.2.1:5060`. */
export function remoteText({ transport, address, port }: Remote): string {
  return `${transport}:${address}:${port}`
}

/** Returns the place in a `remote` of a journal. `isStream`: whether messages went over a connection. */
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
