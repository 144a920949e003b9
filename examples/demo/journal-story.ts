// The journal of a call as a short story: one line for each fact that a reader looks for first, in the order of events.

import type { FactName } from '../../src/calls/journal.ts'

/** An event as the REST API returns it. */
export interface StoryEvent {
  readonly at: number
  readonly type: string
  readonly [fact: string]: unknown
}

/** Returns the far end of the call. */
const farEndOf = ({ direction, from, to }: StoryEvent): string => String(direction === 'inbound' ? from : to)
const seconds = (ms: unknown): string => `${(Number(ms) / 1000).toFixed(1)} s`

type Sentence = (event: StoryEvent, started: StoryEvent) => string | undefined

function withVerbs(event: StoryEvent): string {
  const verbs = event['verbs'] as readonly string[]
  return verbs.length === 0 ? ', without verbs' : `: ${verbs.join(', ')}`
}

/** Returns the hook and its URL: the sentence of a failed hook only says what is wrong. */
const whichHook = ({ hook, url }: StoryEvent): string =>
  typeof hook === 'string' && typeof url === 'string' ? `${hook} hook ${url}: ` : ''

/** Joins a sentence of the journal and its cure, which need a full stop between them. */
function withCure({ sentence, cure, code }: StoryEvent): string {
  const because = String(sentence).replace(/\.$/, '')
  return `${because}${typeof cure === 'string' ? `. ${cure}` : ''}${typeof code === 'string' ? ` (${code})` : ''}`
}

/** Adds the code of an event to its sentence. */
function withCode(said: string, { code }: StoryEvent): string {
  return typeof code === 'string' && !said.includes(code) ? `${said} (${code})` : said
}

/** Returns the error that an event reports. */
const errorOf = ({ code, sentence }: StoryEvent): string | undefined =>
  typeof code === 'string' && typeof sentence === 'string' ? `${code} ${sentence}` : undefined

/** Returns the end in the journal's words, with the names of the two sides. */
function theEnd({ termination_reason, because }: StoryEvent, { direction, from, to }: StoryEvent): string {
  const farEnd = String(direction === 'inbound' ? from : to)
  const isByFarEnd =
    termination_reason === (direction === 'inbound' ? 'caller hungup' : 'called party hungup')
  if (isByFarEnd) return `the end: ${farEnd} hung up`
  if (typeof because === 'string') return `the end: ${because}`
  return `the end: ${String(termination_reason)}`
}

/** Returns the outcome for a gateway. For other destinations the SIP messages show it, if there were any. */
function attemptStory({ trunk, place, sip_gateway_sid, outcome, cause, post_dial_delay_ms }: StoryEvent) {
  if (sip_gateway_sid === undefined && outcome !== 'silent' && outcome !== 'unreachable') return undefined
  const where = sip_gateway_sid === undefined ? String(place) : `gateway ${String(place)} of ${String(trunk)}`
  return `${where}: ${String(outcome)}, ${String(cause)}, after ${seconds(post_dial_delay_ms)}`
}

// The INVITE, its response and the BYE; the other SIP messages are for a ladder diagram.
const toldSip = /^(INVITE|200 OK|BYE|CANCEL|[4-6]\d\d .*)$/

const frameMs = 20
/** The kinds of audio that an audio server is sent. */
const modes: Readonly<Record<string, string>> = {
  on: 'sound again',
  silent: 'silence',
  paused: 'nothing',
}

