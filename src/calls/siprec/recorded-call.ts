// Who takes part in a leg that is recorded, in the words of the metadata.
import { randomHex } from '../../lib/ids.ts'
import { escapeUser, parseUri, serializeUri } from '../../sip/message/uri.ts'
import type { JournalEvent, StartedFact } from '../journal/journal.ts'
import type { Participant, RecordedCall } from './metadata.ts'
import { labels } from './recording-media.ts'

interface CallFacts extends Pick<
  StartedFact,
  'call_sid' | 'direction' | 'from' | 'to' | 'caller_name' | 'host'
> {
  /** That of the account. */
  readonly realm: string | null
  readonly recordingId: string | undefined
  readonly now: number
}

export function recordedCall({ direction, from, to, caller_name, ...facts }: CallFacts): RecordedCall {
  const { now, realm, host, call_sid, recordingId } = facts
  const domain = realm ?? host
  const caller = participant(from, domain, now, caller_name)
  const called = participant(to, domain, now)
  const [party, other] = direction === 'inbound' ? [caller, called] : [called, caller]
  return {
    ...{ call_sid, recordingId, party, other, startedAt: now, recordedSince: now },
    sessionId: randomHex(16),
    groupId: randomHex(16),
    said: { id: randomHex(16), label: labels.in },
    heard: { id: randomHex(16), label: labels.out },
  }
}

/** The same with the participant who is heard now: the one that the party was joined with last, as long as they are. */
export function withOther(
  call: RecordedCall,
  events: readonly JournalEvent[],
  domain: string,
  now: number,
): RecordedCall {
  const last = events.findLast(({ type }) => type === 'bridged' || type === 'unbridged')
  if (last?.type !== 'bridged') return call
  const other = participant(last.party, domain, now)
  return other.aor === call.other.aor ? call : { ...call, other }
}

function participant(name: string, domain: string, since: number, shown = ''): Participant {
  return { id: randomHex(16), aor: aorOf(name, domain), name: shown, since }
}

/** What the call names may be a URI already. */
function aorOf(name: string, domain: string): string {
  return /^(?:sip|tel):/i.test(name) ? serializeUri(parseUri(name)) : `sip:${escapeUser(name)}@${domain}`
}
