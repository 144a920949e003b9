// A call's journal as a trace: spans in the JSON form of OpenTelemetry, grouped as portals of this API draw them.
import { traceIdOf } from '../../lib/ids.ts'
import type { WireOf } from '../define/field.ts'
import type { FactName } from '../../calls/journal.ts'
import type { Event } from './journal.ts'
import type { traceField } from './trace-field.ts'

export interface Span {
  readonly traceId: string
  readonly spanId: string
  readonly parentSpanId?: string
  readonly name: string
  readonly kind: 'SPAN_KIND_SERVER' | 'SPAN_KIND_CLIENT' | 'SPAN_KIND_INTERNAL'
  /** Nanoseconds since 1970 as text: too large for a number. */
  readonly startTimeUnixNano: string
  readonly endTimeUnixNano: string
  readonly attributes: readonly Attribute[]
}

export interface Attribute {
  readonly key: string
  readonly value:
    { readonly stringValue: string } | { readonly doubleValue: number } | { readonly boolValue: boolean }
}

/** The name of the span that an event becomes. One that lasts also has the events that end it. */
interface Shown {
  readonly name: (event: Event) => string
  readonly ends?: readonly FactName[]
}

/** Each fact of the journal as a span of its own; undefined: it is none. */
const shown: Readonly<Record<FactName, Shown | undefined>> = {
  'hook-asked': { ends: ['hook-answered', 'hook-failed'], name: ({ hook }) => `hook ${String(hook)}` },
  bridged: { ends: ['unbridged'], name: ({ with: other }) => `bridge ${String(other)}` },
  'room-joined': { ends: ['room-left'], name: ({ room }) => `conference ${String(room)}` },
  'verb-started': { ends: ['verb-ended'], name: ({ verb }) => `verb ${String(verb)}` },
  rang: { name: () => 'rang' },
  status: { name: ({ call_status }) => `status ${String(call_status)}` },
  decision: { name: ({ rule }) => `decision ${String(rule)}` },
  dialled: { name: ({ to }) => `dialled ${String(to)}` },
  'dial-ended': { name: ({ to, sip_status }) => `dial ended ${String(to)} ${String(sip_status)}` },
  muted: { name: ({ call_sid }) => `muted ${String(call_sid)}` },
  unmuted: { name: ({ call_sid }) => `unmuted ${String(call_sid)}` },
  whispered: { name: ({ call_sid }) => `whispered to ${String(call_sid)}` },
  held: { name: ({ call_sid }) => `held by ${String(call_sid)}` },
  resumed: { name: ({ call_sid }) => `resumed by ${String(call_sid)}` },
  'hold-sound': { name: ({ call_sid, source }) => `hold sound ${String(source)} for ${String(call_sid)}` },
  'transfer-asked': { name: ({ call_sid }) => `transfer by ${String(call_sid)}` },
  'transfer-refused': {
    name: ({ call_sid, sip_status }) => `no transfer by ${String(call_sid)} ${String(sip_status)}`,
  },
  queued: { name: ({ queue, position }) => `queued ${String(queue)} ${String(position)}` },
  unqueued: { name: ({ queue, leave_reason }) => `left queue ${String(queue)} ${String(leave_reason)}` },
  'awaits-caller': { name: ({ queue }) => `waits for a caller of ${String(queue)}` },
  'handed-over': {
    name: ({ caller_sid, agent_sid }) => `${String(caller_sid)} handed over to ${String(agent_sid)}`,
  },
  'room-waiting': { name: ({ room }) => `waits for conference ${String(room)}` },
  'room-muted': { name: () => 'muted in conference' },
  'room-unmuted': { name: () => 'unmuted in conference' },
  'room-held': { name: () => 'on hold in conference' },
  'room-resumed': { name: () => 'resumed in conference' },
  'recognition-started': {
    ends: ['recognition-ended'],
    name: ({ recogniser, vendor }) => `recognition ${String(recogniser)} by ${String(vendor)}`,
  },
  heard: { name: ({ transcript }) => `heard ${String(transcript)}` },
  digit: { name: ({ digit }) => `digit ${String(digit)}` },
  'siprec-started': { name: ({ server }) => `recorded by ${String(server)}` },
  'siprec-ended': { name: ({ because }) => `recording ended: ${String(because)}` },
  refusal: { name: ({ code }) => `refusal ${String(code)}` },
  problem: { name: ({ code }) => `problem ${String(code)}` },
  attempt: undefined,
  'attempt-ended': undefined,
  'branch-answered': undefined,
  'identity-checked': undefined,
  started: undefined,
  sip: undefined,
  application: undefined,
  'hook-answered': undefined,
  'hook-failed': undefined,
  'verb-ended': undefined,
  'media-open': undefined,
  'media-first-packet': undefined,
  'media-moved': undefined,
  'media-ignored': undefined,
  'media-forged': undefined,
  'media-held': undefined,
  'media-resumed': undefined,
  'media-path': undefined,
  'media-timeout': undefined,
  'media-closed': undefined,
  tagged: undefined,
  alerted: undefined,
  note: undefined,
  ended: undefined,
  truncated: undefined,
  'recording-started': undefined,
  'recording-paused': undefined,
  'recording-resumed': undefined,
  'recording-stopped': undefined,
  'recording-gap': undefined,
  'recording-ended': undefined,
  'recording-stored': undefined,
  'recording-failed': undefined,
  'siprec-paused': undefined,
  'siprec-resumed': undefined,
  'room-left': undefined,
  'socket-opened': undefined,
  'socket-lost': undefined,
  'socket-closed': undefined,
  'recognition-reconnecting': undefined,
  'recognition-ended': undefined,
  'stream-opened': undefined,
  'stream-stalled': undefined,
  'stream-recovered': undefined,
  'stream-misunderstood': undefined,
  'stream-mode': undefined,
  'stream-ended': undefined,
  unbridged: undefined,
}