/** The sentence of each fact of the journal; undefined: the story leaves it out. */
const sentences: Readonly<Record<FactName, Sentence | undefined>> = {
  started: ({ from, to }) => `a call from ${String(from)} to ${String(to)}`,
  sip: ({ direction, summary }) =>
    toldSip.test(String(summary)) ? `SIP: ${String(direction)} ${String(summary)}` : undefined,
  decision: ({ rule, sentence, outcome }) =>
    rule === 'api'
      ? `a client of the REST API asks for ${String(outcome)}`
      : `${String(sentence).replace(/\.$/, '')}: ${String(outcome)} (${String(rule)})`,
  'hook-answered': (event) =>
    `the ${String(event['hook'])} hook answered in ${String(event['duration_ms'])} ms${withVerbs(event)}`,
  'hook-failed': (event) => `${whichHook(event)}${withCure(event)}`,
  'media-open': ({ codec, port }) => `RTP: ${String(codec)} at port ${String(port)}`,
  'verb-ended': ({ verb, outcome, duration_ms }) =>
    `${String(verb)}: ${String(outcome)} after ${(Number(duration_ms) / 1000).toFixed(1)} s`,
  dialled: ({ to }) => `calls ${String(to)}`,
  bridged: ({ party }, { direction, from, to }) =>
    `${String(direction === 'inbound' ? from : to)} and ${String(party)} talk`,
  unbridged: ({ because }) => `the two part: ${String(because)}`,
  muted: ({ party }) => `${String(party)} is muted: the other one does not hear it`,
  unmuted: ({ party }) => `${String(party)} is heard again`,
  whispered: ({ party }) => `${String(party)} is whispered to: the other one does not hear that`,
  held: ({ party }) => `${String(party)} puts the other one on hold`,
  resumed: ({ party }) => `${String(party)} hears the other one again`,
  'hold-sound': ({ party, source }) => `on hold ${String(party)} hears ${String(source)}`,
  'transfer-asked': ({ party, refer_to }) =>
    `${String(party)} asks that the other one be sent to ${String(refer_to)}`,
  'transfer-refused': (event) =>
    `the transfer by ${String(event['party'])} to ${String(event['refer_to'])} fails with ${String(event['sip_status'])}: ${withCure(event)}`,
  queued: ({ queue, position }, started) =>
    `${farEndOf(started)} waits in the queue "${String(queue)}": ${String(position)} before it`,
  unqueued: ({ queue, waited_ms, because }, started) =>
    `${farEndOf(started)} left the queue "${String(queue)}" after ${seconds(waited_ms)}: ${String(because)}`,
  'awaits-caller': ({ queue }, started) =>
    `${farEndOf(started)} waits for a caller of the queue "${String(queue)}"`,
  'handed-over': ({ queue, caller, agent, waited_ms }) =>
    `${String(caller)} was handed over from the queue "${String(queue)}" to ${String(agent)} after ${seconds(waited_ms)}`,
  'room-waiting': ({ room }) => `waits for the conference ${String(room)} to begin`,
  'room-joined': ({ room, members }) =>
    `is in the conference ${String(room)} with ${Number(members) - 1} other${members === 2 ? '' : 's'}`,
  'room-left': ({ room, because }) => `leaves the conference ${String(room)}: ${String(because)}`,
  'room-muted': () => 'is muted in the conference',
  'room-unmuted': () => 'is heard in the conference again',
  'room-held': () => 'is on hold in the conference: neither heard nor hearing',
  'room-resumed': () => 'is in the conference again, after a hold',
  'recording-started': () => 'the platform records the call',
  'recording-paused': () => 'the recording pauses: it goes on in silence',
  'recording-resumed': () => 'the recording goes on with sound',
  'recording-stopped': () => 'the recording stops',
  'recording-gap': ({ missing_ms }) => `${seconds(missing_ms)} of the recording are missing`,
  'recording-ended': ({ duration_ms, because }) =>
    `${seconds(duration_ms)} are recorded${typeof because === 'string' ? `: ${because}` : ''}`,
  'recording-stored': ({ place }) =>
    `the recording is stored ${place === 'disk' ? 'on the disk of the platform' : 'in the bucket of the account'}`,
  'recording-failed': ({ because }) => `the recording has failed: ${String(because)}`,
  'stream-opened': ({ url }) => `the audio server ${String(url)} hears the call`,
  'stream-mode': ({ mode }) => `the audio server gets ${String(modes[String(mode)] ?? mode)}`,
  'stream-misunderstood': ({ sentence }) => `the audio server is not understood: ${String(sentence)}`,
  'stream-stalled': () => 'the audio server is slow, and loses sound',
  'stream-recovered': ({ lost_frames }) =>
    `the audio server keeps up again, and has lost ${seconds(Number(lost_frames) * frameMs)}`,
  'stream-ended': ({ because }) => `the audio server hears the call no more: ${String(because)}`,
  'siprec-started': ({ server }) => `${String(server)} records the call`,
  'siprec-paused': () => 'the recording pauses',
  'siprec-resumed': () => 'the recording goes on',
  'siprec-ended': ({ because }) => `the recording ends: ${String(because)}`,
  'media-path': ({ path, because }) =>
    `the sound goes ${path === 'no-media' ? 'past' : 'through'} the platform (${String(path)}): ${String(because)}`,
  'dial-ended': ({ to, call_status, sentence }) =>
    `${String(to)}: ${String(call_status)}, ${String(sentence)}`,
  'recognition-started': ({ vendor, language, after_ms }) =>
    `${String(vendor)} listens (${String(language)}), ready after ${String(after_ms)} ms`,
  heard: ({ transcript, channel, vendor }) =>
    transcript === ''
      ? `${String(vendor)} heard words that are hidden`
      : `${channel === 2 ? 'the other one' : 'the caller'} said: "${String(transcript)}"`,
  'recognition-reconnecting': ({ vendor, because }) =>
    `the connection to ${String(vendor)} is made again: ${String(because)}`,
  'recognition-ended': ({ vendor, audio_ms, because, by }) =>
    `${String(vendor)} listens no more${by === 'closed' ? '' : `: ${String(because)}`}, and heard ${seconds(audio_ms)}`,
  digit: ({ digit }) => `key ${String(digit)}`,
  'attempt-ended': attemptStory,
  'identity-checked': ({ attest, reason }) =>
    typeof attest !== 'string'
      ? `the calling number is not proven: ${String(reason)}`
      : `the calling number is proven, with attestation ${attest}`,
  rang: () => 'the caller hears ringing (SIP 180)',
  status: ({ call_status, sip_status }) => `status ${String(call_status)} (SIP ${String(sip_status)})`,
  refusal: withCure,
  problem: withCure,
  note: ({ sentence }) => String(sentence),
  'media-closed': ({ packets_sent, packets_received, packets_lost, jitter_ms }) =>
    `RTP: ${String(packets_sent)} packets sent, ${String(packets_received)} received, ${String(packets_lost)} lost, ` +
    `jitter ${Number(jitter_ms).toFixed(1)} ms`,
  ended: theEnd,
  attempt: undefined,
  'branch-answered': undefined,
  application: undefined,
  'hook-asked': undefined,
  'verb-started': undefined,
  'media-first-packet': undefined,
  'media-moved': undefined,
  'media-ignored': undefined,
  'media-forged': undefined,
  'media-held': undefined,
  'media-resumed': undefined,
  'media-timeout': undefined,
  tagged: undefined,
  alerted: undefined,
  truncated: undefined,
  'socket-opened': undefined,
  'socket-lost': undefined,
  'socket-closed': undefined,
}

