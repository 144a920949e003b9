// The parties of an incoming recording session and their streams, from its metadata (RFC 7865) or from the header that
// Cisco sends instead.
import { AppError } from '../../lib/errors.ts'
import { bodyParts, mediaTypeOf, sdpOf, type BodyPart } from '../../sip/message/body.ts'
import { splitList } from '../../sip/message/list.ts'
import { headerOf, headersOf, type SipMessage } from '../../sip/message/message.ts'
import { parseNameAddr } from '../../sip/message/name-addr.ts'
import { requires } from '../../sip/message/session-expires.ts'
import { tryParseUri, unescapeUri } from '../../sip/message/uri.ts'
import { allNamed, readXml, unreadable, type XmlElement } from './read-xml.ts'

/** A participant in the form that hooks get. */
export interface Participant {
  readonly participant: 'caller' | 'callee'
  readonly uri_user: string
  readonly uri_host: string
}

export interface RecordedParties {
  /** The caller first. Empty if the metadata cannot be read: the session is recorded without names. */
  readonly participants: readonly Participant[]
  /** The error siprec_unreadable that says why there are no participants. */
  readonly unread?: AppError
  /** The index of the caller's stream among the lines of the SDP. */
  readonly callerLine: number
}

interface Party {
  readonly user: string
  readonly host: string
  /** The index of its stream among the lines of the SDP, or undefined if the message does not say it. */
  readonly line: number | undefined
}

const metadataTypes: ReadonlySet<string> = new Set(['application/rs-metadata+xml', 'application/rs-metadata'])
const ciscoHeader = 'x-cisco-recording-participant'
// Hooks have a caller and a callee only, so a few parties are enough.
const maxParties = 16

/**
 * Reports whether an INVITE begins a recording session (RFC 7866 §6.1.1), with the platform as the recording server.
 */
export function isRecordingSession(request: SipMessage): boolean {
  return (
    requires(request, 'siprec') ||
    headerOf(request, ciscoHeader) !== undefined ||
    metadataIn(request) !== undefined
  )
}

/** Returns undefined if the message has no metadata, as most re-INVITEs. */
export function updatedParties(message: SipMessage): RecordedParties | undefined {
  return metadataIn(message) === undefined ? undefined : recordedParties(message)
}

/** Returns the parties. What cannot be read in the metadata ends no recording: there are then no participants. */
export function recordedParties(request: SipMessage): RecordedParties {
  try {
    return readParties(toldIn(request))
  } catch (error) {
    if (error instanceof AppError) return { participants: [], callerLine: 0, unread: error }
    throw error
  }
}

/** The parts of a message that tell of the parties. */
interface Told {
  readonly metadata: BodyPart | undefined
  /** The values of X-Cisco-Recording-Participant. */
  readonly named: readonly string[]
  /** Empty if it has none. */
  readonly sdp: string
}

function toldIn(message: SipMessage): Told {
  return {
    metadata: metadataIn(message),
    named: headersOf(message, ciscoHeader),
    sdp: sdpOf(message) ?? '',
  }
}

function readParties({ metadata, named, sdp }: Told): RecordedParties {
  const parties = metadata === undefined ? ciscoParties(named) : partiesOf(readXml(metadata.content), sdp)
  const [first, second] = inOrder(parties)
  if (first === undefined) throw unreadable('it names no participant')
  const participants = [
    toParticipant('caller', first),
    ...(second === undefined ? [] : [toParticipant('callee', second)]),
  ]
  return { participants, callerLine: first.line ?? (second?.line === 0 ? 1 : 0) }
}

export function partiesSentence({ participants }: RecordedParties): string {
  if (participants.length === 0) return 'a recording session without names'
  const named = participants.map(
    ({ participant, uri_user, uri_host }) => `${participant} ${uri_user}@${uri_host}`,
  )
  return `a recording session of ${named.join(' and ')}`
}

function metadataIn(message: SipMessage): BodyPart | undefined {
  if (message.body.byteLength === 0) return undefined
  const type = mediaTypeOf(headerOf(message, 'content-type') ?? '')
  if (!type.startsWith('multipart/') && !metadataTypes.has(type)) return undefined
  return bodyParts(message).find((part) => metadataTypes.has(mediaTypeOf(part.type)))
}