/** An older journal may have facts of other types. */
const byType: Readonly<Record<string, Shown | undefined>> = shown

/** Returns the trace of one call's events, in their order; none for no events. */
export function toTrace(call_sid: string, events: readonly Event[]): WireOf<typeof traceField> {
  return {
    resourceSpans: [
      {
        resource: { attributes: [{ key: 'service.name', value: { stringValue: 'switchhook' } }] },
        instrumentationLibrarySpans: [
          {
            instrumentationLibrary: { name: 'journal', version: '1' },
            spans: toSpans(call_sid, events),
          },
        ],
      },
    ],
  }
}

function toSpans(call_sid: string, events: readonly Event[]): Span[] {
  const traceId = traceIdOf(call_sid)
  const first = events[0]
  const last = events.at(-1)
  if (first === undefined || last === undefined) return []
  const root = spanIdOf(traceId, first)
  const span = (
    { name, kind }: Pick<Span, 'name' | 'kind'>,
    begin: Event,
    end: Event,
    parentSpanId?: string,
  ): Span => ({
    traceId,
    spanId: spanIdOf(traceId, begin),
    ...(parentSpanId === undefined ? {} : { parentSpanId }),
    name,
    kind,
    startTimeUnixNano: toNano(begin.at),
    endTimeUnixNano: toNano(end.at),
    attributes: attributesOf(begin === end ? begin : { ...begin, ...end }),
  })
  const call = span({ name: `${String(first['direction'])} call`, kind: 'SPAN_KIND_SERVER' }, first, last)
  const inner = events.flatMap((event, index) => {
    const as = byType[event.type]
    if (as === undefined) return []
    const end = as.ends === undefined ? event : (endOf(event, events.slice(index + 1), as.ends) ?? last)
    const kind = event.type === 'hook-asked' ? 'SPAN_KIND_CLIENT' : 'SPAN_KIND_INTERNAL'
    return [span({ name: as.name(event), kind }, event, end, root)]
  })
  return [call, ...inner]
}

/** The facts that an event and its end share. */
const names = ['hook', 'verb', 'recogniser'] as const

/** Returns the next end of the same hook, verb or recogniser: a call never runs one twice at the same time. */
function endOf(begin: Event, later: readonly Event[], ends: readonly string[]): Event | undefined {
  return later.find(
    (event) => ends.includes(event.type) && names.every((name) => event[name] === begin[name]),
  )
}

/** Returns 8 bytes: the trace's first four and the event's number, so that two legs in one trace never share a span. */
function spanIdOf(traceId: string, { seq }: Event): string {
  return traceId.slice(0, 8) + seq.toString(16).padStart(8, '0')
}

function toNano(ms: number): string {
  return `${ms}000000`
}

const frame = new Set(['seq', 'at', 'type'])

/** Returns facts of one value; lists become text. */
function attributesOf(event: Event): Attribute[] {
  return Object.entries(event).flatMap(([key, value]): Attribute[] => {
    if (frame.has(key)) return []
    if (typeof value === 'string') return [{ key, value: { stringValue: value } }]
    if (typeof value === 'number') return [{ key, value: { doubleValue: value } }]
    if (typeof value === 'boolean') return [{ key, value: { boolValue: value } }]
    return Array.isArray(value) ? [{ key, value: { stringValue: value.join(', ') } }] : []
  })
}
