// The participants of a recorded leg, in the form of the metadata.
import { randomHex } from '../../lib/ids.ts'
import { escapeUser, serializeUri, tryParseUri } from '../../sip/message/uri.ts'
import type { JournalEvent, StartedFact } from '../journal/journal.ts'
import type { LegPeer } from '../leg/leg-options.ts'
import type { Participant, RecordedCall } from './metadata.ts'
import { labels } from './recording-media.ts'

interface CallFacts extends Pick<
  StartedFact,
  'call_sid' | 'direction' | 'from' | 'to' | 'caller_name' | 'host'
> {
  /** The SIP realm of the account. */
  readonly realm: string | null
  readonly recordingId: string | undefined
  readonly now: number
}

export function recordedCall({ direction, from, to, caller_name, ...facts }: CallFacts): RecordedCall {
  const { now, realm, host, call_sid, recordingId } = facts
  const domain = realm ?? host
  const caller = participant({ aor: aorOf(from, domain), now, shown: caller_name })
  const called = participant({ aor: aorOf(to, domain), now })
  const [party, other] = direction === 'inbound' ? [caller, called] : [called, caller]
  return {
    ...{ call_sid, recordingId, party, others: [other], startedAt: now, recordedSince: now },
    sessionId: randomHex(16),
    groupId: randomHex(16),
    said: { id: randomHex(16), label: labels.in },
    heard: { id: randomHex(16), label: labels.out },
  }
}

/** A room may have hundreds of members, and the document is sent again at each change. */
const maxOthers = 50

interface Company {
  readonly events: readonly JournalEvent[]
  /** The other members of the party's room, or undefined if it is in none. */
  readonly room: readonly LegPeer[] | undefined
  readonly domain: string
  readonly now: number
}

/** Returns the call with the participants that are heard now: those of the room, or the party of the last bridge. */
export function withOthers(call: RecordedCall, company: Company): RecordedCall {
  const { domain, now } = company
  const heard = heardIn(company)
  if (heard === undefined) return call
  const others = heard.slice(0, maxOthers).map(({ call_sid, party }) => {
    const aor = aorOf(party, domain)
    const key = call_sid ?? aor
    return call.others.find((other) => other.key === key) ?? participant({ key, aor, now })
  })
  const isSame =
    others.length === call.others.length && others.every((other, at) => other === call.others[at])
  return isSame ? call : { ...call, others }
}

/** Returns undefined if the participants have not changed. */
function heardIn({ events, room }: Company): readonly { call_sid?: string; party: string }[] | undefined {
  if (room !== undefined) return room
  const last = events.findLast(({ type }) => type === 'bridged' || type === 'unbridged')
  return last?.type === 'bridged' ? [{ party: last.party }] : undefined
}

interface Who {
  readonly key?: string
  readonly aor: string
  readonly now: number
  readonly shown?: string
}

function participant({ aor, key = aor, now, shown = '' }: Who): Participant {
  return { key, id: randomHex(16), aor, name: shown, since: now }
}

/** Returns the address of record; the name may be one. A caller may write any name, also one that only looks so. */
function aorOf(name: string, domain: string): string {
  const uri = /^(?:sip|tel):/i.test(name) ? tryParseUri(name) : undefined
  return uri === undefined ? `sip:${escapeUser(name)}@${domain}` : serializeUri(uri)
}
