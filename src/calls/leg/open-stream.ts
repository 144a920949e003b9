// Begins a stream: ring buffers shared by media and the streaming thread, first frame, keys, journal entries.
import type { AudioStream, StreamEnd, StreamEvent, Streams } from '../../contracts/audio-stream.ts'
import { actingFor } from '../../lib/acting-for.ts'
import { createRing, type Ring } from '../../lib/audio/audio-ring.ts'
import { AppError } from '../../lib/errors.ts'
import { shownUrl } from '../../lib/shown-url.ts'
import type { StreamPlan } from '../verb/stream-request.ts'
import { toCommonPayload, toNodePayload, type NodeFacts } from '../journal/hook-payloads.ts'
import type { Leg } from './leg.ts'
import type { RunningStream, StreamName } from './leg-streams.ts'
import { noteProblem } from './note-problem.ts'

export interface StreamPlace {
  readonly name: StreamName
  /** The leg that the stream belongs to: its facts, its journal, its commands. */
  readonly leg: Leg
  /** The leg whose audio is streamed: the other side of a bridge, or by default `leg`. */
  readonly on?: Leg
  readonly streams: Streams
  readonly node: () => NodeFacts
}

const wideRate = 16_000
const frameMs = 20
// Three seconds: a reader with a fixed rhythm is hardly ever late by more than one, and the first stream starts the
// thread that reads.
const framesGiven = 150
const unitsPerMs = 8
const taps = { mono: 'in', mixed: 'mixed', stereo: 'stereo' } as const

/** Opens a stream. It ends with the streamed leg at the latest. Throws AppError overloaded or account_share. */
export function openStream(plan: StreamPlan, place: StreamPlace): RunningStream {
  const { name, leg, on = leg } = place
  const { mixType, sampleRate, passesKeys } = plan
  const { promise: ended, resolve } = Promise.withResolvers<StreamEnd>()
  const channels = mixType === 'stereo' ? 2 : 1
  const rate = sampleRate >= wideRate ? wideRate : 8000
  const given = createRing({ samples: samplesAt(rate) * channels, frames: framesGiven })
  // Each clip has a rate of its own, so there is room for the highest.
  const says = plan.isBidirectional || plan.beeps ? createRing({ samples: samplesAt(wideRate) }) : undefined
  const tap = { of: taps[mixType], rate, ring: given } as const
  // Another stream of this name may replace it before this one has ended.
  const thread = `${name}:${given.id}`
  const { journal } = leg
  const finish = (end: StreamEnd): void => {
    stopKeys()
    on.signal.removeEventListener('abort', close)
    leg.signal.removeEventListener('abort', close)
    on.media.sound.part(thread)
    journal.note({ type: 'stream-ended', stream: name, by: end.by, because: end.because, ...end.figures })
    if (end.by === 'failed' || end.by === 'lost') noteProblem(leg, toProblem(end))
    resolve(end)
  }
  const follow = (event: StreamEvent): void => {
    if (event.type === 'ended') return finish(event.end)
    journal.note(toFact(event, name, plan))
  }
  const stream = actingFor(journal.facts.started.account_sid, () =>
    place.streams.open(
      {
        url: plan.url,
        headers: plan.headers,
        hello: JSON.stringify(toHello(plan, place)),
        given,
        channels,
        rate: sampleRate,
        says: says && toSpeech(plan, says),
      },
      follow,
    ),
  )
  const close = (): void => stream.close()
  const stopKeys = passesKeys
    ? on.onDigit((digit, { durationMs }) => sendKey(stream, digit, durationMs))
    : noKeys
  on.media.sound
    .join(thread, { taps: [tap], ...(says === undefined ? {} : { says }) })
    .catch((error: unknown) => noteProblem(leg, error))
  for (const { signal } of new Set([leg, on])) {
    signal.addEventListener('abort', close, { once: true })
    if (signal.aborted) close()
  }
  return {
    ended,
    close,
    setMode(mode) {
      stream.setMode(mode)
      journal.note({ type: 'stream-mode', stream: name, mode })
    },
  }
}

const samplesAt = (rate: number): number => (rate / 1000) * frameMs

const noKeys = (): void => undefined

function toSpeech({ isBidirectional, beeps, streamedRate }: StreamPlan, ring: Ring) {
  return { ring, beeps, isOneWay: !isBidirectional, streamedRate: isBidirectional ? streamedRate : undefined }
}

function sendKey(stream: AudioStream, dtmf: string, durationMs: number): void {
  stream.send(JSON.stringify({ event: 'dtmf', dtmf, duration: String(durationMs * unitsPerMs) }))
}

function toFact(event: Exclude<StreamEvent, { type: 'ended' }>, stream: StreamName, plan: StreamPlan) {
  switch (event.type) {
    case 'opened': {
      const { url, mixType: mix_type, sampleRate: sample_rate } = plan
      return { type: 'stream-opened', stream, url: shownUrl(url), mix_type, sample_rate } as const
    }
    case 'stalled':
      return { type: 'stream-stalled', stream } as const
    case 'recovered':
      return { type: 'stream-recovered', stream, lost_frames: event.lost_frames } as const
    case 'misunderstood':
      return { type: 'stream-misunderstood', stream, sentence: event.because } as const
    default:
      return event satisfies never
  }
}

function toProblem({ by, because }: StreamEnd): AppError {
  if (by === 'lost') return new AppError('stream_lost', because)
  return new AppError('stream_failed', because)
}

/** Returns the facts of the call as in hooks, but in camelCase. Metadata of the application overrides them. */
function toHello(plan: StreamPlan, { leg, node }: StreamPlace): object {
  const { facts } = leg.journal
  const { started } = facts
  const common = { ...toCommonPayload(facts), ...toNodePayload(facts, node()) }
  const named = Object.entries(common).map(([key, value]) => [toCamelCase(key), value])
  return {
    ...Object.fromEntries(named),
    callerId: started.caller_id ?? started.caller_name,
    sampleRate: plan.sampleRate,
    mixType: plan.mixType,
    ...plan.metadata,
  }
}

function toCamelCase(name: string): string {
  return name.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase())
}
