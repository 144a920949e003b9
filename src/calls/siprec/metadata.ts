// The metadata that a recording server gets: the XML document of RFC 7865.

export interface Participant {
  /**
   * Identifies the participant from one snapshot to the next: a `call_sid`, or the URI of a party that is not a call
   * here.
   */
  readonly key: string
  /** 32 hexadecimal digits. */
  readonly id: string
  /** A SIP URI. */
  readonly aor: string
  /** Empty if there is no name. */
  readonly name: string
  /** The time at which it joined, in epoch ms. */
  readonly since: number
}

export interface RecordedStream {
  readonly id: string
  /** The label of its line in the SDP (RFC 4574). */
  readonly label: string
}

/** The party's voice is one stream, and all other voices are the second. Ids are 32 hexadecimal digits each. */
export interface RecordedCall {
  readonly sessionId: string
  readonly groupId: string
  /** The time at which the recording of the call began, in epoch ms. */
  readonly startedAt: number
  /** The time since which this server records it; later than `startedAt` if another server was lost. */
  readonly recordedSince: number
  readonly party: Participant
  readonly others: readonly Participant[]
  /** The streams of what the party says, and of what it hears. */
  readonly said: RecordedStream
  readonly heard: RecordedStream
  /** The name that the application gives to the recording. */
  readonly recordingId: string | undefined
  readonly call_sid: string
}

/** The namespace of the elements that RFC 7865 does not define. */
const ownNamespace = 'urn:switchhook:recording:1'

export function toMetadata(call: RecordedCall): string {
  const { party, others, said, heard } = call
  const session = base64(call.sessionId)
  return [
    '<?xml version="1.0" encoding="UTF-8"?>',
    `<recording xmlns="urn:ietf:params:xml:ns:recording:1" xmlns:sw="${ownNamespace}">`,
    '<datamode>complete</datamode>',
    `<group group_id="${base64(call.groupId)}">${associated(call.startedAt)}</group>`,
    `<session session_id="${session}">`,
    `<group-ref>${base64(call.groupId)}</group-ref>`,
    `<start-time>${toTime(call.startedAt)}</start-time>`,
    `<sw:call_sid>${escaped(call.call_sid)}</sw:call_sid>`,
    ...(call.recordingId === undefined
      ? []
      : [`<sw:recording_id>${escaped(call.recordingId)}</sw:recording_id>`]),
    '</session>',
    ...[party, ...others].map(toParticipant),
    ...[said, heard].map(
      ({ id, label }) =>
        `<stream stream_id="${base64(id)}" session_id="${session}"><label>${escaped(label)}</label></stream>`,
    ),
    `<sessionrecordingassoc session_id="${session}">${associated(call.recordedSince)}</sessionrecordingassoc>`,
    ...[party, ...others].map(
      ({ id, since }) =>
        `<participantsessionassoc participant_id="${base64(id)}" session_id="${session}">${associated(since)}</participantsessionassoc>`,
    ),
    streamsOf(party, said, heard),
    ...others.map((other) => streamsOf(other, heard, said)),
    '</recording>',
    '',
  ].join('\r\n')
}

function toParticipant({ id, aor, name }: Participant): string {
  const shown = name === '' ? '' : `<name>${escaped(name)}</name>`
  return `<participant participant_id="${base64(id)}"><nameID aor="${escaped(aor)}">${shown}</nameID></participant>`
}

function streamsOf({ id, since }: Participant, sent: RecordedStream, received: RecordedStream): string {
  return [
    `<participantstreamassoc participant_id="${base64(id)}">`,
    `<send>${base64(sent.id)}</send><recv>${base64(received.id)}</recv>${associated(since)}`,
    '</participantstreamassoc>',
  ].join('')
}

function associated(epochMs: number): string {
  return `<associate-time>${toTime(epochMs)}</associate-time>`
}

/** RFC 7865 §6.10: an id is the base64 form of a UUID. */
function base64(hex: string): string {
  return Buffer.from(hex, 'hex').toString('base64')
}

function toTime(epochMs: number): string {
  return new Date(epochMs).toISOString()
}

const entities: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&apos;',
}

/** Escapes text or a quoted value. Line breaks and characters that XML 1.0 §2.2 does not allow become spaces. */
function escaped(text: string): string {
  return text
    .toWellFormed()
    .replace(/[\p{Cc}\u2028\u2029\ufffe\uffff]/gu, ' ')
    .replace(/[&<>"']/g, (character) => entities[character] ?? '')
}
