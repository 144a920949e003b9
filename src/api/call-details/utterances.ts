// The words of a call, from its journal: who said what, all on one clock, and what their recognition took.
import type { JournalEvent } from '../../calls/journal.ts'

export interface Utterance {
  readonly speaker: 'caller' | 'called'
  readonly channel: number
  readonly text: string
  readonly start_ms: number
  readonly end_ms: number
  readonly confidence: number
  readonly language: string
  readonly vendor: string
  readonly recogniser: string
}

export interface RecognitionUsage {
  readonly vendor: string
  readonly recognitions: number
  readonly audio_ms: number
  readonly socket_ms: number
}

export interface Transcript {
  /** Epoch ms of 0 ms. */
  readonly origin_at: number
  readonly recording_start_ms?: number
  readonly is_truncated: boolean
  readonly utterances: readonly Utterance[]
  readonly usage: readonly RecognitionUsage[]
}

type Heard = Extract<JournalEvent, { readonly type: 'heard' }>

/** Returns undefined if no recogniser has heard the call. */
export function toTranscript(events: readonly JournalEvent[]): Transcript | undefined {
  if (!events.some(isOfRecognition)) return undefined
  const started = events.find((event) => event.type === 'started')
  const answered = events.find((event) => event.type === 'status' && event.call_status === 'in-progress')
  const recorded = events.find(({ type }) => type === 'recording-started')
  const origin_at = answered?.at ?? events[0]?.at ?? 0
  const isOutbound = started?.direction === 'outbound'
  const utterances = events.flatMap((event) =>
    event.type === 'heard' && event.transcript !== '' ? [toUtterance(event, origin_at, isOutbound)] : [],
  )
  return {
    origin_at,
    ...(recorded === undefined ? {} : { recording_start_ms: recorded.at - origin_at }),
    is_truncated: events.some(({ type }) => type === 'truncated'),
    utterances: withoutRepeats(utterances).sort((a, b) => a.start_ms - b.start_ms),
    usage: usageIn(events),
  }
}

function isOfRecognition({ type }: JournalEvent): boolean {
  return type === 'recognition-started' || type === 'heard' || type === 'recognition-ended'
}

function toUtterance(heard: Heard, origin_at: number, isOutbound: boolean): Utterance {
  const { channel, transcript, confidence, language, vendor, recogniser } = heard
  const start_ms = (heard.said_at ?? heard.at) - origin_at
  return {
    // The party of an outbound call was called; the one that it talks with is on the side of its caller.
    speaker: (channel === 1) === isOutbound ? 'called' : 'caller',
    channel,
    text: transcript,
    start_ms,
    end_ms: start_ms + (heard.duration_ms ?? 0),
    confidence,
    language,
    vendor,
    recogniser,
  }
}

/** Several recognisers may hear a party at once. Words that two have heard are those of the first in this list. */
const precedence = ['background', 'dial', 'dial-called', 'transcribe', 'gather']

function withoutRepeats(utterances: readonly Utterance[]): Utterance[] {
  const names = new Set([...precedence, ...utterances.map(({ recogniser }) => recogniser)])
  const kept: Utterance[] = []
  for (const name of names)
    kept.push(
      ...utterances.filter(
        (one) => one.recogniser === name && !kept.some((earlier) => areSameWords(one, earlier)),
      ),
    )
  return kept
}

/** Reports whether two were said by one party at one time: half of the shorter one is within the other. */
function areSameWords(a: Utterance, b: Utterance): boolean {
  const shared = Math.min(a.end_ms, b.end_ms) - Math.max(a.start_ms, b.start_ms)
  const shorter = Math.min(a.end_ms - a.start_ms, b.end_ms - b.start_ms)
  return a.channel === b.channel && shorter > 0 && shared * 2 >= shorter
}

function usageIn(events: readonly JournalEvent[]): readonly RecognitionUsage[] {
  const usage = new Map<string, RecognitionUsage>()
  for (const event of events) {
    if (event.type !== 'recognition-ended') continue
    const { vendor, audio_ms, socket_ms } = event
    const before = usage.get(vendor)
    usage.set(vendor, {
      vendor,
      recognitions: (before?.recognitions ?? 0) + 1,
      audio_ms: (before?.audio_ms ?? 0) + audio_ms,
      socket_ms: (before?.socket_ms ?? 0) + socket_ms,
    })
  }
  return [...usage.values()]
}
