// A call's journal as a trace: spans in the JSON form of OpenTelemetry, grouped as portals of this API draw them.
import { traceIdOf } from '../../lib/ids.ts'
import type { WireOf } from '../define/field.ts'
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

/** Events that last: their ends, and the names under which they are shown. */
const lasting: Readonly<
  Record<string, { readonly ends: readonly string[]; readonly name: (event: Event) => string }>
> = {
  'hook-asked': { ends: ['hook-answered', 'hook-failed'], name: ({ hook }) => `hook ${String(hook)}` },
  bridged: { ends: ['unbridged'], name: ({ with: other }) => `bridge ${String(other)}` },
  'room-joined': { ends: ['room-left'], name: ({ room }) => `conference ${String(room)}` },
  'verb-started': { ends: ['verb-ended'], name: ({ verb }) => `verb ${String(verb)}` },
}

/** Events of one moment that become spans of their own. */
const momentary: Readonly<Record<string, (event: Event) => string>> = {
  rang: () => 'rang',
  status: ({ call_status }) => `status ${String(call_status)}`,
  decision: ({ rule }) => `decision ${String(rule)}`,
  dialled: ({ to }) => `dialled ${String(to)}`,
  'dial-ended': ({ to, sip_status }) => `dial ended ${String(to)} ${String(sip_status)}`,
  muted: ({ call_sid }) => `muted ${String(call_sid)}`,
  unmuted: ({ call_sid }) => `unmuted ${String(call_sid)}`,
  whispered: ({ call_sid }) => `whispered to ${String(call_sid)}`,
  held: ({ call_sid }) => `held by ${String(call_sid)}`,
  resumed: ({ call_sid }) => `resumed by ${String(call_sid)}`,
  'hold-sound': ({ call_sid, source }) => `hold sound ${String(source)} for ${String(call_sid)}`,
  'transfer-asked': ({ call_sid }) => `transfer by ${String(call_sid)}`,
  'transfer-refused': ({ call_sid, sip_status }) =>
    `no transfer by ${String(call_sid)} ${String(sip_status)}`,
  queued: ({ queue, position }) => `queued ${String(queue)} ${String(position)}`,
  unqueued: ({ queue, leave_reason }) => `left queue ${String(queue)} ${String(leave_reason)}`,
  'awaits-caller': ({ queue }) => `waits for a caller of ${String(queue)}`,
  'handed-over': ({ caller_sid, agent_sid }) => `${String(caller_sid)} handed over to ${String(agent_sid)}`,
  'room-waiting': ({ room }) => `waits for conference ${String(room)}`,
  'room-muted': () => 'muted in conference',
  'room-unmuted': () => 'unmuted in conference',
  'room-held': () => 'on hold in conference',
  'room-resumed': () => 'resumed in conference',
  digit: ({ digit }) => `digit ${String(digit)}`,
  'siprec-started': ({ server }) => `recorded by ${String(server)}`,
  'siprec-ended': ({ because }) => `recording ended: ${String(because)}`,
  refusal: ({ code }) => `refusal ${String(code)}`,
  problem: ({ code }) => `problem ${String(code)}`,
}

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
    const long = lasting[event.type]
    if (long !== undefined) {
      const end = endOf(event, events.slice(index + 1), long.ends) ?? last
      const kind = event.type === 'hook-asked' ? 'SPAN_KIND_CLIENT' : 'SPAN_KIND_INTERNAL'
      return [span({ name: long.name(event), kind }, event, end, root)]
    }
    const name = momentary[event.type]?.(event)
    return name === undefined ? [] : [span({ name, kind: 'SPAN_KIND_INTERNAL' }, event, event, root)]
  })
  return [call, ...inner]
}

/** Returns the next end of the same hook or verb: a call never runs one twice at the same time. */
function endOf(begin: Event, later: readonly Event[], ends: readonly string[]): Event | undefined {
  return later.find(
    (event) =>
      ends.includes(event.type) && event['hook'] === begin['hook'] && event['verb'] === begin['verb'],
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