/** A journal of another version may have facts of other types. */
const byType: Readonly<Record<string, Sentence | undefined>> = sentences

/** Returns why the platform refused a call, with the cure. */
export function refusalIn(events: readonly StoryEvent[]): string | undefined {
  const refusal = events.find(({ type }) => type === 'refusal')
  return refusal === undefined ? undefined : withCure(refusal)
}

/** The time within which two events of one error count as one: a failed question, and then the verb that asked it. */
const sameMs = 1_000

/**
 * Reports whether an event belongs to the beginning of a call. A caller may hear ringing before the application has
 * answered. The status hook is notified after that, from the beginning, and the journal records these statuses;
 * nothing has changed for the caller.
 */
function isBeginning({ type, call_status }: StoryEvent): boolean {
  return type === 'status' && (call_status === 'trying' || call_status === 'ringing')
}

/**
 * Returns lines of seconds since the beginning and a sentence. Consecutive keys share a line, as do events of an error.
 */
export function journalStory(events: readonly StoryEvent[]): string[] {
  const started = events[0]
  if (started === undefined) return []
  let hasRung = false
  let told: { readonly error: string; readonly at: number } | undefined
  const lines: { at: number; text: string; isKey: boolean }[] = []
  for (const event of events) {
    const said = byType[event.type]?.(event, started)
    const text = said === undefined ? undefined : withCode(said, event)
    if (text === undefined || (hasRung && isBeginning(event))) continue
    hasRung ||= event.type === 'rang'
    const error = errorOf(event)
    if (
      error !== undefined &&
      error === told?.error &&
      event.at - told.at < sameMs &&
      event.type !== 'hook-failed'
    )
      continue
    if (error !== undefined) told = { error, at: event.at }
    const last = lines.at(-1)
    const isKey = event.type === 'digit'
    if (isKey && last?.isKey === true)
      last.text = `keys ${last.text.replace(/^keys? /, '')} ${String(event['digit'])}`
    else lines.push({ at: event.at, text, isKey })
  }
  return lines.map(({ at, text }) => `${((at - started.at) / 1000).toFixed(2).padStart(7)} s  ${text}`)
}