/**
 * Parses `X-Cisco-Recording-Participant: sip:1001@192.0.2.1;media-index="0"`: one header for each party, with the lines
 * of its media.
 */
function ciscoParties(values: readonly string[]): readonly Party[] {
  return values
    .flatMap(splitList)
    .slice(0, maxParties)
    .flatMap((value) => {
      const lines = /;\s*media-index\s*=\s*(?:"\s*)?(\d{1,2})/i.exec(value)?.[1]
      const party = partyAt(addressIn(value))
      return party === undefined ? [] : [{ ...party, line: lines === undefined ? undefined : Number(lines) }]
    })
}

function partiesOf(document: XmlElement, sdp: string): readonly Party[] {
  const labels = labelsOf(sdp)
  const lineOf = new Map(
    allNamed(document, 'stream').map((stream) => [
      idOf(stream, 'stream_id'),
      labels.indexOf(textOf(stream, 'label') ?? ''),
    ]),
  )
  const sent = allNamed(document, 'participantstreamassoc')
  const parties = allNamed(document, 'participant')
    .slice(0, maxParties)
    .flatMap((participant) => {
      const name = allNamed(participant, 'nameID')[0]
      // Drafts of RFC 7865 had the address directly in the participant.
      const aor = name?.attributes.get('aor') ?? textOf(name ?? participant, 'aor')
      const party = aor === undefined ? undefined : partyAt(aor.trim())
      if (party === undefined) return []
      const id = idOf(participant, 'participant_id')
      // The drafts had the streams inside the participant, and each name in an element id.
      const streams = [participant, ...sent.filter((one) => one.attributes.get('participant_id') === id)]
      const lines = streams
        .flatMap((one) => allNamed(one, 'send'))
        .map((send) => lineOf.get(textOf(send, 'id') ?? send.text.trim()) ?? -1)
      return [{ ...party, line: lines.find((line) => line >= 0) }]
    })
  return namedByCall(document, parties)
}

/**
 * Replaces the parties by those that some clients copy from the From and To headers of the call. Streams are matched by
 * user name.
 */
function namedByCall(document: XmlElement, parties: readonly Party[]): readonly Party[] {
  const [data] = allNamed(document, 'callData')
  if (data === undefined) return parties
  const [from, to] = (['from', 'to'] as const).map((name) => {
    const value = textOf(data, `${name}hdr`) ?? textOf(data, name)
    return value === undefined ? undefined : partyAt(addressIn(value.trim()))
  })
  if (from === undefined || to === undefined) return parties
  const lineOf = ({ user }: Party): number | undefined => parties.find((one) => one.user === user)?.line
  const [caller, called] = [lineOf(from), lineOf(to)]
  // An unmatched caller gets the line that is left, so that it is not sorted after the callee.
  return [
    { ...from, line: caller ?? (called === 0 ? 1 : 0) },
    { ...to, line: undefined },
  ]
}

/** Sorts the parties by their lines: the first stream is that of the caller. */
function inOrder(parties: readonly Party[]): readonly Party[] {
  if (parties.some(({ line }) => line === undefined)) return parties
  return parties.toSorted((a, b) => (a.line ?? 0) - (b.line ?? 0))
}

/** Returns the label of each line of the SDP, empty for a line without one. */
function labelsOf(sdp: string): readonly string[] {
  const lines = sdp.split(/^(?=m=)/m).slice(1)
  return lines.map((line) => /^a=label:(\S+)/m.exec(line)?.[1] ?? '')
}

function toParticipant(participant: Participant['participant'], { user, host }: Party): Participant {
  return { participant, uri_user: user, uri_host: host }
}

function partyAt(text: string): Party | undefined {
  const uri = tryParseUri(text)
  if (uri === undefined) return undefined
  if (uri.scheme === 'tel') return { user: uri.number, host: '', line: undefined }
  return { user: unescapeUri(uri.user ?? ''), host: uri.host, line: undefined }
}

function addressIn(value: string): string {
  try {
    return parseNameAddr(value).uri
  } catch {
    return ''
  }
}

function idOf(element: XmlElement, name: string): string | undefined {
  return element.attributes.get(name) ?? element.attributes.get('id')
}

function textOf(element: XmlElement, name: string): string | undefined {
  return allNamed(element, name)[0]?.text.trim()
}
