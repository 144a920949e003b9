// The SIP messages in a journal: as the API lists them, and as packets between two endpoints.
import { readRemote } from '../../calls/journal.ts'
import type { Event } from './journal.ts'
import type { CapturedMessage, Endpoint } from './pcap.ts'

/** The members of a SIP event, unchecked, since a journal may come from another version. */
type StoredMessage = Record<'at' | 'direction' | 'summary' | 'remote' | 'raw' | 'is_repeated', unknown>

export function messagesIn(events: readonly Event[]): StoredMessage[] {
  return events.flatMap(({ type, at, direction, summary, remote, raw, is_repeated }) =>
    type === 'sip'
      ? [{ at, direction, summary, remote, raw, is_repeated: is_repeated === true ? 1 : 0 }]
      : [],
  )
}

export function capturedIn(events: readonly Event[]): CapturedMessage[] {
  const started = events.find(({ type }) => type === 'started')
  const local = toEndpoint(String(started?.['local_sip_address']))
  return events.flatMap(({ type, at, direction, remote, raw }): CapturedMessage[] => {
    if (type !== 'sip') return []
    const { isStream, place } = readRemote(String(remote))
    const far = toEndpoint(place)
    const [from, to] = direction === 'sent' ? [local, far] : [far, local]
    return [{ at, isStream, from, to, text: String(raw) }]
  })
}

/** Parses `192.0.2.1:5060`, `2001:db8::1:5060` (as the journal writes it) and `[2001:db8::1]:5060`. */
function toEndpoint(place: string): Endpoint {
  const end = place.lastIndexOf(':')
  const port = Number(place.slice(end + 1))
  return {
    address: place.slice(0, Math.max(end, 0)).replace(/^\[|\]$/g, ''),
    port: Number.isInteger(port) && port >= 0 && port <= 65_535 ? port : 0,
  }
}
